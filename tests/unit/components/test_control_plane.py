"""How the settings of the control plane end up in Kubernetes objects (CP1, CP2, CP4).

Wiring only, on Pulumi's mocks; that the objects work is seen in tests/engine.
"""

from typing import Any

import pulumi
import pytest

from coder_stack.components.control_plane import ControlPlane, ControlPlaneArgs
from coder_stack.settings import (
    CloudNativePg,
    ControlPlaneSettings,
    Database,
    Image,
    Service,
    Tls,
)
from tests.unit.components import rendering
from tests.unit.components.rendering import Recorder


def render(settings: ControlPlaneSettings, replicas: int | None = None) -> dict[str, Any]:
    """Build the component, wait for everything it registered, and hand back its outputs."""

    def build() -> dict[str, Any]:
        running = None if replicas is None else pulumi.Output.from_input(replicas)
        plane = ControlPlane("c", ControlPlaneArgs(settings=settings, replicas=running))
        return {
            "url": plane.url,
            "phase": plane.phase,
            "ready": plane.ready_replicas,
            "image": plane.image,
            "conditions": plane.conditions,
        }

    return rendering.render(build)


def test_CP1_the_objects_of_a_control_plane(recorder: Recorder) -> None:
    render(ControlPlaneSettings())
    kinds = sorted(r.typ.split(":")[-1] for r in recorder.resources if r.custom)
    assert kinds == [
        "Deployment",
        "Namespace",
        "Role",
        "RoleBinding",
        "Service",
        "ServiceAccount",
    ]


def test_CP1_workspace_rights_are_pods_volumes_and_by_switch_deployments(
    recorder: Recorder,
) -> None:
    render(ControlPlaneSettings(workspace_deployments=False))
    (rule,) = recorder.one("Role")["rules"]
    assert rule["apiGroups"] == [""]
    assert rule["resources"] == ["pods", "persistentvolumeclaims"]
    assert "*" not in rule["verbs"]


def test_CP1_workspace_rights_in_further_namespaces(recorder: Recorder) -> None:
    render(ControlPlaneSettings(name="hub", namespace="hub", workspace_namespaces=("dev", "ml")))
    bindings = recorder.objects("RoleBinding")
    assert sorted(b["metadata"]["namespace"] for b in bindings) == ["dev", "hub", "ml"]
    subject = {"kind": "ServiceAccount", "name": "hub", "namespace": "hub"}
    assert all(b["subjects"] == [subject] for b in bindings)


def test_CP1_a_namespace_that_exists_is_left_alone(recorder: Recorder) -> None:
    render(ControlPlaneSettings(create_namespace=False, namespace="there"))
    assert recorder.objects("Namespace") == []
    assert recorder.one("Deployment")["metadata"]["namespace"] == "there"


def test_CP2_image_replicas_and_service(recorder: Recorder) -> None:
    image = Image(repository="registry.local/coder", tag="v1", pull_policy="Always")
    render(
        ControlPlaneSettings(image=image, replicas=3, service=Service(type="NodePort", port=8000))
    )
    assert recorder.container()["image"] == "registry.local/coder:v1"
    assert recorder.container()["imagePullPolicy"] == "Always"
    assert recorder.one("Deployment")["spec"]["replicas"] == 3
    spec = recorder.one("Service")["spec"]
    assert (spec["type"], spec["ports"][0]["port"]) == ("NodePort", 8000)


def test_the_service_selects_the_pods_and_nothing_a_pod_may_change(recorder: Recorder) -> None:
    render(ControlPlaneSettings())
    deployment = recorder.one("Deployment")["spec"]
    selector = recorder.one("Service")["spec"]["selector"]
    assert selector == deployment["selector"]["matchLabels"]
    assert selector.items() <= deployment["template"]["metadata"]["labels"].items()


def test_the_container_is_locked_down(recorder: Recorder) -> None:
    render(ControlPlaneSettings())
    context = recorder.container()["securityContext"]
    assert context["runAsNonRoot"] is True
    assert context["allowPrivilegeEscalation"] is False
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}


def test_the_database_url_comes_from_a_secret_and_is_never_in_the_environment_itself(
    recorder: Recorder,
) -> None:
    render(ControlPlaneSettings(database=Database(secret_name="db", secret_key="uri")))
    env = {e["name"]: e for e in recorder.container()["env"]}
    assert env["CODER_PG_CONNECTION_URL"] == {
        "name": "CODER_PG_CONNECTION_URL",
        "valueFrom": {"secretKeyRef": {"name": "db", "key": "uri"}},
    }


