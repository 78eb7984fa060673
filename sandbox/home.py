"""Where a sandbox keeps its things: one folder, `.sandbox` in the checkout.

Two checkouts never share a sandbox; they only share the cache of tools. Deleting the folder (after
`coder-stack sandbox down`) deletes everything the sandbox ever wrote.
"""

from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Home:
    """The folder of one sandbox, and the names inside it."""

    folder: Path

    @classmethod
    def of_checkout(cls) -> "Home":
        """The one that `make up` uses, and that Pulumi.sandbox.yaml points at."""
        return cls(CHECKOUT / ".sandbox")

    @property
    def kubeconfig(self) -> Path:
        """The only kubeconfig the sandbox uses; a link when it stands on another cluster."""
        return self.folder / "kubeconfig"

    @property
    def cluster(self) -> Path:
        """Certificates, etcd's data, pid files and logs of the cluster's parts."""
        return self.folder / "cluster"

    @property
    def logs(self) -> Path:
        """One log file per part."""
        return self.cluster / "logs"

    @property
    def state(self) -> Path:
        """Pulumi's file backend."""
        return self.folder / "state"

    @property
    def pulumi(self) -> Path:
        """Pulumi's own home, so that the user's login and plugins stay untouched."""
        return self.folder / "pulumi"
