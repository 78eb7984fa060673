"""The environment in which Pulumi runs in a sandbox: which programs, which state, whose cluster.

Hermetic: its own home and backend, and nothing of the user's login, plugins or kubeconfig. The
passphrase is no secret. It protects nothing but throw-away values in a throw-away state, and it is
used nowhere else: a real stack brings its own.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.home import Home
from sandbox.toolchain import ENGINE, Installed, PluginChoice, ensure, kubernetes_plugin

STACK = "sandbox"
_PASSPHRASE = "sandbox"  # noqa: S105  # see the docstring
# What the user's shell may hold and the sandbox must not see.
_FOREIGN = ("KUBECONFIG", "PULUMI_ACCESS_TOKEN", "PULUMI_STACK", "PULUMI_CONFIG_PASSPHRASE_FILE")


def for_people(home: Home) -> dict[str, str]:
    """What a person's own commands need besides: kubectl's cluster and Pulumi's stack."""
    return {"KUBECONFIG": str(home.kubeconfig), "PULUMI_STACK": STACK}


@dataclass(frozen=True)
class Engine:
    """The Pulumi CLI with its language host, the kubernetes plugin, and kubectl to look with."""

    pulumi: Installed
    plugin: PluginChoice
    kubectl: Installed

    @classmethod
    def ready(cls) -> "Engine":
        """Install what is missing."""
        tools = ensure((*ENGINE, "kubectl"))
        return cls(tools["pulumi"], kubernetes_plugin(tools["pulumi"]), tools["kubectl"])

    def path(self, before: str) -> str:
        """PATH with the venv first (the language host takes its Python from there), then ours."""
        python = Path(sys.executable).parent
        tools = (self.pulumi.path.parent, self.plugin.bin_dir, self.kubectl.path.parent)
        return os.pathsep.join([*map(str, (python, *tools)), before])

    def variables(self, home: Home, path_before: str) -> dict[str, str]:
        """What to set, and only that."""
        return {
            "PATH": self.path(path_before),
            "PULUMI_HOME": str(home.pulumi),
            "PULUMI_BACKEND_URL": home.state.as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": _PASSPHRASE,
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            # Plugins are on PATH; looking for them elsewhere costs seconds on a closed machine.
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            # An Output formatted into a string is a bug: fail, do not deploy the warning text.
            "PULUMI_ERROR_OUTPUT_STRING": "true",
        }

    def environment(self, home: Home, base: Mapping[str, str] = os.environ) -> dict[str, str]:
        """A whole environment for a child process."""
        kept = {name: value for name, value in base.items() if name not in _FOREIGN}
        return {**kept, **self.variables(home, base.get("PATH", os.defpath))}
