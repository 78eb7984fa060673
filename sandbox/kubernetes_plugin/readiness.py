"""Decide whether an object is ready, by the official plugin's rules, without requests.

A Deployment is rolled out, a Job is complete, and so on. A kind without a rule is ready at once.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sandbox.kubernetes_plugin.objects import condition, kind_of, name_of
from sandbox.kubernetes_plugin.values import Object, as_int, as_list, as_object, as_text, dig


@dataclass(frozen=True)
class Readiness:
    """Whether an object is ready, why not, and whether it can become ready."""

    ready: bool
    reasons: list[str] = field(default_factory=list[str])
    hopeless: bool = False
    # Ready if nothing changes for a while: there is nothing to wait for.
    settling: bool = False
    # The controller has not seen the latest change, so the status is outdated.
    unseen: bool = False


READY: Final = Readiness(ready=True)


def waiting(*reasons: str) -> Readiness:
    """Return that an object is not ready for these reasons."""
    return Readiness(ready=False, reasons=list(reasons))


def judge_deployment(obj: Object) -> Readiness:
    """Require that all replicas are of this generation and available."""
    if not _observed(obj):
        return _unseen("deployment")
    wanted = as_int(dig(obj, "spec", "replicas"), 1)
    status = as_object(obj.get("status"))
    updated, available = (
        as_int(status.get("updatedReplicas")),
        as_int(status.get("availableReplicas")),
    )
    total = as_int(status.get("replicas"))
    if wanted == 0:
        return READY
    progressing = condition(obj, "Progressing")
    rolled_out = progressing.get("reason") in {"NewReplicaSetAvailable", None}
    if updated >= wanted and available >= wanted and total == updated and rolled_out:
        return READY
    reasons = [f"{available} of {wanted} replicas available, {updated} updated"]
    reasons += [
        _told(entry)
        for entry in (progressing, condition(obj, "Available"), condition(obj, "ReplicaFailure"))
        if (entry.get("status") == "False") != (entry.get("type") == "ReplicaFailure") and entry
    ]
    return waiting(*reasons)


def judge_stateful_set(obj: Object) -> Readiness:
    """Require that all replicas are ready and of the latest revision."""
    if not _observed(obj):
        return _unseen("statefulset")
    wanted = as_int(dig(obj, "spec", "replicas"), 1)
    status = as_object(obj.get("status"))
    ready, updated = as_int(status.get("readyReplicas")), as_int(status.get("updatedReplicas"))
    on_delete = dig(obj, "spec", "updateStrategy", "type") == "OnDelete"
    partition = as_int(dig(obj, "spec", "updateStrategy", "rollingUpdate", "partition"))
    current = on_delete or updated >= wanted - partition
    settled = (
        on_delete or partition > 0 or status.get("currentRevision") == status.get("updateRevision")
    )
    if ready >= wanted and current and (settled or wanted == 0):
        return READY
    return waiting(f"{ready} of {wanted} replicas ready, {updated} updated")


def judge_daemon_set(obj: Object) -> Readiness:
    """Require that the latest pod is available on every node that should run it."""
    if not _observed(obj):
        return _unseen("daemonset")
    status = as_object(obj.get("status"))
    wanted = as_int(status.get("desiredNumberScheduled"))
    updated = as_int(status.get("updatedNumberScheduled"))
    available = as_int(status.get("numberAvailable"))
    on_delete = dig(obj, "spec", "updateStrategy", "type") == "OnDelete"
    if available >= wanted and (on_delete or updated >= wanted):
        return READY
    return waiting(f"{available} of {wanted} pods available, {updated} updated")


def judge_pod(obj: Object) -> Readiness:
    """Require that it is ready or has succeeded."""
    if (
        dig(obj, "status", "phase") == "Succeeded"
        or condition(obj, "Ready").get("status") == "True"
    ):
        return READY
    return waiting(*(pod_troubles(obj) or [f"pod is {as_text(dig(obj, 'status', 'phase'))}"]))


def judge_job(obj: Object) -> Readiness:
    """Require that it is complete; a failed job cannot become ready."""
    if condition(obj, "Complete").get("status") == "True" or dig(obj, "spec", "suspend") is True:
        return READY
    failed = condition(obj, "Failed")
    if failed.get("status") == "True":
        return Readiness(ready=False, reasons=[_told(failed)], hopeless=True)
    wanted = as_int(dig(obj, "spec", "completions"), 1)
    return waiting(f"{as_int(dig(obj, 'status', 'succeeded'))} of {wanted} completions")


def judge_volume_claim(obj: Object) -> Readiness:
    """Require that it is bound; the caller handles classes that wait for a consumer."""
    phase = as_text(dig(obj, "status", "phase"))
    return (
        READY
        if phase == "Bound"
        else waiting(f"claim is {phase or 'not seen by a provisioner yet'}")
    )


def judge_volume(obj: Object) -> Readiness:
    """Require that it is available or bound."""
    phase = as_text(dig(obj, "status", "phase"))
    return READY if phase in {"Available", "Bound"} else waiting(f"volume is {phase or 'pending'}")


def judge_quota(obj: Object) -> Readiness:
    """Require that the controller has applied the limits."""
    same = dig(obj, "spec", "hard") == dig(obj, "status", "hard")
    return READY if same else waiting("the quota controller has not taken the limits over yet")


def judge_secret(obj: Object) -> Readiness:
    """Require that a service account token is set; other Secrets are ready at once."""
    is_token = obj.get("type") == "kubernetes.io/service-account-token"
    return waiting("no token was filled in") if is_token and not obj.get("data") else READY


def judge_ingress(obj: Object) -> Readiness:
    """Require an address."""
    if as_list(dig(obj, "status", "loadBalancer", "ingress")):
        return READY
    return waiting(
        "Ingress .status.loadBalancer was not updated with a hostname or IP address; "
        "is an ingress controller running for its class?"
    )


def judge_service(obj: Object, slices: list[Object]) -> Readiness:
    """Require that all endpoints are ready, and an address for a load balancer."""
    spec = as_object(obj.get("spec"))
    balancer = spec.get("type") == "LoadBalancer"
    if balancer and not as_list(dig(obj, "status", "loadBalancer", "ingress")):
        return waiting("Service was not allocated an IP address; does the cluster support this?")
    headless = spec.get("clusterIP") == "None"
    if spec.get("type") == "ExternalName" or headless or not spec.get("selector"):
        return READY
    endpoints = [endpoint for entry in slices for endpoint in as_list(entry.get("endpoints"))]
    alive = [end for end in endpoints if dig(end, "conditions", "terminating") is not True]
    unready = [end for end in alive if dig(end, "conditions", "ready") is False]
    if unready:
        pods = ", ".join(sorted(as_text(dig(end, "targetRef", "name")) for end in unready))
        return waiting(f"Service selects Pods that are not ready: {pods}")
    return (
        READY
        if alive
        else Readiness(ready=False, reasons=["Service does not target any Pods"], settling=True)
    )


JUDGES: Final[dict[str, Callable[[Object], Readiness]]] = {
    "apps/v1/DaemonSet": judge_daemon_set,
    "apps/v1/Deployment": judge_deployment,
    "apps/v1/StatefulSet": judge_stateful_set,
    "batch/v1/Job": judge_job,
    "networking.k8s.io/v1/Ingress": judge_ingress,
    "v1/PersistentVolume": judge_volume,
    "v1/PersistentVolumeClaim": judge_volume_claim,
    "v1/Pod": judge_pod,
    "v1/ResourceQuota": judge_quota,
    "v1/Secret": judge_secret,
}


def judge(obj: Object) -> Readiness:
    """Return the readiness of an object that can be judged alone."""
    rule = JUDGES.get(kind_of(obj).key)
    return rule(obj) if rule else READY


def pod_troubles(pod: Object) -> list[str]:
    """Return why a pod is not ready: scheduling, then each container's reason."""
    troubles: list[str] = []
    scheduled = condition(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        troubles.append(f'pod "{name_of(pod)}": {_told(scheduled)}')
    for section in ("initContainerStatuses", "containerStatuses"):
        for status in as_list(dig(pod, "status", section)):
            told = _container_trouble(as_object(status))
            if told:
                troubles.append(f'pod "{name_of(pod)}", container "{dig(status, "name")}": {told}')
    return troubles


def _container_trouble(status: Object) -> str:
    held = as_object(dig(status, "state", "waiting"))
    if as_text(held.get("reason")) not in {"", "ContainerCreating", "PodInitializing"}:
        return _told(held)
    ended = as_object(dig(status, "state", "terminated")) or as_object(
        dig(status, "lastState", "terminated")
    )
    code = as_int(ended.get("exitCode"))
    if code and status.get("ready") is not True:
        return f"{as_text(ended.get('reason')) or 'Error'}: exited with code {code}"
    return ""


def _unseen(controller: str) -> Readiness:
    told = f"the {controller} controller has not seen the change yet"
    return Readiness(ready=False, reasons=[told], unseen=True)


def _observed(obj: Object) -> bool:
    generation = as_int(dig(obj, "metadata", "generation"))
    return as_int(dig(obj, "status", "observedGeneration")) >= generation


def _told(entry: Object) -> str:
    reason, message = as_text(entry.get("reason")), as_text(entry.get("message"))
    return f"{reason}: {message}" if reason and message else reason or message
