"""Read the facts of a stack from what `pulumi stack export` prints (N1). Pure.

Secrets in it are encrypted and stay so: they are left out. What the engine is going to delete, and
what the license has not allowed to exist yet, is no fact.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.cluster.object_path import collection_path
from coder_stack.descriptors import (
    ENTITLEMENTS,
    LICENSE,
    OPERATOR_ACCESS,
    ORGANIZATION,
    PROVISIONER_KEY,
    WORKSPACE_PROXY,
)
from coder_stack.frozen_model import FrozenModel
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.watch.facts import (
    CODERD,
    TOKEN,
    AnswerFact,
    CoderdFact,
    Facts,
    LicenseEnd,
    ObjectFact,
    digest,
)

_SECRET = "4dabf18193072939515e22adb298388d"  # noqa: S105  # Pulumi's mark of an encrypted value
_STACK = "pulumi:pulumi:Stack"
_CLUSTER_PROVIDER = "pulumi:providers:kubernetes"
_KUBERNETES = "kubernetes:"


class _Resource(FrozenModel):
    urn: str
    type: str
    provider: str = ""
    inputs: Mapping[str, Any] = Field(default_factory=dict[str, Any])
    outputs: Mapping[str, Any] = Field(default_factory=dict[str, Any])
    delete: bool = False
    external: bool = False

    @property
    def name(self) -> str:
        return self.urn.rpartition("::")[2]


class _Manifest(FrozenModel):
    time: str = ""


class _Deployment(FrozenModel):
    manifest: _Manifest = _Manifest()
    resources: tuple[_Resource, ...] = ()


class _Export(FrozenModel):
    deployment: _Deployment | None = None
    """`null` if the stack was never deployed."""


class _Metadata(FrozenModel):
    name: str
    namespace: str | None = None
    uid: str
    resource_version: str = Field(default="", alias="resourceVersion")
    generation: int | None = None


class _Feature(FrozenModel):
    entitlement: str = "not_entitled"
    enabled: bool = False
    limit: int | None = None


class _License(FrozenModel):
    license_expires: datetime | None = None
    warn_days: int = 0


def read_facts(exported: str) -> Facts:
    """Read an exported state; a stack that was never deployed has no outputs.

    Raise OperationError if a cluster's kubeconfig is encrypted in it.
    """
    deployment = _Export.model_validate_json(exported).deployment or _Deployment()
    resources = [each for each in deployment.resources if not (each.delete or each.external)]
    objects = tuple(fact for each in resources for fact in _object(each))
    clusters = {each.name: _cluster(each) for each in resources if each.type == _CLUSTER_PROVIDER}
    stack = next((each for each in resources if each.type == _STACK), None)
    outputs = _plain(stack.outputs) if stack else {}
    lease_cluster, namespace = _lease_place(objects)
    return Facts(
        version=digest([deployment.manifest.time, len(resources)]),
        objects=objects,
        coderd=tuple(fact for each in resources for fact in _in_coderd(each)),
        answers=tuple(fact for each in resources for fact in _answers(each)),
        clusters=dict(sorted(clusters.items(), key=lambda each: "@" in each[0])),
        connection=next(
            (
                each.inputs["connection"]
                for each in resources
                if each.type == OPERATOR_ACCESS.type and "connection" in each.inputs
            ),
            None,
        ),
        lease_cluster=lease_cluster,
        namespace=namespace,
        license=next((end for each in resources for end in _license_end(each)), None),
        outputs=outputs,
    )


def _cluster(provider: _Resource) -> Kubeconfig:
    for name in ("kubeconfig", "context"):
        if _is_secret(provider.inputs.get(name)):
            raise OperationError(
                f"The {name} of provider `{provider.name}` is a secret in the state, so its "
                "cluster cannot be watched.",
                f"Give the provider a {name} that is no secret (a kubeconfig as a file's path), "
                "and deploy.",
                "pulumi up --stack {stack}",
            )
    return Kubeconfig(
        kubeconfig=provider.inputs.get("kubeconfig") or None,
        context=provider.inputs.get("context") or None,
    )


def _object(resource: _Resource) -> Iterator[ObjectFact]:
    """Objects without a namespace are left to the whole look: their rights are for the cluster."""
    found: Mapping[str, Any] = resource.outputs.get("metadata") or {}
    if not resource.type.startswith(_KUBERNETES) or "uid" not in found:
        return
    metadata = _Metadata.model_validate(found)
    if metadata.namespace is None:
        return
    asked: Mapping[str, Any] = resource.inputs.get("metadata") or {}
    yield ObjectFact(
        urn=resource.urn,
        cluster=resource.provider.rpartition("::")[0].rpartition("::")[2],
        collection=collection_path(resource.type, metadata.namespace),
        name=metadata.name,
        uid=metadata.uid,
        resource_version=metadata.resource_version,
        generation=metadata.generation,
        labels=_plain(asked.get("labels") or {}),
        annotations=_plain(asked.get("annotations") or {}),
    )


def _in_coderd(resource: _Resource) -> Iterator[CoderdFact]:
    urn, known, name = resource.urn, resource.outputs, resource.outputs.get("name")
    if resource.type == PROVISIONER_KEY.type and known.get("key_id"):
        listed = f"keys/{known.get('organization_id') or known.get('organization')}"
        fields: dict[str, Any] = {"name": name, "tags": known.get("tags") or {}}
        yield CoderdFact(urn, listed, known["key_id"], f"key `{name}`", fields)
    elif resource.type == LICENSE.type and known.get("applied") and known.get("uuid"):
        fields = {"uuid": known["uuid"]}
        yield CoderdFact(urn, "licenses", known["uuid"], "the license", fields)
    elif resource.type == WORKSPACE_PROXY.type and known.get("proxy_id"):
        fields = _texts(known, "name", "display_name")
        yield CoderdFact(urn, "proxies", known["proxy_id"], f"proxy `{name}`", fields)
    elif resource.type == ORGANIZATION.type and known.get("organization_id"):
        fields = _texts(known, "name", "display_name", "description", "icon")
        label = f"organization `{name}`"
        yield CoderdFact(urn, "organizations", known["organization_id"], label, fields)
    elif resource.type == ENTITLEMENTS.type and known.get("features") and not known.get("stale"):
        yield CoderdFact(
            urn, "entitlements", "entitlements", "the entitlements", _entitlements(known)
        )


def _entitlements(known: Mapping[str, Any]) -> dict[str, Any]:
    features = {name: _Feature.model_validate(each) for name, each in known["features"].items()}
    return {
        "has_license": known.get("has_license"),
        "features": {
            name: [each.entitlement, each.enabled, each.limit] for name, each in features.items()
        },
    }


def _answers(resource: _Resource) -> Iterator[AnswerFact]:
    if resource.type == OPERATOR_ACCESS.type:
        yield AnswerFact(resource.urn, CODERD, "coderd")
        yield AnswerFact(resource.urn, TOKEN, "the operator's token")
    elif resource.type == _CLUSTER_PROVIDER:
        label = f"the API server of {resource.name}"
        yield AnswerFact(resource.urn, resource.name, label)


def _lease_place(objects: Sequence[ObjectFact]) -> tuple[str, str]:
    """Return a cluster, and the namespace with most of the stack's objects in it.

    Coderd's cluster if the stack has objects there, else the first by name: every watcher of the
    stack must find the same.
    """
    clusters = {each.cluster for each in objects}
    cluster = min(clusters, key=lambda name: ("@" in name, name), default="")
    spaces = [each.namespace for each in objects if each.cluster == cluster]
    return cluster, max(sorted(set(spaces)), key=spaces.count, default="")


def _license_end(resource: _Resource) -> Iterator[LicenseEnd]:
    if resource.type == LICENSE.type and resource.outputs.get("applied"):
        found = _License.model_validate(resource.outputs)
        if found.license_expires:
            yield LicenseEnd(found.license_expires, found.warn_days)


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out encrypted values."""
    return {name: value for name, value in values.items() if not _is_secret(value)}


def _is_secret(value: object) -> bool:
    return isinstance(value, dict) and _SECRET in value


def _texts(known: Mapping[str, Any], *names: str) -> dict[str, str]:
    return {name: known.get(name) or "" for name in names}
