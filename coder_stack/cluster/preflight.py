"""Check the cluster before anything is registered: that it answers and has what is needed.

Without these checks a wrong path, a misspelt context, a dead API server, a missing CRD or a missing
Secret would fail the update halfway. What we may do there, the API server decides later.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from coder_stack.cluster.client import request
from coder_stack.cluster.kubeconfig import (
    Kubeconfig,
    KubeconfigError,
    LoadedKubeconfig,
    find_context,
    kubeconfig_files,
    kubeconfig_of,
    load_kubeconfig,
)
from coder_stack.cluster.references import Marks, survey
from coder_stack.cluster.upgrade import upgrade_plan
from coder_stack.coderd.errors import CoderdError, InvalidConnection
from coder_stack.coderd.forward_proxy import forward_proxy
from coder_stack.coderd.transport import api_server_transport, why_unreachable
from coder_stack.coderd.upgrade import UpgradePlan
from coder_stack.frozen_model import FrozenModel
from coder_stack.left_out import VARIABLE, command
from coder_stack.settings import ConfigError, ExposedSettings, KubernetesSettings, Settings


def check_answers(
    settings: Settings, environment: Mapping[str, str], without: Collection[str] = ()
) -> None:
    """Raise ConfigError, naming the fields, unless every cluster of the config answers.

    `without` are names of clusters to leave out. Does without the kubernetes library, which would
    slow down every preview.
    """
    problems: list[str] = []
    if unknown := sorted(set(without) - settings.clusters.keys()):
        known = ", ".join(settings.clusters) or "none"
        raise ConfigError([f"{VARIABLE}: clusters has no {unknown[0]}; it has: {known}"])
    first: dict[str, str] = {}
    for name in settings.clusters_in_use:
        field = "kubernetes" if name is None else f"clusters.{name}"
        try:
            problems += _faults(settings, name, field, environment, without, first)
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)


def _faults(
    settings: Settings,
    name: str | None,
    field: str,
    environment: Mapping[str, str],
    without: Collection[str],
    first: dict[str, str],
) -> Iterator[str]:
    """Return what is wrong with one cluster; `first` has the fields of those before by server."""
    found = find_cluster(settings.cluster(name), environment, field)
    if found is None:
        return
    earlier = first.setdefault(found.cluster.server, field)
    if earlier != field:
        what = f"{found.cluster.server}, the API server of {earlier}; set another context"
        yield f"{field}.context: leads to {what}"
    elif name not in without and (why := why_silent(found, environment, field)):
        way_out = f"; to go on without it: {command([*without, name])}" if name else ""
        yield f"{field}.kubeconfig: {why}{way_out}"


def find_cluster(
    settings: KubernetesSettings, environment: Mapping[str, str], field: str
) -> LoadedKubeconfig | None:
    """Return the cluster that the config names; raise ConfigError with the field to correct.

    None for a pod's service account, and for a context in pieces in several files, which kubectl
    would merge: both are left to the engine.
    """
    files = kubeconfig_files(kubeconfig_of(settings), environment)
    match files:
        case [file]:
            context = settings.context
        case several:
            file, context = find_context(several, settings.context)
    if file is None:
        return None
    try:
        return load_kubeconfig(file, context, field)
    except KubeconfigError as error:
        raise ConfigError([f"{field}.{error.setting}: {error}"]) from None


def why_silent(found: LoadedKubeconfig, environment: Mapping[str, str], field: str) -> str:
    """Return why the API server does not answer; empty if it does.

    Raise ConfigError, naming the field, if it cannot even be asked.
    """
    cluster = found.cluster
    try:
        transport = api_server_transport(
            ca_file=found.ca_bundle,
            server_name=cluster.server_name,
            proxy=forward_proxy(cluster.server, cluster.proxy, environment),
        )
    except (InvalidConnection, ValueError) as error:
        problem = f"{field}.kubeconfig: {found.path} cannot be used ({error})"
        raise ConfigError([problem]) from None
    url = f"{cluster.server.rstrip('/')}/version"
    why = why_unreachable(url, transport, verify=not cluster.insecure)
    return f"the API server {cluster.server} of {found.path} does not answer ({why})" if why else ""


@dataclass(frozen=True)
class _Kind:
    setting: str
    group: str
    name: str
    remedy: str

    def missing(self, places: Iterable[str], cluster: str | None) -> str:
        fields = ", ".join(f"{place}.{self.setting}" for place in places)
        where = f"cluster {cluster}" if cluster else "the cluster"
        return f"{fields}: {where} does not serve {self.group}/v1 {self.name}; {self.remedy}"


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


def check_provides(
    settings: Settings, own: Marks | None = None, without: Collection[str] = ()
) -> UpgradePlan:
    """Raise ConfigError with all that the config counts on and the cluster lacks (F2).

    A downgrade of coderd is such a mistake, too (V2). `own` are the marks of what this stack has
    created; None: any will do. `without` are clusters to leave out.
    """
    found = survey(settings, own, without=without)
    plan = upgrade_plan(settings, found.images)
    if wrong := [*unserved(settings, without), *found.missing, *filter(None, [plan.mistake])]:
        raise ConfigError(wrong)
    return plan


def unserved(settings: Settings, without: Collection[str | None] = ()) -> list[str]:
    """Return a line for every kind that the config asks for and the cluster lacks.

    They are not part of Kubernetes. A cluster that does not answer this question (no rights, a
    proxy) is left to the engine.
    """
    return [
        kind.missing(places, cluster)
        for cluster in settings.clusters_in_use
        if cluster not in without
        for kind, places in _asked_for(settings, cluster).items()
        if not _may_serve(kubeconfig_of(settings.cluster(cluster)), kind)
    ]


def _asked_for(settings: Settings, cluster: str | None) -> dict[_Kind, list[str]]:
    """Return the kinds that the config asks for in that cluster, each with the parts that do."""
    exposed: dict[str, ExposedSettings] = {
        f"proxies[{index}]": each
        for index, each in enumerate(settings.proxies)
        if each.cluster == cluster
    }
    if cluster is None:
        exposed = {"controlPlane": settings.control_plane, **exposed}
    database = cluster is None and settings.control_plane.cloud_native_pg
    asked = {
        _HTTP_ROUTE: [path for path, part in exposed.items() if part.http_route],
        _SERVICE_MONITOR: [path for path, part in exposed.items() if part.service_monitor],
        _DATABASE: ["controlPlane"] if database else [],
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
