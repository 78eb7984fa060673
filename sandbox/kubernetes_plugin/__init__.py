"""A stand-in for the official plugin `pulumi-resource-kubernetes`, where it cannot be had.

It speaks the engine's gRPC protocol and does real work against a real kube-apiserver; wherever the
two could differ it is at least as strict as the official one (4.x). It leaves alone what the
program does not need: Helm, YAML and kustomize components, Patch resources, client-side apply,
rendering to a directory. The official plugin always wins where it can be had.
"""
