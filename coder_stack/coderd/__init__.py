"""Coderd's HTTP API: client, models, errors, and what is in a license.

Knows nothing of Pulumi or of Kubernetes objects. Only transport.py imports the HTTP library.
"""
