"""Check the cluster before anything is registered: that it answers, and serves all kinds.

Without these checks a wrong path, a misspelt context, a dead API server or a missing CRD would
fail the update halfway. Any answer will do: what we may do there, the API server decides later.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from coder_stack.cluster.client import request
from coder_stack.cluster.kubeconfig import (
    Kubeconfig,
    KubeconfigError,
    kubeconfig_files,
    load_kubeconfig,
)
from coder_stack.coderd.errors import CoderdError, InvalidConnection
from coder_stack.coderd.forward_proxy import forward_proxy
from coder_stack.coderd.transport import api_server_transport, why_unreachable
from coder_stack.frozen_model import FrozenModel
from coder_stack.settings import ConfigError, KubernetesSettings, Settings


def check_answers(settings: KubernetesSettings, environment: Mapping[str, str]) -> None:
    """Raise ConfigError, naming the field, unless the configured cluster answers.

    Does without the kubernetes library, which would slow down every preview.
    """
    files = kubeconfig_files(_kubeconfig(settings), environment)
    if len(files) != 1:
        return  # a pod's service account, or files to merge by kubectl's rules: left to the engine
    (file,) = files
    try:
        found = load_kubeconfig(file, settings.context)
    except KubeconfigError as error:
        raise ConfigError([f"kubernetes.{error.setting}: {error}"]) from None
    cluster = found.cluster
    try:
        transport = api_server_transport(
            ca_file=found.ca_bundle,
            server_name=cluster.server_name,
            proxy=forward_proxy(cluster.server, cluster.proxy, environment),
        )
    except (InvalidConnection, ValueError) as error:
        raise ConfigError([f"kubernetes.kubeconfig: {file} cannot be used ({error})"]) from None
    url = f"{cluster.server.rstrip('/')}/version"
    if why := why_unreachable(url, transport, verify=not cluster.insecure):
        problem = f"the API server {cluster.server} of {file} does not answer ({why})"
        raise ConfigError([f"kubernetes.kubeconfig: {problem}"])


@dataclass(frozen=True)
class _Kind:
    setting: str
    group: str
    name: str
    remedy: str

    @property
    def missing(self) -> str:
        return (
            f"controlPlane.{self.setting}: the cluster does not serve "
            f"{self.group}/v1 {self.name}; {self.remedy}"
        )


_HTTP_ROUTE = _Kind(
    setting="httpRoute",
    group="gateway.networking.k8s.io",
    name="HTTPRoute",
    remedy="install the Gateway API's CRDs, or use ingress",
)
_SERVICE_MONITOR = _Kind(
    setting="serviceMonitor",
    group="monitoring.coreos.com",
    name="ServiceMonitor",
    remedy="install the Prometheus Operator's CRDs, or leave serviceMonitor out",
)


class _Resource(FrozenModel):
    kind: str


class _Resources(FrozenModel):
    resources: tuple[_Resource, ...]


def check_serves(settings: Settings) -> None:
    """Raise ConfigError with every kind that the config asks for and the cluster lacks.

    HTTPRoute and ServiceMonitor are not part of Kubernetes. A cluster that does not answer this
    question (no rights, a proxy) is left to the engine.
    """
    plane = settings.control_plane
    kinds = [_HTTP_ROUTE] if plane.http_route else []
    kinds += [_SERVICE_MONITOR] if plane.service_monitor else []
    cluster = _kubeconfig(settings.kubernetes)
    missing = [kind.missing for kind in kinds if not _may_serve(cluster, kind)]
    if missing:
        raise ConfigError(missing)


def _may_serve(cluster: Kubeconfig, kind: _Kind) -> bool:
    path = ("apis", kind.group, "v1")
    try:
        status, body = request(cluster, Kubeconfig(), f"look for {kind.name}", path)
        found = _Resources.model_validate_json(body) if status == 200 else None
    except (CoderdError, ValidationError):
        return True
    if found is None:
        return status != 404
    return any(each.kind == kind.name for each in found.resources)


def _kubeconfig(settings: KubernetesSettings) -> Kubeconfig:
    return Kubeconfig(kubeconfig=settings.kubeconfig, context=settings.context)
