"""The control plane on a real engine and a real API server: up, drift, repair, destroy."""

from typing import Any

import pytest
from pulumi.automation.errors import CommandError

from tests.engine.prerequisites import provide
from tests.engine_project import Project

pytestmark = pytest.mark.engine
IMAGE = "ghcr.io/coder/coder:v2.30.0"


def set_image(project: Project, image: str) -> None:
    """What a person would do with `kubectl set image`."""
    container = {"name": "coder", "image": image}
    change = {"spec": {"template": {"spec": {"containers": [container]}}}}
    project.cluster.patch(project.path("deployments", "coder"), change)


def live_image(project: Project) -> str:
    deployment = project.cluster.get(project.path("deployments", "coder"))
    assert deployment is not None
    return deployment["spec"]["template"]["spec"]["containers"][0]["image"]


def test_CP1_CP2_CP4_up_brings_a_ready_control_plane_and_is_then_done(project: Project) -> None:
    project.up()

    outputs = project.outputs()
    assert outputs["phase"] == "Ready"
    assert outputs["readyReplicas"] == 1
    assert outputs["url"] == f"http://coder.{project.namespace}.svc.cluster.local:80"
    assert outputs["image"] == IMAGE
    service = project.cluster.get(project.path("services", "coder"))
    assert service is not None
    assert (service["spec"]["type"], service["spec"]["ports"][0]["port"]) == ("ClusterIP", 80)
    deployment = project.cluster.get(project.path("deployments", "coder"))
    assert deployment is not None
    assert deployment["spec"]["replicas"] == deployment["status"]["readyReplicas"] == 1
    assert deployment["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "pulumi"

    assert project.preview().changes == []
    assert project.preview(refresh=True).changes == []


def test_CP1_every_object_is_a_child_of_the_component(project: Project) -> None:
    project.up()
    resources = project.state()["resources"]
    ours = [r for r in resources if r["type"].startswith("kubernetes:")]
    assert len(ours) == 6
    assert all("coder-stack:index:ControlPlane" in r["parent"] for r in ours)


def test_CP4_a_config_change_reaches_the_objects(project: Project) -> None:
    project.up()
    mirror = {"repository": "registry.example.com/coder"}
    project.configure({"image": mirror, "service": {"port": 8080}})
    outcome = project.up()

    assert {step.type.split(":")[-1] for step in outcome.changes} >= {"Deployment", "Service"}
    assert live_image(project) == "registry.example.com/coder:v2.30.0"
    assert project.outputs()["url"].endswith(":8080")
    assert project.preview(refresh=True).changes == []


def test_CP1_CP4_options_come_and_go_with_the_config(project: Project) -> None:
    """All in one update, in place: nothing is replaced, so nobody is cut off."""
    project.up()
    project.configure(
        {
            "accessUrl": "https://coder.example.com",
            "wildcardAccessUrl": "*.coder.example.com",
            "tls": {"secretNames": ["coder-tls"]},
            "env": {"CODER_VERBOSE": "true"},
            "livenessProbe": {"enabled": True},
            "tolerations": [{"key": "dedicated", "operator": "Exists"}],
            "labels": {"team": "platform"},
            "ingress": {"tlsSecretName": "coder-tls", "wait": False},
            "podDisruptionBudget": {},
            "networkPolicy": {},
        }
    )
    provide(project)
    outcome = project.up()

    assert {step.op for step in outcome.changes} == {"create", "update"}
    assert {step.name.split("-")[-1] for step in outcome.changes if step.op == "create"} == {
        "ingress",
        "budget",
        "policy",
    }
    assert project.outputs()["url"] == f"https://coder.{project.namespace}.svc.cluster.local:443"
    deployment = project.cluster.get(project.path("deployments", "coder"))
    assert deployment is not None
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert {"name": "CODER_VERBOSE", "value": "true"} in container["env"]
    assert container["livenessProbe"]["httpGet"]["port"] == "http"
    assert project.preview(refresh=True).changes == []

    project.configure()
    outcome = project.up()
    assert {step.op for step in outcome.changes} == {"delete", "update"}
    assert project.cluster.names(project.path("ingresses")) == []
    assert project.preview(refresh=True).changes == []


def test_D1_a_changed_image_is_named_with_both_values_and_repaired(project: Project) -> None:
    project.up()
    set_image(project, "example.invalid/evil:1")

    seen = project.preview(refresh=True)
    (drift,) = seen.of_kind("Deployment")
    assert list(drift.properties) == ["spec.template.spec.containers[0].image"]
    assert f'image: "example.invalid/evil:1" => "{IMAGE}"' in " ".join(seen.text.split())

    project.up(refresh=True)
    assert live_image(project) == IMAGE
    assert project.preview(refresh=True).changes == []


def test_D1_a_field_that_another_tool_took_over_is_named_and_taken_back(project: Project) -> None:
    """Whoever last wrote a field owns it; after an update of ours that would be a conflict."""
    project.up()
    project.configure({"replicas": 0})
    project.up()
    deployment = project.path("deployments", "coder")
    project.cluster.patch(deployment, {"spec": {"replicas": 5}}, manager="some-other-tool")

    (drift,) = project.preview(refresh=True).of_kind("Deployment")
    assert list(drift.properties) == ["spec.replicas"]

    project.up(refresh=True)
    live = project.cluster.get(deployment)
    assert live is not None
    assert live["spec"]["replicas"] == 0
    assert project.preview(refresh=True).changes == []


def test_D1_a_deleted_service_comes_back(project: Project) -> None:
    project.up()
    project.cluster.delete(project.path("services", "coder"))

    (drift,) = project.preview(refresh=True).of_kind("Service")
    assert drift.op == "create"

    project.up(refresh=True)
    assert project.cluster.get(project.path("services", "coder")) is not None
    assert project.preview(refresh=True).changes == []


def test_D1_rights_that_somebody_widened_are_named_and_taken_back(project: Project) -> None:
    project.up()
    role = project.path("roles", "coder-workspace-perms")
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    project.cluster.patch(role, {"rules": [everything]})

    (drift,) = project.preview(refresh=True).of_kind("Role")
    assert all(path.startswith("rules[") for path in drift.properties)

    project.up(refresh=True)
    live = project.cluster.get(role)
    assert live is not None
    assert "*" not in str(live["rules"])
    assert project.preview(refresh=True).changes == []


def test_D1_destroy_leaves_no_object_of_ours(project: Project) -> None:
    project.up()
    project.destroy()
    assert project.cluster.get(f"/api/v1/namespaces/{project.namespace}") is None
    assert project.state().get("resources", []) == []


def test_an_existing_namespace_is_used_and_survives(project: Project) -> None:
    namespace = f"/api/v1/namespaces/{project.namespace}"
    project.cluster.create("/api/v1/namespaces", {"metadata": {"name": project.namespace}})
    project.configure({"createNamespace": False})
    project.up()
    project.destroy()
    assert project.cluster.get(namespace) is not None
    for kind in ("deployments", "services", "roles", "rolebindings"):
        assert project.cluster.names(project.path(kind)) == []
    assert project.cluster.names(project.path("serviceaccounts")) == ["default"]


@pytest.mark.parametrize(
    ("control_plane", "others", "said"),
    [
        ({"repilcas": 2}, {}, "controlPlane.repilcas: is not a field; did you mean replicas?"),
        ({"replicas": "two"}, {}, "controlPlane.replicas: input should be a valid integer"),
        ({"name": "No_Name"}, {}, "controlPlane.name: must be a Kubernetes name"),
        ({}, {"licence": {}}, "licence: is not a field"),
        (
            {
                "accessUrl": "https://coder.example.com",
                "httpRoute": {"parentRefs": [{"name": "edge"}]},
            },
            {},
            "controlPlane.httpRoute: the cluster does not serve gateway.networking.k8s.io/v1 HTTP",
        ),
        (
            {},
            {"kubernetes": {"kubeconfig": "nowhere"}},
            "kubernetes.kubeconfig: nowhere cannot be read",
        ),
    ],
)
def test_B1_bad_input_ends_the_run_before_anything_changed(
    project: Project, control_plane: dict[str, Any], others: dict[str, Any], said: str
) -> None:
    project.configure(control_plane, **others)
    with pytest.raises(CommandError) as caught:
        project.up()
    assert said in str(caught.value)
    assert "Traceback" not in str(caught.value)
    assert project.cluster.get(f"/api/v1/namespaces/{project.namespace}") is None
    registered = [r["type"] for r in project.state().get("resources", [])]
    assert set(registered) <= {"pulumi:pulumi:Stack"}


def test_F5_settings_outside_of_config_end_the_run_before_anything_changed(
    project: Project,
) -> None:
    """Pulumi ignores them, so an update would deploy defaults."""
    project.configure({"replicas": -1})
    misplaced = "coder-stack:provisioners:\n  - name: eu\n"
    project.config_file.write_text(misplaced + project.config_file.read_text())
    with pytest.raises(CommandError) as caught:
        project.up()
    assert "2 mistakes in the stack's config; nothing was changed:" in str(caught.value)
    assert "coder-stack:provisioners: belongs under `config:`" in str(caught.value)
    assert "controlPlane.replicas: " in str(caught.value)
    assert project.cluster.get(f"/api/v1/namespaces/{project.namespace}") is None


def test_B1_a_cluster_that_does_not_answer_is_reported_before_anything_changed(
    project: Project,
) -> None:
    project.up()
    dead = project.folder / "dead"
    live = project.cluster.kubeconfig.read_text()
    with project.cluster.http() as http:
        dead.write_text(live.replace(f":{http.base_url.port}", ":1"))
    project.configure(kubernetes={"kubeconfig": str(dead)})
    before = project.state()

    with pytest.raises(CommandError) as caught:
        project.up()
    assert "kubernetes.kubeconfig: the API server https://127.0.0.1:1" in str(caught.value)
    assert "does not answer" in str(caught.value)
    assert project.state()["resources"] == before["resources"]
