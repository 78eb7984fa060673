"""A whole world on one machine: the tools, a Kubernetes cluster, and what stands in for the rest.

Looks at the program from outside. Nothing in coder_stack knows of it, except the command line,
which mounts its commands by name.
"""
