"""The cluster's command lines, identities and files. lifecycle.py writes and starts them.

The process `pods` (sandbox/pods) simulates what runs in the pods; it is optional.
"""

import json
import sys
from pathlib import Path
from typing import Any

from sandbox.cluster.pki import Pki
from sandbox.cluster.ports import Ports

# In the order of their start. They stop in reverse order.
PARTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
PODS = "pods"
NODE = "sandbox"
CONTEXT = "coder-stack-sandbox"

# Name → user and group. The API server has built-in roles for its own components.
IDENTITIES = {
    "admin": ("sandbox-admin", "system:masters"),
    "kube-controller-manager": ("system:kube-controller-manager", ""),
    "kube-scheduler": ("system:kube-scheduler", ""),
    # KWOK acts as the kubelet of every node, which no built-in role allows.
    "kwok": ("sandbox-kwok", "system:masters"),
    # Reads Secrets and starts programs as the kubelet does.
    PODS: ("sandbox-pods", "system:masters"),
}


class Layout:
    """One cluster: its folder, its ports, and the programs to run."""

    def __init__(
        self, folder: Path, ports: Ports, programs: dict[str, Path], home: Path | None = None
    ) -> None:
        self.folder = folder
        # Folder of the cluster that coderd runs in, if it is not this one.
        self.home = home
        self.ports = ports
        self.programs = programs
        self.pki = Pki(folder / "pki")
        self.tokens = folder / "tokens.csv"
        self.data = folder / "etcd"
        # Exists once the cluster has been ready with this data.
        self.ready_marker = folder / "was-whole"
        self.egress = folder / "egress.json"
        self.server = f"https://127.0.0.1:{ports.api}"

    def kubeconfig_of(self, identity: str) -> Path:
        """Return the path of an identity's kubeconfig."""
        return _kubeconfig(self.folder, identity)

    def kubeconfig(self, token: str) -> str:
        """Return a kubeconfig with that token. It is JSON, which is valid YAML."""
        return json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": CONTEXT,
                "contexts": [
                    {"name": CONTEXT, "context": {"cluster": CONTEXT, "user": CONTEXT}},
                ],
                "clusters": [
                    {
                        "name": CONTEXT,
                        "cluster": {
                            "server": self.server,
                            "certificate-authority": str(self.pki.ca),
                        },
                    }
                ],
                "users": [{"name": CONTEXT, "user": {"token": token}}],
            },
            indent=2,
        )

    def egress_selection(self) -> str:
        """Send the API server's requests to pods and services through the simulated network."""
        tls = {
            "caBundle": str(self.pki.ca),
            "clientCert": str(self.pki.server_cert),
            "clientKey": str(self.pki.server_key),
        }
        tcp = {"url": f"https://127.0.0.1:{self.ports.network}", "tlsConfig": tls}
        connection = {"proxyProtocol": "HTTPConnect", "transport": {"tcp": tcp}}
        return json.dumps(
            {
                "apiVersion": "apiserver.k8s.io/v1beta1",
                "kind": "EgressSelectorConfiguration",
                "egressSelections": [{"name": "cluster", "connection": connection}],
            }
        )

    def command(self, part: str) -> list[str]:
        """Return the command line of a process."""
        if part == PODS:
            return [sys.executable, "-m", "sandbox.pods", *_flags(self._pods())]
        flags = {
            "etcd": self._etcd,
            "kube-apiserver": self._apiserver,
            "kube-controller-manager": self._controller_manager,
            "kube-scheduler": self._scheduler,
            "kwok": self._kwok,
        }[part]()
        return [str(self.programs[part]), *_flags(flags)]

    def _etcd(self) -> dict[str, str]:
        client = f"https://127.0.0.1:{self.ports.etcd}"
        peer = f"https://127.0.0.1:{self.ports.etcd_peer}"
        return {
            "name": NODE,
            "data-dir": str(self.data),
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"{NODE}={peer}",
            "cert-file": str(self.pki.server_cert),
            "key-file": str(self.pki.server_key),
            "trusted-ca-file": str(self.pki.ca),
            "client-cert-auth": "true",
            "peer-cert-file": str(self.pki.server_cert),
            "peer-key-file": str(self.pki.server_key),
            "peer-trusted-ca-file": str(self.pki.ca),
            "peer-client-cert-auth": "true",
            "log-level": "warn",
            # Faster; only a power failure can lose data.
            "unsafe-no-fsync": "true",
        }

    def _apiserver(self) -> dict[str, str]:
        network = {"egress-selector-config-file": str(self.egress)} if self.ports.with_pods else {}
        return network | {
            "etcd-servers": f"https://127.0.0.1:{self.ports.etcd}",
            "etcd-cafile": str(self.pki.ca),
            "etcd-certfile": str(self.pki.server_cert),
            "etcd-keyfile": str(self.pki.server_key),
            "bind-address": "127.0.0.1",
            "secure-port": str(self.ports.api),
            # Without these two it requires a routable interface, which a closed machine lacks.
            "advertise-address": "127.0.0.1",
            "endpoint-reconciler-type": "none",
            "tls-cert-file": str(self.pki.server_cert),
            "tls-private-key-file": str(self.pki.server_key),
            "token-auth-file": str(self.tokens),
            "authorization-mode": "RBAC",
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": str(self.pki.token_key),
            "service-account-signing-key-file": str(self.pki.token_key),
            "service-cluster-ip-range": "10.96.0.0/16",
            "profiling": "false",
        }

    def _controller_manager(self) -> dict[str, str]:
        return {
            "kubeconfig": str(self.kubeconfig_of("kube-controller-manager")),
            "service-account-private-key-file": str(self.pki.token_key),
            "root-ca-file": str(self.pki.ca),
            # The node is silent while the cluster is stopped or loses its API server. Its pods
            # would be marked as not ready, which a kubelet mends and KWOK does not.
            "node-monitor-grace-period": "24h",
            "use-service-account-credentials": "true",
            "leader-elect": "false",
            "secure-port": "0",
        }

    def _scheduler(self) -> dict[str, str]:
        return {
            "kubeconfig": str(self.kubeconfig_of("kube-scheduler")),
            "leader-elect": "false",
            "secure-port": "0",
        }

    def _kwok(self) -> dict[str, str]:
        return {
            "kubeconfig": str(self.kubeconfig_of("kwok")),
            "config": str(self.programs["kwok"].parent / "stages.yaml"),
            "manage-all-nodes": "true",
            "server-address": f"127.0.0.1:{self.ports.kwok}",
        }

    def _pods(self) -> dict[str, str]:
        return {
            "kubeconfig": str(self.kubeconfig_of(PODS)),
            "pki": str(self.pki.folder),
            "network-port": str(self.ports.network),
            "coderd-port": str(self.ports.coderd),
        } | (
            {"home": str(_kubeconfig(self.home, PODS))}
            if self.home
            else {"state": str(self.folder / "coderd.json")}
        )


def _kubeconfig(folder: Path, identity: str) -> Path:
    return folder / "kubeconfigs" / identity


def _flags(flags: dict[str, str]) -> list[str]:
    return [f"--{name}={value}" for name, value in flags.items()]


def node() -> dict[str, Any]:
    """Return the only node, large enough for all tests; KWOK keeps it ready."""
    capacity = {"cpu": "1000", "memory": "4Ti", "pods": "1000"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": NODE,
            "labels": {"kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux"},
            "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
        },
        "status": {"allocatable": capacity, "capacity": capacity},
    }
