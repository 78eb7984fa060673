"""Does the cluster know the kinds that the config asks for? Asked before anything is registered.

HTTPRoute and ServiceMonitor are not part of Kubernetes: whoever runs the cluster installs them.
Without this, their absence would surface half-way, when the rest is already there. A cluster that
does not let itself be asked (no rights, a proxy) is left to the engine.
"""

from dataclasses import dataclass
from typing import Any

from coder_stack.cluster.client import Kubeconfig, api_settings
from coder_stack.coderd import InvalidConnection
from coder_stack.settings import ConfigError, KubernetesSettings, Settings

__all__ = ["check_serves"]

_TIMEOUT = 5.0
_NOT_FOUND = 404


@dataclass(frozen=True)
class _Kind:
    field: str
    group: str
    version: str
    name: str
    remedy: str

    @property
    def missing(self) -> str:
        return (
            f"controlPlane.{self.field}: the cluster does not serve "
            f"{self.group}/{self.version} {self.name}; {self.remedy}"
        )


_HTTP_ROUTE = _Kind(
    field="httpRoute",
    group="gateway.networking.k8s.io",
    version="v1",
    name="HTTPRoute",
    remedy="install the Gateway API's CRDs, or use ingress",
)
_SERVICE_MONITOR = _Kind(
    field="serviceMonitor",
    group="monitoring.coreos.com",
    version="v1",
    name="ServiceMonitor",
    remedy="install the Prometheus Operator's CRDs, or leave serviceMonitor out",
)


def check_serves(settings: Settings) -> None:
    """Raise ConfigError with every kind that is asked for and not served."""
    plane = settings.control_plane
    kinds = [_HTTP_ROUTE] if plane.http_route else []
    kinds += [_SERVICE_MONITOR] if plane.service_monitor else []
    if not kinds:
        return
    missing = [kind.missing for kind in _not_served(settings.kubernetes, kinds)]
    if missing:
        raise ConfigError(missing)


def _not_served(where: KubernetesSettings, kinds: list[_Kind]) -> list[_Kind]:
    from kubernetes import client  # noqa: PLC0415  # slow, and rarely needed

    try:
        configuration = api_settings(
            Kubeconfig(kubeconfig=where.kubeconfig, context=where.context), Kubeconfig()
        )
    except InvalidConnection:
        return []
    configuration.retries = 0
    with client.ApiClient(configuration) as connection:
        return [kind for kind in kinds if _is_missing(kind, client, connection)]


def _is_missing(kind: _Kind, library: Any, connection: Any) -> bool:
    """Only on a definite answer: the group is not there, or lacks the kind."""
    apis = library.CustomObjectsApi(connection)
    try:
        found = apis.get_api_resources(kind.group, kind.version, _request_timeout=_TIMEOUT)
    except library.ApiException as refusal:
        return refusal.status == _NOT_FOUND
    except Exception:  # noqa: BLE001  # whatever keeps us from asking, the engine says it better
        return False
    return all(each.kind != kind.name for each in found.resources)
