"""Names of Kubernetes objects that a config creates, and of those that it refers to. Pure.

Used to find two parts that create the same object. A test compares them with what the components
create. Which objects must exist before a deployment is in references.py.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple, cast

from coder_stack.naming import (
    database_secret_name,
    operator_secret_name,
    provisioner_name,
    provisioner_secret_name,
    proxy_name,
    proxy_secret_name,
    workspace_role_name,
)
from coder_stack.settings.control_plane import ControlPlaneSettings
from coder_stack.settings.exposure import ExposedSettings
from coder_stack.settings.part import Part, Reference
from coder_stack.settings.provisioner import ProvisionerSettings
from coder_stack.settings.workload import WorkloadSettings
from coder_stack.settings.workspace_proxy import ProxySettings

_PERMISSIONS = ("Role", "RoleBinding")


class Claim(NamedTuple):
    """An object that a part creates, and the field that names it."""

    kind: str
    namespace: str
    name: str
    field: str


def claims(
    part: WorkloadSettings, namespace: str, invalid: Collection[str] = ()
) -> Iterator[Claim]:
    """Return the objects that a part creates in its namespace and in those of its workspaces.

    Omit objects whose names come from a field in `invalid`.
    """
    match part:
        case ControlPlaneSettings() if part.exists_already:
            return  # the name of the operator's Secret has a hash of the stack in it
        case ControlPlaneSettings():
            if "name" not in invalid:
                yield from _named(_exposed(part), namespace, part.name)
                # Created by operator access for its token.
                yield from _named(("Secret",), namespace, operator_secret_name(part.name))
                for each in (namespace, *part.workspace_namespaces):
                    yield from _named(_PERMISSIONS, each, workspace_role_name(part.name))
            if part.cloud_native_pg and not {"name", "database"} & set(invalid):
                yield from _database(namespace, part)
        case ProvisionerSettings():
            if "account" not in invalid:
                yield from _account(namespace, part)
            yield from _named(("Deployment",), namespace, provisioner_name(part.name))
            if "key" not in invalid:
                secret = part.key.secret_name or provisioner_secret_name(part.name)
                field = "key.secretName" if part.key.secret_name else "name"
                yield Claim("Secret", namespace, secret, field)
        case ProxySettings():
            name = proxy_name(part.name)
            yield from _named(_exposed(part), namespace, name)
            if "secretName" not in invalid:
                secret = part.secret_name or proxy_secret_name(part.name)
                field = "secretName" if part.secret_name else "name"
                yield Claim("Secret", namespace, secret, field)
        case _:
            raise TypeError(f"{type(part).__name__} is no part of a stack")


def referenced_secrets(part: WorkloadSettings) -> Iterator[tuple[str, str]]:
    """Return field and name of each existing Secret that the part's pods or Ingress use."""
    for each in references(part):
        if each.kind == "Secret" and not each.has_condition:
            yield each.path, each.name


def references(part: Part) -> Iterator[Reference]:
    """Return the references of the part and of each part within it."""
    yield from part.references()
    for name, info in type(part).model_fields.items():
        for step, inner in _parts_in(getattr(part, name)):
            for each in references(inner):
                path = f"{info.alias}{step}.{each.path}" if each.path else f"{info.alias}{step}"
                yield each._replace(path=path)


def _parts_in(value: Any) -> Iterator[tuple[str, Part]]:
    """Return the parts in a field's value, with the step of the path that leads to each."""
    match value:
        case Part():
            yield "", value
        case tuple():
            items = enumerate(cast("tuple[Any, ...]", value))
            yield from ((f"[{index}]", each) for index, each in items if isinstance(each, Part))
        case dict():
            pairs = cast("dict[str, Any]", value).items()
            yield from ((f".{key}", each) for key, each in pairs if isinstance(each, Part))
        case _:
            return


def _exposed(part: ExposedSettings) -> Iterator[str]:
    """Return the kinds of objects that have the part's own name."""
    yield from ("ServiceAccount", "Deployment", "Service")
    for kind, given in (
        ("Ingress", part.ingress),
        ("HTTPRoute", part.http_route),
        ("PodDisruptionBudget", part.pod_disruption_budget),
        ("NetworkPolicy", part.network_policy),
        ("ServiceMonitor", part.service_monitor),
    ):
        if given:
            yield kind


def _database(namespace: str, part: ControlPlaneSettings) -> Iterator[Claim]:
    """Return the Cluster, and the objects that CloudNativePG creates for it under fixed names."""
    name = part.database_name
    given = part.cloud_native_pg and part.cloud_native_pg.name
    field = "database.cloudNativePg.name" if given else "name"
    for kind in ("Cluster", "ServiceAccount", *_PERMISSIONS):
        yield Claim(kind, namespace, name, field)
    yield Claim("Secret", namespace, database_secret_name(name), field)


def _account(namespace: str, part: ProvisionerSettings) -> Iterator[Claim]:
    name, field = part.account or provisioner_name(part.name), "account" if part.account else "name"
    yield Claim("ServiceAccount", namespace, name, field)
    for each in (namespace, *part.workspace_namespaces):
        yield from (Claim(kind, each, name, field) for kind in _PERMISSIONS)


def _named(kinds: Iterable[str], namespace: str, name: str) -> Iterator[Claim]:
    return (Claim(kind, namespace, name, "name") for kind in kinds)
