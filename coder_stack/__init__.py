"""Deploys Coder on Kubernetes with Pulumi and keeps it converged.

Nothing is created or read at import time: Pulumi's provider process imports this package too.
"""
