"""A stand-in for the official plugin `pulumi-resource-kubernetes`, for machines that cannot get it.

It implements the engine's gRPC protocol against a real API server, and is at least as strict as the
official plugin (4.x). It lacks Helm, YAML and kustomize components, Patch resources, client-side
apply and rendering to a directory.
"""
