"""When an object counts as live."""

from typing import Any

import pytest

from sandbox.kubernetes_plugin.readiness import judge, judge_service, pod_troubles
from sandbox.kubernetes_plugin.values import Object


def workload(kind: str, status: Object, generation: int = 2, **spec: Any) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "x", "generation": generation},
        "spec": spec,
        "status": {"observedGeneration": 2, **status},
    }


ROLLED_OUT: Object = {
    "replicas": 2,
    "updatedReplicas": 2,
    "availableReplicas": 2,
    "conditions": [{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}],
}


def test_a_deployment_is_live_when_all_replicas_are_new_and_available() -> None:
    assert judge(workload("Deployment", ROLLED_OUT, replicas=2)).ready


@pytest.mark.parametrize(
    "change",
    [
        {"updatedReplicas": 1},
        {"availableReplicas": 1},
        {"replicas": 3},
        {"conditions": [{"type": "Progressing", "reason": "ReplicaSetUpdated"}]},
    ],
    ids=["old ones left", "not available", "surplus", "still progressing"],
)
def test_a_deployment_is_not_live_before_that(change: Object) -> None:
    assert not judge(workload("Deployment", {**ROLLED_OUT, **change}, replicas=2)).ready


def test_a_status_from_before_the_change_says_nothing() -> None:
    verdict = judge(workload("Deployment", ROLLED_OUT, generation=3, replicas=2))
    assert not verdict.ready
    assert verdict.unseen


def test_no_replicas_are_always_there() -> None:
    assert judge(workload("Deployment", {}, replicas=0)).ready


def test_a_failed_rollout_says_why() -> None:
    conditions: list[Any] = [
        {
            "type": "Progressing",
            "status": "False",
            "reason": "ProgressDeadlineExceeded",
            "message": "timed out progressing",
        },
        {
            "type": "ReplicaFailure",
            "status": "True",
            "reason": "FailedCreate",
            "message": "exceeded quota",
        },
    ]
    reasons = judge(workload("Deployment", {"conditions": conditions}, replicas=1)).reasons
    assert "ProgressDeadlineExceeded: timed out progressing" in reasons
    assert "FailedCreate: exceeded quota" in reasons


def test_a_failed_job_is_hopeless() -> None:
    job: Object = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "status": {
            "conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]
        },
    }
    verdict = judge(job)
    assert verdict.hopeless
    assert verdict.reasons == ["BackoffLimitExceeded"]


def test_a_kind_without_a_rule_is_live_at_once() -> None:
    assert judge({"apiVersion": "v1", "kind": "ServiceAccount"}).ready


def endpoint(**conditions: bool) -> Object:
    return {"conditions": dict(conditions), "targetRef": {"name": "pod-1"}}


def slices(*endpoints: Object) -> list[Object]:
    return [{"endpoints": list(endpoints)}]


SELECTING: Object = {"spec": {"selector": {"app": "x"}}}


def test_a_service_is_live_when_no_endpoint_is_unready() -> None:
    assert judge_service(SELECTING, slices(endpoint(ready=True))).ready
    mixed = judge_service(SELECTING, slices(endpoint(ready=True), endpoint(ready=False)))
    assert not mixed.ready
    assert mixed.reasons == ["Service selects Pods that are not ready: pod-1"]


def test_a_pod_that_is_on_its_way_out_does_not_count() -> None:
    leaving = endpoint(ready=False, terminating=True)
    assert judge_service(SELECTING, slices(endpoint(ready=True), leaving)).ready


def test_a_service_that_selects_nothing_is_given_time() -> None:
    verdict = judge_service(SELECTING, [])
    assert not verdict.ready
    assert verdict.settling


def test_pod_troubles_name_pod_container_and_reason() -> None:
    pod: Object = {
        "metadata": {"name": "p"},
        "status": {
            "conditions": [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": "0/1 nodes",
                }
            ],
            "containerStatuses": [
                {"name": "fine", "ready": True, "state": {"running": {}}},
                {"name": "starting", "state": {"waiting": {"reason": "ContainerCreating"}}},
                {"name": "pulling", "state": {"waiting": {"reason": "ErrImagePull"}}},
                {
                    "name": "crashed",
                    "ready": False,
                    "state": {"terminated": {"exitCode": 3, "reason": "Error"}},
                },
            ],
        },
    }
    assert pod_troubles(pod) == [
        'pod "p": Unschedulable: 0/1 nodes',
        'pod "p", container "pulling": ErrImagePull',
        'pod "p", container "crashed": Error: exited with code 3',
    ]
