"""Convert inputs to the form in which the API server returns them, to find only real differences.

A Secret's string data becomes base64 data, quantities become canonical, and read-only metadata and
empty fields with Go's `omitempty` are removed. Custom resources are not changed.
"""

import base64
import binascii
from typing import Final

from sandbox.kubernetes_plugin import quantities
from sandbox.kubernetes_plugin.objects import Kind, kind_of
from sandbox.kubernetes_plugin.values import (
    Object,
    Unknown,
    Value,
    as_object,
    dig,
    has_unknown,
)

_READ_ONLY_METADATA: Final = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "uid",
    }
)
# Groups that are built into the API server; all others are custom resources.
_BUILT_IN_GROUPS: Final = frozenset({"", "apps", "autoscaling", "batch", "policy"})
# Maps with keys of the user, which are not field names.
_USER_KEYED: Final = frozenset(
    {"annotations", "binaryData", "data", "labels", "matchLabels", "nodeSelector", "parameters"}
)
# Maps from resource name to quantity, and fields that are a quantity.
_QUANTITY_MAPS: Final = frozenset(
    {
        "capacity",
        "default",
        "defaultRequest",
        "hard",
        "limits",
        "max",
        "maxLimitRequestRatio",
        "min",
        "overhead",
        "podFixed",
        "requests",
    }
)
_QUANTITY_FIELDS: Final = frozenset({"averageValue", "divisor", "sizeLimit", "tolerance"})
# Fields with `omitempty` that are not pointers in Go: never returned when empty.
_ABSENT_WHEN_EMPTY: Final = frozenset(
    {
        "accessModes", "add", "annotations", "args", "binaryData", "clusterIP", "command", "data",
        "drop", "egress", "env", "envFrom", "externalIPs", "externalName", "finalizers",
        "hostAliases", "hostIPC", "hostNetwork", "hostPID", "hostPort", "imagePullSecrets",
        "ingress", "initContainers", "initialDelaySeconds", "labels", "limits", "loadBalancerIP",
        "loadBalancerSourceRanges", "matchExpressions", "matchLabels", "minReadySeconds",
        "nodePort", "nodeSelector", "nonResourceURLs", "paused", "ports", "priorityClassName",
        "publishNotReadyAddresses", "readOnly", "readinessGates", "requests", "resourceNames",
        "rules", "secrets", "serviceAccountName", "stdin", "stdinOnce", "stringData", "subPath",
        "subPathExpr", "subjects", "supplementalGroups", "sysctls", "tls", "tolerations",
        "topologySpreadConstraints", "tty", "volumeDevices", "volumeMounts", "volumes",
        "workingDir",
    }
)  # fmt: skip


def is_built_in(kind: Kind) -> bool:
    """Return whether the kind is built into the API server."""
    return kind.group in _BUILT_IN_GROUPS or (
        kind.group.endswith(".k8s.io") and kind.group != "gateway.networking.k8s.io"
    )


def normalise(inputs: Object) -> Object:
    """Return the inputs as the server returns them; unknown values are kept."""
    tidy = _without_read_only(inputs)
    kind = kind_of(tidy)
    if not is_built_in(kind):
        return tidy
    if kind.key == "v1/Secret":
        return tidy if has_unknown(tidy) else _normalise_secret(tidy)
    return _normalise_fields(tidy, "")


def _without_read_only(inputs: Object) -> Object:
    metadata = dig(inputs, "metadata")
    if not isinstance(metadata, dict):
        return dict(inputs)
    kept: Object = {
        key: value
        for key, value in metadata.items()
        if key not in _READ_ONLY_METADATA and _present(key, value)
    }
    return {**inputs, "metadata": kept}


def _normalise_secret(inputs: Object) -> Object:
    """Merge `stringData` into `data`, as the server does."""
    data: Object = {key: _reencoded(value) for key, value in as_object(inputs.get("data")).items()}
    for key, value in as_object(inputs.get("stringData")).items():
        text = value if isinstance(value, str) else str(value)
        data[key] = base64.b64encode(text.encode()).decode("ascii")
    tidy: Object = {
        key: value for key, value in inputs.items() if key not in {"data", "stringData"}
    }
    return {**tidy, "data": data} if data else tidy


def _reencoded(value: Value) -> Value:
    if not isinstance(value, str):
        return value
    try:
        raw = base64.b64decode("".join(value.split()), validate=True)
    except binascii.Error:
        return value  # the API server will refuse it with a better message
    return base64.b64encode(raw).decode("ascii")


def _normalise_fields(fields: Object, parent: str) -> Object:
    """Normalize children first, because that may empty a map."""
    tidy: Object = {key: _normalise(value, key, parent) for key, value in fields.items()}
    return {key: value for key, value in tidy.items() if _present(key, value)}


def _normalise(value: Value, key: str, parent: str) -> Value:
    if isinstance(value, dict):
        if key in _QUANTITY_MAPS:
            return {name: _quantity(amount) for name, amount in value.items()}
        if key in _USER_KEYED or (key == "selector" and "matchLabels" not in value):
            return value
        return _normalise_fields(value, key)
    if isinstance(value, list):
        return [_normalise(_without_empty_env(item, key), "", key) for item in value]
    if key in _QUANTITY_FIELDS or (key == "value" and parent == "target"):
        return _quantity(value)
    return value


def _without_empty_env(item: Value, key: str) -> Value:
    """Remove an empty `value` of an environment variable."""
    if key == "env" and isinstance(item, dict) and item.get("value") == "":
        return {name: part for name, part in item.items() if name != "value"}
    return item


def _present(key: str, value: Value) -> bool:
    if isinstance(value, Unknown):
        return True
    empty = value is None or value is False or value in ("", 0, {}, [])
    return value is not None and not (empty and key in _ABSENT_WHEN_EMPTY)


def _quantity(value: Value) -> Value:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    return quantities.canonical(str(value))
