"""A real Kubernetes control plane on 127.0.0.1, with pods played by KWOK.

etcd, kube-apiserver, kube-controller-manager and kube-scheduler are the unmodified programs; only
the node and its pods are not real.
"""

from sandbox.cluster.lifecycle import (
    EXTERNAL,
    Status,
    down,
    end_with,
    external_kubeconfig,
    status,
    up,
)

__all__ = ["EXTERNAL", "Status", "down", "end_with", "external_kubeconfig", "status", "up"]
