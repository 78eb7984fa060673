"""A local environment for the program: tools, a Kubernetes cluster, a simulated coderd.

coder_stack does not import it; the command line mounts its commands by name.
"""
