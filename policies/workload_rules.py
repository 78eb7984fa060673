"""Rules on workloads: resources, readiness probes, access to the host."""

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import EnforcementLevel, Severity

from pod_specs import LONG_RUNNING, containers, has_pods, pod_spec
from properties import Property, Violation
from remediation import EditableInputs, Tree, containers_of, mapping_at, set_default
from rule import Case, resource_rule

_OF_THE_NODE = ("hostNetwork", "hostPID", "hostIPC")


def _resources(case: Case) -> Iterator[Violation]:
    for container in containers(case.resource, case.known):
        asked = container["resources"]
        for name in ("cpu", "memory"):
            with case.known:
                # Kubernetes uses the limit as the request if there is none.
                if not (_given(asked, "requests", name) or _given(asked, "limits", name)):
                    yield asked.at("requests", name).violation("set a resource request.")
        with case.known:
            if not _given(asked, "limits", "memory"):
                yield asked.at("limits", "memory").violation("set a memory limit.")


def _given(asked: Property, kind: str, name: str) -> bool:
    return asked.at(kind, name).value is not None


def _fill_resources(inputs: EditableInputs) -> bool:
    filled = [_fill_one(container, inputs.options) for container in containers_of(inputs)]
    return any(filled)


def _fill_one(container: Tree, options: Mapping[str, Any]) -> bool:
    requests = mapping_at(container, "resources", "requests", make=True)
    limits = mapping_at(container, "resources", "limits", make=True)
    if requests is None or limits is None:
        return False
    asked = requests.get("memory")
    # The API server refuses a limit below the request.
    done = set_default(limits, "memory", asked or options["memoryLimit"])
    if done and asked is None:
        requests["memory"] = options["memory"]
    if limits.get("cpu") is None:
        done |= set_default(requests, "cpu", options["cpu"])
    return done


def _readiness(case: Case) -> Iterator[Violation]:
    if case.resource.kind not in LONG_RUNNING:
        return
    for container in containers(case.resource, case.known, init=False):
        with case.known:
            probe = container["readinessProbe"]
            if container["ports"].each() and probe.value is None:
                yield probe.violation("add one; otherwise the pod gets traffic before it is ready.")


def _host_access(case: Case) -> Iterator[Violation]:
    spec = pod_spec(case.resource)
    for name in _OF_THE_NODE:
        with case.known:
            if spec[name].value is True:
                yield spec[name].violation("must not be true.")
    for volume in case.known.each(spec["volumes"]):
        with case.known:
            if volume["hostPath"].value is not None:
                yield volume["hostPath"].violation(
                    "use another volume type, such as a PersistentVolumeClaim."
                )
    for container in containers(case.resource, case.known):
        for port in case.known.each(container["ports"]):
            with case.known:
                if port["hostPort"].number:
                    yield port["hostPort"].violation("remove it, and use a Service instead.")


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
        remediation=_fill_resources,
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
