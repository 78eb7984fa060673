"""Read what every Kubernetes object has: kind, name, annotations, conditions."""

from dataclasses import dataclass
from typing import Final

from sandbox.kubernetes_plugin.values import Object, Value, as_list, as_object, as_text, dig

AUTONAMED: Final = "pulumi.com/autonamed"
SKIP_AWAIT: Final = "pulumi.com/skipAwait"
WAIT_FOR: Final = "pulumi.com/waitFor"
TIMEOUT_SECONDS: Final = "pulumi.com/timeoutSeconds"
PATCH_FORCE: Final = "pulumi.com/patchForce"
PATCH_FIELD_MANAGER: Final = "pulumi.com/patchFieldManager"
DELETION_PROPAGATION: Final = "pulumi.com/deletionPropagationPolicy"
REPLACE_UNREADY: Final = "pulumi.com/replaceUnready"

_SERVER_ANNOTATIONS: Final = frozenset(
    {
        "deployment.kubernetes.io/revision",
        "kubectl.kubernetes.io/last-applied-configuration",
    }
)


@dataclass(frozen=True)
class Kind:
    """An apiVersion and a kind, `apps/v1` and `Deployment`."""

    api_version: str
    name: str

    @property
    def group(self) -> str:
        """Return the API group; empty for the core group."""
        group, slash, _ = self.api_version.partition("/")
        return group if slash else ""

    @property
    def key(self) -> str:
        """Return a key such as `apps/v1/Deployment`."""
        return f"{self.api_version}/{self.name}"


def kind_of(obj: Object) -> Kind:
    """Return the object's kind."""
    return Kind(as_text(obj.get("apiVersion")), as_text(obj.get("kind")))


def name_of(obj: Object) -> str:
    """Return `metadata.name`; empty if absent or unknown."""
    return as_text(dig(obj, "metadata", "name"))


def namespace_of(obj: Object) -> str:
    """Return `metadata.namespace`; empty if absent or unknown."""
    return as_text(dig(obj, "metadata", "namespace"))


def id_of(obj: Object) -> str:
    """Return the Pulumi id: `namespace/name`, or the name of an object without a namespace."""
    namespace = namespace_of(obj)
    return f"{namespace}/{name_of(obj)}" if namespace else name_of(obj)


def split_id(identity: str) -> tuple[str, str]:
    """Return the namespace, which may be empty, and the name in an id."""
    namespace, slash, name = identity.partition("/")
    return (namespace, name) if slash else ("", namespace)


def annotation(obj: Object, key: str) -> str:
    """Return an annotation's value; empty if it is not set."""
    return as_text(as_object(dig(obj, "metadata", "annotations")).get(key))


def with_metadata(obj: Object, **fields: Value) -> Object:
    """Return a copy with these `metadata` fields set."""
    return {**obj, "metadata": {**as_object(obj.get("metadata")), **fields}}


def with_annotation(obj: Object, key: str, value: str) -> Object:
    """Return a copy with this annotation set."""
    annotations = {**as_object(dig(obj, "metadata", "annotations")), key: value}
    return with_metadata(obj, annotations=annotations)


def condition(obj: Object, kind: str) -> Object:
    """Return the condition of that type; empty if there is none."""
    for entry in as_list(dig(obj, "status", "conditions")):
        if dig(entry, "type") == kind:
            return as_object(entry)
    return {}


def owned_by(obj: Object, owner: Object) -> bool:
    """Return whether `owner` is among the object's owner references."""
    uid = dig(owner, "metadata", "uid")
    references = as_list(dig(obj, "metadata", "ownerReferences"))
    return uid is not None and any(dig(reference, "uid") == uid for reference in references)


def importable(live: Object) -> Object:
    """Return the inputs for an imported object: all fields except those that the server sets."""
    metadata = as_object(live.get("metadata"))
    annotations: Object = {
        key: value
        for key, value in as_object(metadata.get("annotations")).items()
        if key not in _SERVER_ANNOTATIONS
    }
    kept: Object = {key: value for key, value in live.items() if key != "status"}
    return {**kept, "metadata": {**metadata, "annotations": annotations}}
