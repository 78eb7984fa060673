"""The environment of Pulumi in the sandbox: programs, state, plugins.

It uses nothing of the user's login, plugins or kubeconfig. The passphrase is not a secret: it
protects only the state of the sandbox.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.paths import SandboxPaths
from sandbox.toolchain import ENGINE, Installed, PluginChoice, ensure, kubernetes_plugin

STACK = "sandbox"
_PASSPHRASE = "sandbox"  # noqa: S105  # see the docstring
# Variables of the user's shell that must not reach the sandbox.
_FOREIGN = ("KUBECONFIG", "PULUMI_ACCESS_TOKEN", "PULUMI_STACK", "PULUMI_CONFIG_PASSPHRASE_FILE")


def for_people(paths: SandboxPaths) -> dict[str, str]:
    """Return further variables for interactive use of kubectl and pulumi."""
    return {"KUBECONFIG": str(paths.kubeconfig), "PULUMI_STACK": STACK}


@dataclass(frozen=True)
class Engine:
    """The Pulumi CLI with its language host, the kubernetes plugin, and kubectl."""

    pulumi: Installed
    plugin: PluginChoice
    kubectl: Installed

    @classmethod
    def ready(cls) -> "Engine":
        """Return the installed tools; install what is missing."""
        tools = ensure((*ENGINE, "kubectl"))
        return cls(tools["pulumi"], kubernetes_plugin(tools["pulumi"]), tools["kubectl"])

    def path(self, before: str) -> str:
        """Return PATH: the virtual environment for the language host, our tools, then `before`."""
        python = Path(sys.executable).parent
        tools = (self.pulumi.path.parent, self.plugin.bin_dir, self.kubectl.path.parent)
        return os.pathsep.join([*map(str, (python, *tools)), before])

    def variables(self, paths: SandboxPaths, path_before: str) -> dict[str, str]:
        """Return the variables to set."""
        return {
            "PATH": self.path(path_before),
            "PULUMI_HOME": str(paths.pulumi),
            "PULUMI_BACKEND_URL": paths.state.as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": _PASSPHRASE,
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            # Plugins are on PATH; searching for them takes seconds on a closed machine.
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            # An Output formatted into a string is a bug: fail, do not deploy the warning text.
            "PULUMI_ERROR_OUTPUT_STRING": "true",
        }

    def environment(
        self, paths: SandboxPaths, base: Mapping[str, str] = os.environ
    ) -> dict[str, str]:
        """Return the environment for a child process."""
        kept = {name: value for name, value in base.items() if name not in _FOREIGN}
        return {**kept, **self.variables(paths, base.get("PATH", os.defpath))}
