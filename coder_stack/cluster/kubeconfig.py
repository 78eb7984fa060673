"""Find a kubeconfig file, the context to use, and the cluster that the context names.

Nothing else reads kubeconfig files. Credentials are left to the kubernetes library (client.py).
No message quotes the file, because it holds credentials.
"""

import base64
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import yaml
from pydantic import AliasPath, Field

from coder_stack.frozen_model import FrozenModel


class Kubeconfig(FrozenModel):
    """A kubeconfig's path and a context in it; without them, what kubectl would use."""

    kubeconfig: str | None = None
    context: str | None = None


class _Named(Protocol):
    """Settings of a cluster; the provider processes do without the settings' models."""

    @property
    def kubeconfig(self) -> str | None: ...
    @property
    def context(self) -> str | None: ...


def kubeconfig_of(settings: _Named) -> Kubeconfig:
    """Return the kubeconfig and context that the config names."""
    return Kubeconfig(kubeconfig=settings.kubeconfig, context=settings.context)


class KubeconfigError(ValueError):
    """The kubeconfig cannot be used; `setting` is the one to correct."""

    def __init__(self, why: str, setting: Literal["kubeconfig", "context"] = "kubeconfig") -> None:
        super().__init__(why)
        self.setting = setting


class _Cluster(FrozenModel):
    server: str
    ca_file: str | None = Field(default=None, alias="certificate-authority")
    ca_data: str | None = Field(default=None, alias="certificate-authority-data")
    insecure: bool = Field(default=False, alias="insecure-skip-tls-verify")
    server_name: str | None = Field(default=None, alias="tls-server-name")
    proxy: str | None = Field(default=None, alias="proxy-url")


class _NamedCluster(FrozenModel):
    name: str
    cluster: _Cluster


class _NamedContext(FrozenModel):
    name: str
    cluster: str = Field(validation_alias=AliasPath("context", "cluster"))


class _Content(FrozenModel):
    current: str = Field(default="", alias="current-context")
    contexts: tuple[_NamedContext, ...] = ()
    clusters: tuple[_NamedCluster, ...] = ()


@dataclass(frozen=True)
class LoadedKubeconfig:
    """A kubeconfig's content, and the context and cluster that were chosen."""

    path: Path
    content: Mapping[str, Any] = field(repr=False)
    context: str
    cluster: _Cluster

    @property
    def ca_bundle(self) -> str | None:
        """Return the cluster's authorities as PEM text or as an absolute path."""
        if self.cluster.ca_data:
            return base64.b64decode(self.cluster.ca_data).decode()
        if self.cluster.ca_file:
            return str(self.path.absolute().parent / self.cluster.ca_file)
        return None


def kubeconfig_files(which: Kubeconfig, environment: Mapping[str, str]) -> list[Path]:
    """List the files to read, as kubectl finds them; none if a pod's service account serves."""
    if which.kubeconfig is not None:
        return [Path(which.kubeconfig).expanduser()]
    names = environment.get("KUBECONFIG") or "~/.kube/config"
    files = [Path(name).expanduser() for name in names.split(os.pathsep) if name]
    in_pod = which.context is None and "KUBERNETES_SERVICE_HOST" in environment
    return [] if in_pod and not any(file.exists() for file in files) else files


class FoundContext(NamedTuple):
    """The name of a context, and the file that has it."""

    file: Path | None
    """None if no file has both the context and its cluster, or if one cannot be read."""
    name: str | None


def find_context(files: Sequence[Path], context: str | None) -> FoundContext:
    """Find the context, or else the current one, in several files.

    As for kubectl, the first file wins for every name, and for the current context.
    """
    try:
        found = {
            file: _Content.model_validate(yaml.safe_load(file.read_text()))
            for file in files
            if file.exists()
        }
    except (OSError, ValueError, yaml.YAMLError):
        return FoundContext(None, context)
    name = context or next((each.current for each in found.values() if each.current), None)
    contexts = [(file, one) for file, each in found.items() for one in each.contexts]
    file, chosen = next((each for each in contexts if each[1].name == name), (None, None))
    clusters = [(file, one.name) for file, each in found.items() for one in each.clusters]
    home = next((file for file, cluster in clusters if chosen and cluster == chosen.cluster), None)
    return FoundContext(file if file == home else None, name)


def load_kubeconfig(path: Path, wanted: str | None, field: str = "kubernetes") -> LoadedKubeconfig:
    """Read one file and choose the wanted context, or else the current one.

    `field` is the one of the config that names them.
    """
    try:
        content: Any = yaml.safe_load(path.read_text())
        config = _Content.model_validate(content)
    except OSError as error:
        raise KubeconfigError(f"{path} cannot be read ({error.strerror})") from None
    except (ValueError, yaml.YAMLError):
        raise KubeconfigError(f"{path} is not a kubeconfig") from None
    name = wanted or config.current
    context = next((each for each in config.contexts if each.name == name), None)
    if context is None:
        known = ", ".join(each.name for each in config.contexts) or "none"
        if wanted:
            raise KubeconfigError(f"{path} has no context {wanted!r}; it has: {known}", "context")
        why = f"{path} has no current context; set {field}.context to one of: {known}"
        raise KubeconfigError(why)
    cluster = next((each.cluster for each in config.clusters if each.name == context.cluster), None)
    if cluster is None:
        why = f"{path} has no cluster {context.cluster!r}, which context {name!r} names"
        raise KubeconfigError(why)
    return LoadedKubeconfig(path, content, name, cluster)
