"""Read from a pod's JSON which of Coder's programs it runs, and with which environment."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

Object = Mapping[str, Any]
_RELEASE = re.compile(r"v?(\d+\.\d+\.\d+)$")


class Program(Enum):
    """A program of Coder, by its first arguments."""

    CODERD = ("server",)
    DAEMON = ("provisionerd", "start")
    PROXY = ("wsproxy", "server")


@dataclass(frozen=True)
class FromSecret:
    """An environment variable whose value is in a Secret of the pod's namespace."""

    name: str
    key: str
    optional: bool = False


@dataclass(frozen=True)
class PodContainer:
    """The only container of a running pod."""

    uid: str
    namespace: str
    pod: str
    program: Program
    env: Mapping[str, str | FromSecret]
    version: str = ""
    """Coder's release from the image's tag, or "" if the tag is not a version."""


def containers(pods: Iterable[Object]) -> dict[str, PodContainer]:
    """Return the containers to simulate, by the pod's uid."""
    found = (container(pod) for pod in pods if is_running(pod))
    return {each.uid: each for each in found if each}


def is_running(pod: Object) -> bool:
    """Return whether the pod runs and is not being deleted."""
    ended = "deletionTimestamp" in pod["metadata"]
    return pod.get("status", {}).get("phase") == "Running" and not ended


def container(pod: Object) -> PodContainer | None:
    """Return the pod's container, if it runs a program of Coder."""
    meta, spec = pod["metadata"], pod["spec"]["containers"][0]
    arguments = tuple(spec.get("args") or ())
    for program in Program:
        if arguments[: len(program.value)] == program.value:
            return PodContainer(
                uid=meta["uid"],
                namespace=meta["namespace"],
                pod=meta["name"],
                program=program,
                env=_environment(pod, spec.get("env") or []),
                version=_release(spec.get("image", "")),
            )
    return None


def runs_coderd(pod: Object) -> bool:
    """Return whether coderd runs in the pod, whoever has deployed it."""
    if not is_running(pod):
        return False
    found = container(pod)
    return found is not None and found.program is Program.CODERD


def coderd_version(pods: Iterable[Object]) -> str:
    """Return the version of the newest running pod of coderd; "" if its image names none."""
    found = [
        (str(pod["metadata"].get("creationTimestamp", "")), each.version)
        for pod in pods
        if runs_coderd(pod) and (each := container(pod))
    ]
    return max(found, default=("", ""))[1]


def serves_coderd(pod: Object, port: int) -> bool:
    """Return whether that port of the pod is coderd's plain HTTP listener."""
    if not runs_coderd(pod):
        return False
    ports: list[Object] = pod["spec"]["containers"][0].get("ports") or []
    return any(each.get("name") == "http" and each["containerPort"] == port for each in ports)


def _environment(pod: Object, listed: list[Object]) -> dict[str, str | FromSecret]:
    """Collect the variables; the last one of a name wins, as in the kubelet."""
    env: dict[str, str | FromSecret] = {}
    for each in listed:
        source: Object = each.get("valueFrom") or {}
        if reference := source.get("secretKeyRef"):
            optional = reference.get("optional", False)
            env[each["name"]] = FromSecret(reference["name"], reference["key"], optional)
        elif field := source.get("fieldRef"):
            env[each["name"]] = _field(pod, field["fieldPath"])
        elif not source:
            env[each["name"]] = each.get("value", "")
    return env


def _field(pod: Object, path: str) -> str:
    found: Any = pod
    for step in path.split("."):
        found = cast("Object", found).get(step, "") if isinstance(found, Mapping) else ""
    return str(found)


def _release(image: str) -> str:
    tag = image.rpartition("/")[2].partition("@")[0].partition(":")[2]
    known = _RELEASE.match(tag)
    return f"v{known[1]}" if known else ""