HEALTHY: dict[str, Any] = {
    "readyInstances": 1, "conditions": [{"type": "Ready", "status": "True"}]
}  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"metadata": {"uid": "u"}, "status": HEALTHY}, ("True", "Ready")),
        ({"metadata": {"uid": "u"}}, ("False", "Pending")),
        ({"metadata": None}, ("False", "NotFound")),
    ],
    ids=["ready", "no status", "gone"],
)
def test_F3_the_condition_of_the_database_is_what_its_status_says(
    recorder: Recorder, answer: dict[str, Any], said: tuple[str, str]
) -> None:
    recorder.answers = {"Cluster": answer}
    database = Database(cloud_native_pg=CloudNativePg())
    (_, condition) = render(ControlPlaneSettings(database=database))["conditions"]
    assert (condition["component"], condition["type"]) == ("controlPlane", "DatabaseReady")
    assert (condition["status"], condition["reason"]) == said


def test_env_of_the_user_wins_over_ours(recorder: Recorder) -> None:
    render(
        ControlPlaneSettings(
            env={"CODER_ACCESS_URL": "https://coder.test", "CODER_VERBOSE": "true"}
        )
    )
    env = {e["name"]: e.get("value") for e in recorder.container()["env"]}
    assert env["CODER_ACCESS_URL"] == "https://coder.test"
    assert env["CODER_VERBOSE"] == "true"


def test_CP4_the_url_is_the_services_own(recorder: Recorder) -> None:
    seen = render(ControlPlaneSettings(name="hub", namespace="dev", service=Service(port=8000)))
    assert recorder.resources
    assert seen["url"] == "http://hub.dev.svc.cluster.local:8000"


def test_CP4_with_certificates_of_its_own_the_url_is_https(recorder: Recorder) -> None:
    seen = render(
        ControlPlaneSettings(tls=Tls(secret_names=("t",)), service=Service(tls_port=8443))
    )
    assert recorder.resources
    assert seen["url"] == "https://coder.coder.svc.cluster.local:8443"


def test_CP2_the_image_is_an_output(recorder: Recorder) -> None:
    seen = render(ControlPlaneSettings(image=Image(repository="mirror.test/coder", tag="v1")))
    assert seen["image"] == recorder.container()["image"] == "mirror.test/coder:v1"


@pytest.mark.parametrize(
    ("replicas", "ready", "phase", "reason"),
    [
        (2, 2, "Ready", "Ready"),
        (2, 1, "Pending", "Pending"),
        (0, 0, "Pending", "ScaledToZero"),
    ],
)
def test_CP4_phase_and_condition_follow_the_ready_pods(
    recorder: Recorder, replicas: int, ready: int, phase: str, reason: str
) -> None:
    recorder.ready = ready
    seen = render(ControlPlaneSettings(replicas=replicas))
    assert (seen["ready"], seen["phase"]) == (ready, phase)
    (condition,) = seen["conditions"]
    assert (condition["component"], condition["type"]) == ("controlPlane", "ControlPlaneReady")
    assert (condition["status"] == "True", condition["reason"]) == (phase == "Ready", reason)


def test_E4_behind_a_closed_gate_fewer_pods_run_and_opening_it_only_adds_pods(
    recorder: Recorder,
) -> None:
    """Pods that run already are not restarted by a license."""
    closed = render(ControlPlaneSettings(replicas=3), replicas=1)
    before = recorder.one("Deployment")["spec"]
    assert (before["replicas"], closed["phase"]) == (1, "Ready")

    recorder.resources.clear()
    render(ControlPlaneSettings(replicas=3))
    after = recorder.one("Deployment")["spec"]
    assert (after["replicas"], after["template"]) == (3, before["template"])


def test_P2_names_at_the_limit_still_fit(recorder: Recorder) -> None:
    name = "n" * 63
    render(ControlPlaneSettings(name=name, namespace=name, tls=Tls(secret_names=(name,))))
    names = [r.inputs["metadata"]["name"] for r in recorder.resources if r.custom]
    (volume,) = recorder.one("Deployment")["spec"]["template"]["spec"]["volumes"]
    assert all(len(n) <= 63 for n in [*names, volume["name"]])
