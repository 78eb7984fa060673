"""The files of one sandbox: everything is in `.sandbox` in the checkout, except the tools.

Two checkouts share only the cache of tools. After `coder-stack sandbox down` the folder can be
deleted.
"""

from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
SECOND = "sydney"
"""Name of the second cluster, as in Pulumi.sandbox.yaml."""


class SandboxPaths:
    """The folder of one sandbox and the paths in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # The sandbox reads no other kubeconfig. It is a symlink if the cluster is not our own.
        self.kubeconfig = folder / "kubeconfig"
        # Certificates, etcd's data, pid files and logs.
        self.cluster = folder / "cluster"
        self.logs = self.cluster / "logs"
        # Pulumi's file backend, and PULUMI_HOME: the user's login and plugins stay untouched.
        self.state = folder / "state"
        self.pulumi = folder / "pulumi"
        # Exists from a change of the number of clusters until the stack has followed it.
        self.moving = folder / "moving"

    @property
    def second(self) -> "SandboxPaths":
        """Return the files of the second cluster; it has no state of its own."""
        return SandboxPaths(self.folder / SECOND)

    @classmethod
    def of_checkout(cls) -> "SandboxPaths":
        """Return the sandbox of `make up`, which Pulumi.sandbox.yaml refers to."""
        return cls(CHECKOUT / ".sandbox")
