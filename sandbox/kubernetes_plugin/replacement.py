"""The changes that require a replacement, as in the official plugin.

They include the data of ConfigMaps and Secrets, unless provider options make it mutable.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

from sandbox.kubernetes_plugin.objects import kind_of
from sandbox.kubernetes_plugin.values import Object

Step: TypeAlias = str | int
Path: TypeAlias = tuple[Step, ...]

_IDENTITY: Final = ("metadata.name", "metadata.namespace")
_SELECTOR: Final = ("spec.selector",)
_STATEFUL_SET: Final = (
    "spec.podManagementPolicy",
    "spec.revisionHistoryLimit",
    "spec.selector",
    "spec.serviceName",
    "spec.volumeClaimTemplates",
)
_CONTAINER: Final = (
    "args", "command", "env", "image", "imagePullPolicy", "lifecycle", "livenessProbe", "ports",
    "readinessProbe", "resources", "securityContext", "stdin", "stdinOnce",
    "terminationMessagePath", "terminationMessagePolicy", "tty", "volumeDevices", "volumeMounts",
    "workingDir",
)  # fmt: skip
_POD: Final = (
    "affinity", "automountServiceAccountToken", "dnsConfig", "dnsPolicy", "enableServiceLinks",
    "hostAliases", "hostIPC", "hostNetwork", "hostPID", "hostname", "imagePullSecrets", "nodeName",
    "nodeSelector", "overhead", "preemptionPolicy", "priority", "priorityClassName",
    "readinessGates", "restartPolicy", "runtimeClassName", "schedulerName", "securityContext",
    "serviceAccount", "serviceAccountName", "shareProcessNamespace", "subdomain",
    "terminationGracePeriodSeconds", "volumes",
)  # fmt: skip
_VOLUME_SOURCES: Final = (
    "awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc", "flexVolume",
    "flocker", "gcePersistentDisk", "glusterfs", "hostPath", "iscsi", "local", "nfs",
    "photonPersistentDisk", "portworxVolume", "quobyte", "rbd", "scaleIO", "storageos",
    "vsphereVolume",
)  # fmt: skip

_RULES: Final[dict[str, tuple[str, ...]]] = {
    "apps/v1/DaemonSet": _SELECTOR,
    "apps/v1/Deployment": _SELECTOR,
    "apps/v1/StatefulSet": _STATEFUL_SET,
    "batch/v1/Job": ("spec.completions", "spec.parallelism", "spec.selector", "spec.template"),
    "rbac.authorization.k8s.io/v1/ClusterRoleBinding": ("roleRef",),
    "rbac.authorization.k8s.io/v1/RoleBinding": ("roleRef",),
    "storage.k8s.io/v1/StorageClass": ("parameters", "provisioner"),
    "v1/PersistentVolume": tuple(f"spec.{source}" for source in _VOLUME_SOURCES),
    "v1/PersistentVolumeClaim": (
        "spec.accessModes",
        "spec.selector",
        "spec.storageClassName",
        "spec.volumeName",
    ),
    "v1/Pod": (
        *(f"spec.{field}" for field in _POD),
        *(f"spec.containers.*.{field}" for field in _CONTAINER),
        *(f"spec.initContainers.*.{field}" for field in _CONTAINER),
    ),
    "v1/ResourceQuota": ("spec.scopes",),
    "v1/Secret": ("type",),
    "v1/Service": ("spec.clusterIP",),
}


@dataclass(frozen=True)
class Mutability:
    """Whether Secrets and ConfigMaps may be changed in place."""

    secrets: bool = False
    config_maps: bool = False


def replacing_paths(inputs: Object, mutability: Mutability) -> tuple[str, ...]:
    """Return patterns of the paths whose change replaces this object; `*` is any index."""
    key = kind_of(inputs).key
    rules = _IDENTITY + _RULES.get(key, ())
    immutable = inputs.get("immutable") is True
    if key == "v1/Secret" and (immutable or not mutability.secrets):
        return (*rules, "stringData", "data")
    if key == "v1/ConfigMap" and (immutable or not mutability.config_maps):
        return (*rules, "binaryData", "data")
    return rules


def replaces(path: Path, value: object, patterns: tuple[str, ...]) -> bool:
    """Return whether the path is at or below a pattern, or a changed map that contains one."""
    return any(_meets(path, value, pattern.split(".")) for pattern in patterns)


def _meets(path: Path, value: object, pattern: list[str]) -> bool:
    for step, wanted in zip(path, pattern, strict=False):
        if wanted != "*" and step != wanted:
            return False
    if len(path) >= len(pattern):
        return True
    # A whole map was added or removed: check whether it contains the field.
    rest: object = value
    for wanted in pattern[len(path) :]:
        if isinstance(rest, list):
            return bool(rest)  # pyright: ignore[reportUnknownArgumentType] - only its length counts
        if not isinstance(rest, dict) or wanted not in rest:
            return False
        rest = rest[wanted]  # pyright: ignore[reportUnknownVariableType] - walked, never used
    return True
