"""Read the provider's options `kubeconfig`, `context` and `cluster`.

`kubeconfig` is a path or the content; without it, `$KUBECONFIG` and `~/.kube/config` are used as by
kubectl. The `kubernetes` package, which reads the credentials, is imported on first use because
that takes a quarter of a second.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.kubernetes_plugin.errors import Unreachable
from sandbox.kubernetes_plugin.values import Object, as_list, as_object, as_text, dig, from_json


@dataclass(frozen=True)
class ProviderKubeconfig:
    """A parsed kubeconfig, and the folder that its relative paths refer to."""

    content: Object
    folder: str

    def context_name(self, context: str) -> str:
        """Return the name of the given context, else of the current one."""
        return context or as_text(self.content.get("current-context"))

    def context(self, context: str) -> Object:
        """Return the context's cluster, user and namespace."""
        return _named(self.content, "contexts", self.context_name(context), "context")

    def cluster(self, context: str, cluster: str) -> Object:
        """Return the entry of the given cluster, else of the context's; empty if there is none."""
        wanted = cluster or as_text(self.context(context).get("cluster"))
        return _named(self.content, "clusters", wanted, "cluster")


def _named(content: Object, section: str, name: str, part: str) -> Object:
    for entry in as_list(content.get(section)):
        if dig(entry, "name") == name:
            return as_object(dig(entry, part))
    return {}


def load(option: str) -> ProviderKubeconfig:
    """Read the option, or the default files if it is empty."""
    if not option:
        return _default()
    path = Path(option).expanduser() if len(option) < 4096 and "\n" not in option else None
    try:
        is_file = path is not None and path.is_file()
    except OSError:  # too long for a file name: contents on one line
        is_file = False
    if path is not None and is_file:
        return ProviderKubeconfig(
            _parse(path.read_text(), f'kubeconfig "{path}"'), str(path.parent)
        )
    content = _parse(option, "the provider option `kubeconfig`")
    if not content:
        raise Unreachable(f'kubeconfig "{option[:200]}" is neither a file nor a kubeconfig')
    return ProviderKubeconfig(content, str(Path.cwd()))


def _default() -> ProviderKubeconfig:
    listed = os.environ.get("KUBECONFIG") or str(Path("~/.kube/config").expanduser())
    paths = [Path(part).expanduser() for part in listed.split(os.pathsep) if part]
    found = [path for path in paths if path.is_file()]
    if not found:
        raise Unreachable(
            f"no kubeconfig at {listed}; set the provider option `kubeconfig` or $KUBECONFIG"
        )
    merged: Object = {}
    for path in found:
        content = _parse(path.read_text(), f'kubeconfig "{path}"')
        for key, value in content.items():
            present = merged.get(key)
            if isinstance(present, list) and isinstance(value, list):
                merged[key] = [*present, *value]
            elif not present:
                merged[key] = value
    return ProviderKubeconfig(merged, str(found[0].parent))


def _parse(text: str, source: str) -> Object:
    import yaml  # noqa: PLC0415 - only where a kubeconfig is read

    try:
        return from_json(yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise Unreachable(f"{source} is not valid YAML") from error


def client_configuration(kubeconfig: ProviderKubeconfig, context: str, cluster: str) -> Any:
    """Return the configuration of the `kubernetes` package."""
    from kubernetes.client.configuration import Configuration  # noqa: PLC0415 - slow, see above
    from kubernetes.config.config_exception import ConfigException  # noqa: PLC0415
    from kubernetes.config.kube_config import KubeConfigLoader  # noqa: PLC0415

    name = kubeconfig.context_name(context)
    if not kubeconfig.context(context):
        raise Unreachable(f'the kubeconfig has no context "{name}"')
    content: Any = kubeconfig.content
    if cluster:
        content = {
            **content,
            "contexts": [
                {"name": name, "context": {**kubeconfig.context(context), "cluster": cluster}}
            ],
        }
    configuration: Any = Configuration()
    try:
        loader: Any = KubeConfigLoader(
            config_dict=content, active_context=name, config_base_path=kubeconfig.folder
        )
        loader.load_and_set(configuration)
    except ConfigException as error:
        raise Unreachable(f"the kubeconfig cannot be used: {error}") from error
    return configuration
