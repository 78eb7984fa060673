"""A whole world on one machine: the tools, a Kubernetes cluster, and what stands in for the rest.

Looks at the program from outside; nothing in coder_stack knows of it except the command line, which mounts it.
"""
