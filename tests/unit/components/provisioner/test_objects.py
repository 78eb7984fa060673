"""The Kubernetes objects of a provisioner (P1, P2)."""

from typing import Any

from coder_stack.settings import Image, KeySettings, ProvisionerSettings, SecretRef
from tests.unit.components import rendering
from tests.unit.components.provisioner.fleet import ISSUED, fleet, render
from tests.unit.components.rendering import Recorder


def environment(recorder: Recorder) -> dict[str, Any]:
    return {each["name"]: each for each in recorder.container()["env"]}


def test_P1_every_object_as_it_is_sent(licensed: Recorder) -> None:
    render(fleet())
    rendering.check_snapshot("provisioner", "default", licensed.manifests().values())


def test_P1_every_option_as_it_is_sent(licensed: Recorder) -> None:
    render(
        fleet(
            organization="ml",
            namespace="builders",
            replicas=3,
            key=KeySettings(name="gpu", tags={"gpu": "yes"}, secret_name="gpu-key", secret_key="k"),
            image=Image(repository="registry.test/coder", tag="v9", pull_secrets=("pull",)),
            url="https://coder.test",
            args=("--verbose",),
            env={"CODER_VERBOSE": "true"},
            secret_env={"HTTPS_PROXY": SecretRef(name="net", key="proxy")},
            labels={"team": "ml"},
            annotations={"note": "a"},
            pod_labels={"pod": "b"},
            pod_annotations={"note": "c"},
            service_account_annotations={"cloud/identity": "d"},
            node_selector={"kind": "gpu"},
            tolerations=({"key": "gpu", "operator": "Exists"},),
            ca_bundles=(SecretRef(name="corp-ca", key="ca.pem"),),
            termination_grace_period_seconds=1200,
            workspace_deployments=False,
            workspace_namespaces=("lab",),
        )
    )
    rendering.check_snapshot("provisioner", "every-option", licensed.manifests().values())


def test_every_snapshot_has_its_case() -> None:
    cases = ("default", "every-option", "not-entitled")
    assert rendering.snapshots_without_case("provisioner", cases) == []


def test_P1_the_daemon_gets_its_key_from_the_secret_and_its_name_from_the_pod(
    licensed: Recorder,
) -> None:
    render(fleet())
    env = environment(licensed)
    assert env["CODER_PROVISIONER_DAEMON_KEY"]["valueFrom"] == {
        "secretKeyRef": {"name": "fleet-provisioner-key", "key": "key"}
    }
    assert env["CODER_PROVISIONER_DAEMON_NAME"]["valueFrom"] == {
        "fieldRef": {"fieldPath": "metadata.name"}
    }
    assert env["CODER_URL"]["value"] == "http://coder.coder.svc.cluster.local:80"


def test_P1_neither_organization_nor_tags_stand_beside_the_key(licensed: Recorder) -> None:
    """The real daemon refuses to start with them."""
    render(fleet(organization="ml", key=KeySettings(tags={"gpu": "yes"})))
    assert environment(licensed).keys() == {
        "CODER_URL",
        "CODER_PROVISIONER_DAEMON_KEY",
        "CODER_PROVISIONER_DAEMON_NAME",
    }
    assert licensed.container()["args"] == ["provisionerd", "start"]


def test_P1_a_new_key_rolls_the_pods(licensed: Recorder) -> None:
    render(fleet())
    template = licensed.one("Deployment")["spec"]["template"]
    assert template["metadata"]["annotations"]["checksum/secret"] == ISSUED["material_sha256"]
    assert template["spec"]["terminationGracePeriodSeconds"] == 600


def test_P2_names_at_the_limit_fit_and_differ(licensed: Recorder) -> None:
    long = "n" * 63
    render(ProvisionerSettings(name=long))
    render(ProvisionerSettings(name=f"{'n' * 62}m"))
    named = [
        (r.typ, r.inputs["metadata"]["name"])
        for r in licensed.resources
        if r.typ.startswith("kubernetes:")
    ]
    assert all(len(name) <= 63 for _, name in named)
    assert len(set(named)) == len(named)
    labels = licensed.objects("Deployment")[0]["spec"]["selector"]["matchLabels"]
    assert labels["app.kubernetes.io/instance"] == long


def test_a_namespace_that_is_named_twice_gets_its_rights_once(licensed: Recorder) -> None:
    render(fleet(namespace="lab", workspace_namespaces=("lab", "dev")))
    places = [role["metadata"]["namespace"] for role in licensed.objects("Role")]
    assert sorted(places) == ["dev", "lab"]
