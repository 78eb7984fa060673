"""Is there a cluster at the other end? Asked once, before the program registers anything.

Without this, a wrong path, a misspelt context or a dead API server would surface half-way, once per
object. It proves that something answers; whether we may do anything there, the API server decides.
It takes the same way as the providers: `proxy-url`, `tls-server-name`, the environment's proxy.
"""

import base64
import http.client
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from coder_stack.coderd import InvalidConnection, forward_proxy, proxy_login, tls_context
from coder_stack.settings import ConfigError, KubernetesSettings

_TIMEOUT = 5.0
_FIELD = "kubernetes.kubeconfig"


class _Lax(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Cluster(_Lax):
    server: str
    ca_file: str | None = Field(default=None, alias="certificate-authority")
    ca_data: str | None = Field(default=None, alias="certificate-authority-data")
    insecure: bool = Field(default=False, alias="insecure-skip-tls-verify")
    server_name: str | None = Field(default=None, alias="tls-server-name")
    proxy: str | None = Field(default=None, alias="proxy-url")


class _NamedCluster(_Lax):
    name: str
    cluster: _Cluster


class _Context(_Lax):
    cluster: str


class _NamedContext(_Lax):
    name: str
    context: _Context


class _Kubeconfig(_Lax):
    current: str = Field(default="", alias="current-context")
    contexts: list[_NamedContext] = []
    clusters: list[_NamedCluster] = []


def check_answers(settings: KubernetesSettings, environment: Mapping[str, str]) -> None:
    """Raise ConfigError, naming the field, unless the configured cluster answers."""
    if settings.kubeconfig is None:
        named = environment.get("KUBECONFIG")
        if named and os.pathsep in named:
            return  # several files are merged by rules of kubectl's own: left to the provider
        path = Path(named) if named else Path("~/.kube/config").expanduser()
        if not path.exists() and "KUBERNETES_SERVICE_HOST" in environment:
            return  # inside a pod the service account serves
    else:
        path = Path(settings.kubeconfig).expanduser()
    cluster = _find(path, settings.context)
    try:
        proxy = forward_proxy(cluster.server, cluster.proxy, environment)
    except InvalidConnection as error:
        raise _problem(f"{path} cannot be used ({error})") from None
    tunnel = cluster.server.startswith("https://") and (proxy or "").startswith("http://")
    if proxy is None or tunnel:
        _ask(cluster, path, proxy)  # other proxies are left to the provider


def _find(path: Path, wanted: str | None) -> _Cluster:
    try:
        raw: Any = yaml.safe_load(path.read_text())
        config = _Kubeconfig.model_validate(raw)
    except OSError as error:
        raise _problem(f"{path} cannot be read ({error.strerror})") from None
    except (yaml.YAMLError, ValidationError):
        # Neither error is shown: both quote the file, and the file holds credentials.
        raise _problem(f"{path} is not a kubeconfig") from None
    name = wanted or config.current
    context = next((c.context for c in config.contexts if c.name == name), None)
    if context is None:
        known = ", ".join(c.name for c in config.contexts) or "none"
        if wanted:
            message = f"kubernetes.context: {path} has no context {wanted!r}; it has: {known}"
            raise ConfigError([message])
        raise _problem(f"{path} has no current context; set kubernetes.context to one of: {known}")
    cluster = next((c.cluster for c in config.clusters if c.name == context.cluster), None)
    if cluster is None:
        raise _problem(f"{path} has no cluster {context.cluster!r}, which context {name!r} names")
    return cluster


def _ask(cluster: _Cluster, path: Path, proxy: str | None) -> None:
    address = urlsplit(cluster.server)
    try:
        connection = _connect(cluster, path, proxy)
        connection.request("GET", f"{address.path.rstrip('/')}/version")
        # Any answer will do, also 401 and 403: credentials are the provider's business.
        connection.getresponse().close()
        connection.close()
    except (OSError, ValueError, http.client.HTTPException, InvalidConnection) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise _problem(
            f"the API server {cluster.server} of {path} does not answer ({why})"
        ) from None


def _connect(cluster: _Cluster, path: Path, proxy: str | None) -> http.client.HTTPConnection:
    server, first = urlsplit(cluster.server), urlsplit(proxy or cluster.server)
    host, port = first.hostname or "", first.port or (80 if proxy else None)
    if server.scheme == "https":
        tls = _tls(cluster, path)
        connection = http.client.HTTPSConnection(host, port, timeout=_TIMEOUT, context=tls)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT)
    if proxy is not None:
        headers: dict[str, str] = {}
        if login := proxy_login(proxy):
            basic = base64.b64encode(login.encode()).decode()
            headers["Proxy-Authorization"] = f"Basic {basic}"
        connection.set_tunnel(server.hostname or "", server.port, headers)
    return connection


def _tls(cluster: _Cluster, path: Path) -> ssl.SSLContext:
    if cluster.insecure:
        return ssl._create_unverified_context()  # noqa: S323, SLF001  # pyright: ignore[reportPrivateUsage]
    bundle = None
    if cluster.ca_data:
        bundle = base64.b64decode(cluster.ca_data).decode()
    elif cluster.ca_file:
        bundle = str(path.resolve().parent / cluster.ca_file)
    return tls_context(bundle, cluster.server_name)


def _problem(text: str) -> ConfigError:
    return ConfigError([f"{_FIELD}: {text}"])
