"""Check the cluster before anything is registered: that it answers and has what is needed.

Without these checks a wrong path, a misspelt context, a dead API server, a missing CRD or a missing
Secret would fail the update halfway. What we may do there, the API server decides later.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from coder_stack.cluster.client import request
from coder_stack.cluster.kubeconfig import (
    Kubeconfig,
    KubeconfigError,
    kubeconfig_files,
    load_kubeconfig,
)
from coder_stack.cluster.references import survey
from coder_stack.cluster.upgrade import upgrade_plan
from coder_stack.coderd.errors import CoderdError, InvalidConnection
from coder_stack.coderd.forward_proxy import forward_proxy
from coder_stack.coderd.transport import api_server_transport, why_unreachable
from coder_stack.coderd.upgrade import UpgradePlan
from coder_stack.frozen_model import FrozenModel
from coder_stack.settings import ConfigError, ExposedSettings, KubernetesSettings, Settings


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

    def missing(self, places: Iterable[str]) -> str:
        fields = ", ".join(f"{place}.{self.setting}" for place in places)
        return f"{fields}: the cluster does not serve {self.group}/v1 {self.name}; {self.remedy}"


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
_DATABASE = _Kind(
    setting="database.cloudNativePg",
    group="postgresql.cnpg.io",
    name="Cluster",
    remedy=(
        "install the CloudNativePG operator (Helm chart cloudnative-pg, see docs/database.md), or "
        "use database.secretName"
    ),
)


class _Resource(FrozenModel):
    kind: str


class _Resources(FrozenModel):
    resources: tuple[_Resource, ...]


def check_provides(settings: Settings, namespace_mark: str | None = None) -> UpgradePlan:
    """Raise ConfigError with all that the config counts on and the cluster lacks (F2).

    A downgrade of coderd is such a mistake, too (V2). `namespace_mark` is the mark of a namespace
    that this stack has created; None: any will do.
    """
    found = survey(settings, namespace_mark)
    plan = upgrade_plan(settings, found.images)
    if wrong := [*unserved(settings), *found.missing, *filter(None, [plan.mistake])]:
        raise ConfigError(wrong)
    return plan


def unserved(settings: Settings) -> list[str]:
    """Return a line for every kind that the config asks for and the cluster lacks.

    They are not part of Kubernetes. A cluster that does not answer this question (no rights, a
    proxy) is left to the engine.
    """
    cluster = _kubeconfig(settings.kubernetes)
    return [
        kind.missing(places)
        for kind, places in _asked_for(settings).items()
        if not _may_serve(cluster, kind)
    ]


def _asked_for(settings: Settings) -> dict[_Kind, list[str]]:
    """Return the kinds that the config asks for, each with the parts that do."""
    exposed: dict[str, ExposedSettings] = {"controlPlane": settings.control_plane}
    exposed |= {f"proxies[{index}]": each for index, each in enumerate(settings.proxies)}
    asked = {
        _HTTP_ROUTE: [path for path, part in exposed.items() if part.http_route],
        _SERVICE_MONITOR: [path for path, part in exposed.items() if part.service_monitor],
        _DATABASE: ["controlPlane"] if settings.control_plane.cloud_native_pg else [],
    }
    return {kind: places for kind, places in asked.items() if places}


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
