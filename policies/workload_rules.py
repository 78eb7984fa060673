"""Rules on how a workload lives in the cluster: its share of a node, its health, its node."""

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import EnforcementLevel, Severity

from pod_shapes import SERVED, containers, has_pods, pod_spec
from reading import Fault, Node
from remedies import Draft, Tree, below, containers_in, fill
from rule import Case, resource_rule

__all__ = ["RULES"]

_OF_THE_NODE = ("hostNetwork", "hostPID", "hostIPC")


def _resources(case: Case) -> Iterator[Fault]:
    for container in containers(case.resource, case.look):
        asked = container["resources"]
        for name in ("cpu", "memory"):
            with case.look:
                # Kubernetes takes a limit for the request too, if there is none.
                if not (_given(asked, "requests", name) or _given(asked, "limits", name)):
                    yield asked.at("requests", name).fault("set a resource request.")
        with case.look:
            if not _given(asked, "limits", "memory"):
                yield asked.at("limits", "memory").fault("set a memory limit.")


def _given(asked: Node, kind: str, name: str) -> bool:
    return asked.at(kind, name).value is not None


def _fill_resources(draft: Draft) -> bool:
    filled = [_fill_one(container, draft.options) for container in containers_in(draft)]
    return any(filled)


def _fill_one(container: Tree, options: Mapping[str, Any]) -> bool:
    requests = below(container, "resources", "requests", make=True)
    limits = below(container, "resources", "limits", make=True)
    if requests is None or limits is None:
        return False
    asked = requests.get("memory")
    # A limit below what is asked for would be refused.
    done = fill(limits, "memory", asked or options["memoryLimit"])
    if done and asked is None:
        requests["memory"] = options["memory"]
    if limits.get("cpu") is None:
        done |= fill(requests, "cpu", options["cpu"])
    return done


def _readiness(case: Case) -> Iterator[Fault]:
    if case.resource.kind not in SERVED:
        return
    for container in containers(case.resource, case.look, init=False):
        with case.look:
            probe = container["readinessProbe"]
            if container["ports"].each() and probe.value is None:
                yield probe.fault("add one; otherwise the pod gets traffic before it is ready.")


def _host_access(case: Case) -> Iterator[Fault]:
    spec = pod_spec(case.resource)
    for name in _OF_THE_NODE:
        with case.look:
            if spec[name].value is True:
                yield spec[name].fault("must not be true.")
    for volume in case.look.each(spec["volumes"]):
        with case.look:
            if volume["hostPath"].value is not None:
                yield volume["hostPath"].fault(
                    "use another volume type, such as a PersistentVolumeClaim."
                )
    for container in containers(case.resource, case.look):
        for port in case.look.each(container["ports"]):
            with case.look:
                if port["hostPort"].number:
                    yield port["hostPort"].fault("remove it, and use a Service instead.")


def _quantity(default: str, what: str) -> dict[str, str]:
    return {"type": "string", "default": default, "description": what}


RULES = (
    resource_rule(
        "resources-set",
        "Containers have resource requests and a memory limit.",
        on=has_pods,
        check=_resources,
        steps="Set `resources.requests` (cpu, memory) and `resources.limits.memory`.",
        severity=Severity.MEDIUM,
        level=EnforcementLevel.REMEDIATE,
        options={
            "cpu": _quantity("100m", "Default CPU request."),
            "memory": _quantity("128Mi", "Default memory request."),
            "memoryLimit": _quantity("512Mi", "Default memory limit."),
        },
        remedy=_fill_resources,
    ),
    resource_rule(
        "readiness-probe",
        "Containers with a port have a readiness probe.",
        on=has_pods,
        check=_readiness,
        steps="Keep `readinessProbe.enabled`, or add a `readinessProbe` to the container.",
        severity=Severity.LOW,
        level=EnforcementLevel.ADVISORY,
    ),
    resource_rule(
        "no-host-access",
        "Pods use no host paths, host ports or host namespaces.",
        on=has_pods,
        check=_host_access,
        steps="Remove `hostPath` volumes, `hostPort`, `hostNetwork`, `hostPID` and `hostIPC`.",
        severity=Severity.HIGH,
        level=EnforcementLevel.MANDATORY,
    ),
)
