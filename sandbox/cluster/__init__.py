"""A Kubernetes control plane on 127.0.0.1: unmodified programs, and a node simulated by KWOK."""

from sandbox.cluster.lifecycle import (
    EXTERNAL,
    ClusterStatus,
    Say,
    down,
    down_with_folder,
    external_kubeconfig,
    status,
    stop_after_process,
    up,
)

__all__ = [
    "EXTERNAL",
    "ClusterStatus",
    "Say",
    "down",
    "down_with_folder",
    "external_kubeconfig",
    "status",
    "stop_after_process",
    "up",
]
