"""What the cluster consists of: pure descriptions of the commands, identities and files.

The part `pods` is what runs inside the pods (sandbox/pods); a cluster may be had without it.

Decides nothing at run time and touches nothing; lifecycle.py does that.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.cluster.pki import Pki
from sandbox.cluster.ports import Ports

# In the order they start. They are stopped the other way round.
PARTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
PODS = "pods"
NODE = "sandbox"
CONTEXT = "coder-stack-sandbox"

# Token → identity. The API server grants its own parts their rights by these user names.
IDENTITIES = {
    "admin": ("sandbox-admin", "system:masters"),
    "kube-controller-manager": ("system:kube-controller-manager", ""),
    "kube-scheduler": ("system:kube-scheduler", ""),
    # KWOK plays the kubelet of every node, which no built-in role allows.
    "kwok": ("sandbox-kwok", "system:masters"),
    # Plays the other half of the kubelet: reads Secrets, starts programs.
    PODS: ("sandbox-pods", "system:masters"),
}


@dataclass(frozen=True)
class Layout:
    """One cluster: its folder, its ports, and the programs to run."""

    folder: Path
    ports: Ports
    programs: dict[str, Path]

    @property
    def pki(self) -> Pki:
        """Its keys and certificates."""
        return Pki(self.folder / "pki")

    @property
    def tokens(self) -> Path:
        """The API server's list of who is who."""
        return self.folder / "tokens.csv"

    @property
    def data(self) -> Path:
        """Etcd's."""
        return self.folder / "etcd"

    @property
    def was_whole(self) -> Path:
        """There once the cluster has come up on these data."""
        return self.folder / "was-whole"

    @property
    def egress(self) -> Path:
        """What tells the API server the way into the pod network."""
        return self.folder / "egress.json"

    @property
    def server(self) -> str:
        """The API server's address."""
        return f"https://127.0.0.1:{self.ports.api}"

    def kubeconfig_of(self, identity: str) -> Path:
        """Where a part finds its kubeconfig."""
        return self.folder / "kubeconfigs" / identity

    def kubeconfig(self, token: str) -> str:
        """A self-contained kubeconfig (JSON is YAML) for whoever holds the token."""
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
        """Everything that the API server sends to pods and services goes through the network."""
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
        """The command line of a part."""
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
            # Only a power cut could lose data; for a sandbox, speed matters more.
            "unsafe-no-fsync": "true",
        }

    def _apiserver(self) -> dict[str, str]:
        network = {"egress-selector-config-file": str(self.egress)} if self.ports.played else {}
        return network | {
            "etcd-servers": f"https://127.0.0.1:{self.ports.etcd}",
            "etcd-cafile": str(self.pki.ca),
            "etcd-certfile": str(self.pki.server_cert),
            "etcd-keyfile": str(self.pki.server_key),
            "bind-address": "127.0.0.1",
            "secure-port": str(self.ports.api),
            # Without these two it looks for a routable interface, which a closed machine lacks.
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
            # All other defaults are what production has.
            "profiling": "false",
        }

    def _controller_manager(self) -> dict[str, str]:
        return {
            "kubeconfig": str(self.kubeconfig_of("kube-controller-manager")),
            "service-account-private-key-file": str(self.pki.token_key),
            "root-ca-file": str(self.pki.ca),
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
            "state": str(self.folder / "coderd.json"),
        }


def _flags(flags: dict[str, str]) -> list[str]:
    return [f"--{name}={value}" for name, value in flags.items()]


def node() -> dict[str, Any]:
    """The one node, roomy enough for any test; KWOK keeps it ready."""
    room = {"cpu": "64", "memory": "256Gi", "pods": "1000"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": NODE,
            "labels": {"kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux"},
            "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
        },
        "status": {"allocatable": room, "capacity": room},
    }
