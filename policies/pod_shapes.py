"""Where the pods are in a Kubernetes object, ours or anybody's, and which program they run.

Reads only. Leaves alone the `…Patch` resources, which hold part of an object, and charts, which are
one opaque resource to a policy unless they are rendered (`helm.v4.Chart`).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from reading import Look, Node, Resource

__all__ = [
    "SERVED",
    "containers",
    "has_pods",
    "is_kubernetes",
    "labels_of_pods",
    "namespace_of",
    "pod_spec",
    "pod_spec_path",
    "program",
    "selects",
]

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
SERVED = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
"""Kinds whose pods run for good."""
_TYPE = re.compile(r"kubernetes:(?:core|apps|batch|extensions)/\w+:(\w+)")


def is_kubernetes(type_: str) -> bool:
    """An object in the cluster; not the provider, nor a part of an object."""
    return type_.startswith("kubernetes:") and not type_.endswith("Patch")


def pod_spec_path(type_: str) -> tuple[str, ...] | None:
    """The way to the pod's spec; None if objects of that type have no pods."""
    match = _TYPE.fullmatch(type_)
    return _PATHS.get(match[1]) if match else None


def has_pods(type_: str) -> bool:
    """Whether objects of that type have pods."""
    return pod_spec_path(type_) is not None


def pod_spec(resource: Resource) -> Node:
    """The spec of its pods."""
    return resource.props.at(*(pod_spec_path(resource.type) or ()))


def containers(resource: Resource, look: Look, *, init: bool = True) -> Iterator[Node]:
    """Its containers; those that run before the others too, unless they do not matter."""
    spec = pod_spec(resource)
    if init:
        yield from look.each(spec["initContainers"])
    yield from look.each(spec["containers"])


def labels_of_pods(resource: Resource) -> Mapping[str, Any]:
    """What a selector is held against."""
    holder = resource.props.at(*(pod_spec_path(resource.type) or ())[:-1])
    return holder.at("metadata", "labels").mapping()


def namespace_of(resource: Resource) -> str:
    """Its namespace; what is not named is in `default`."""
    return resource.props.at("metadata", "namespace").text or "default"


def program(container: Node) -> str | None:
    """Which of Coder's programs it runs: `coderd`, `provisioner`, `proxy`; None if none."""
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


def selects(selector: Node, labels: Mapping[str, Any]) -> bool:
    """Whether a label selector takes a pod with these labels. An empty one takes all."""
    wanted = selector["matchLabels"].mapping()
    if any(labels.get(name) != value for name, value in wanted.items()):
        return False
    return all(_holds(each, labels) for each in selector["matchExpressions"].each())


def _holds(expression: Node, labels: Mapping[str, Any]) -> bool:
    key, operator = expression["key"].text, expression["operator"].text
    values = [each.text for each in expression["values"].each()]
    return {
        "In": labels.get(key) in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }.get(operator, False)
