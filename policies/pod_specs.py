"""Find pod specs in Kubernetes objects: their containers, labels, and which program they run.

Ignores `…Patch` resources, which hold part of an object, and Helm releases, which are opaque to a
policy.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from properties import KnownValues, Property, Resource

_TEMPLATE = ("spec", "template", "spec")
_PATHS = {
    "Pod": ("spec",),
    "Deployment": _TEMPLATE,
    "StatefulSet": _TEMPLATE,
    "DaemonSet": _TEMPLATE,
    "ReplicaSet": _TEMPLATE,
    "ReplicationController": _TEMPLATE,
    "Job": _TEMPLATE,
    "CronJob": ("spec", "jobTemplate", *_TEMPLATE),
}
LONG_RUNNING = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
"""Kinds whose pods run until they are deleted."""
_TYPE = re.compile(r"kubernetes:(?:core|apps|batch|extensions)/\w+:(\w+)")


def is_kubernetes(type_: str) -> bool:
    """Return whether it is an object in the cluster: not a provider, not a patch."""
    return type_.startswith("kubernetes:") and not type_.endswith("Patch")


def pod_spec_path(type_: str) -> tuple[str, ...] | None:
    """Return the path of the pod spec; None if objects of that type have no pods."""
    match = _TYPE.fullmatch(type_)
    return _PATHS.get(match[1]) if match else None


def has_pods(type_: str) -> bool:
    """Return whether objects of that type have pods."""
    return pod_spec_path(type_) is not None


def pod_spec(resource: Resource) -> Property:
    """Return the spec of its pods."""
    return resource.props.at(*(pod_spec_path(resource.type) or ()))


def containers(resource: Resource, known: KnownValues, *, init: bool = True) -> Iterator[Property]:
    """Yield its init containers (unless `init` is false) and its containers."""
    spec = pod_spec(resource)
    if init:
        yield from known.each(spec["initContainers"])
    yield from known.each(spec["containers"])


def serves(resource: Resource, known: KnownValues) -> bool:
    """Return whether its pods have a port; provisioner daemons only connect to coderd."""
    return any(each["ports"].each() for each in containers(resource, known, init=False))


def pod_labels(resource: Resource) -> Property:
    """Return the labels of its pods, which selectors match."""
    holder = resource.props.at(*(pod_spec_path(resource.type) or ())[:-1])
    return holder.at("metadata", "labels")


def place_of(resource: Resource) -> tuple[str, str]:
    """Return its cluster and its namespace, `default` if it names none.

    Two clusters may have namespaces, Secrets and pods of the same names.
    """
    return resource.provider, resource.props.at("metadata", "namespace").text or "default"


def program(container: Property) -> str | None:
    """Return which program of Coder it runs: `coderd`, `provisioner`, `proxy` or None."""
    command = [each.text for each in container["command"].each()]
    words = [*command, *(each.text for each in container["args"].each())]
    if command and command[0].rpartition("/")[2] == "coder":
        words = words[1:]
    elif command or "coder" not in container["image"].text:
        return None
    if words[:1] == ["provisionerd"] or words[:2] == ["provisioner", "start"]:
        return "provisioner"
    if words[:1] == ["wsproxy"]:
        return "proxy"
    return "coderd" if words[:1] == ["server"] else None


def selects(selector: Property, labels: Mapping[str, Any]) -> bool:
    """Return whether a label selector matches these labels. An empty one matches all."""
    wanted = selector["matchLabels"].mapping()
    if any(labels.get(name) != value for name, value in wanted.items()):
        return False
    return all(_matches(each, labels) for each in selector["matchExpressions"].each())


def _matches(expression: Property, labels: Mapping[str, Any]) -> bool:
    key, operator = expression["key"].text, expression["operator"].text
    values = [each.text for each in expression["values"].each()]
    return {
        "In": labels.get(key) in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }.get(operator, False)
