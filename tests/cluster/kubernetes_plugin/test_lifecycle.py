"""Create, no change, update, delete: the whole life of objects in a real cluster."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.kubernetes_plugin.values import Object, as_object, dig
from tests.cluster.kubernetes_plugin import manifests
from tests.cluster.kubernetes_plugin.conftest import Kubectl
from tests.cluster.kubernetes_plugin.driver import Failure, Plugin, Secret, pb, start

pytestmark = pytest.mark.cluster


def test_a_created_object_has_an_id_and_its_live_state_as_outputs(
    plugin: Plugin, namespace: str
) -> None:
    created = plugin.create(manifests.config_map(namespace, "settings", a="1"))
    assert created.id == f"{namespace}/settings"
    assert dig(created.outputs, "data", "a") == "1"
    assert dig(created.outputs, "metadata", "uid")
    assert dig(created.outputs, "metadata", "managedFields") is None


def test_an_unchanged_program_changes_nothing(plugin: Plugin, namespace: str) -> None:
    """Defaults, quantities and fields that the server drops when empty must not show."""
    wanted = manifests.deployment(
        namespace,
        pod={"hostNetwork": False, "volumes": [{"name": "scratch", "emptyDir": {}}]},
        resources={"requests": {"cpu": "1000m", "memory": "1024Mi"}, "limits": {"cpu": 2}},
        env=[{"name": "EMPTY", "value": ""}, {"name": "FULL", "value": "x"}],
        args=[],
        ports=[{"containerPort": 8080}],
    )
    created = plugin.create(wanted)
    assert plugin.diff(created, wanted).changes == pb.DiffResponse.DIFF_NONE
    assert plugin.drift(created) == set()


def test_quantities_in_every_notation_are_what_the_server_answers(
    plugin: Plugin, namespace: str
) -> None:
    processors = ["1", "1000m", "0.5", "1.5", ".25", "1e3", "2E2", "1500m", "7m", "3k", 2, 0.1]
    memory = [
        "1Gi",
        "1024Mi",
        "1.5Gi",
        "1000Ki",
        "1Ki",
        "512",
        "1M",
        "1500k",
        "128974848",
        "0.581Gi",
    ]
    wanted = manifests.deployment(namespace, replicas=0)
    pod = as_object(dig(wanted, "spec", "template", "spec"))
    pod["containers"] = [
        manifests.container(name=f"c{index}", resources={"limits": {resource: amount}})
        for index, (resource, amount) in enumerate(
            [("cpu", amount) for amount in processors] + [("memory", amount) for amount in memory]
        )
    ]
    created = plugin.create(wanted)
    assert plugin.drift(created) == set()


def test_creating_an_object_that_exists_fails(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    """As the official plugin since 4.29; its preview does not notice."""
    kubectl("-n", namespace, "create", "configmap", "settings")
    plugin.preview_create(manifests.config_map(namespace, "settings"))
    with pytest.raises(Failure, match="already exists"):
        plugin.create(manifests.config_map(namespace, "settings"))


def test_upsert_adopts_an_object_that_exists(
    unconfigured: Plugin, kubeconfig: Path, namespace: str, kubectl: Kubectl
) -> None:
    kubectl("-n", namespace, "create", "configmap", "settings", "--from-literal=theirs=1")
    plugin = unconfigured.configure(kubeconfig=str(kubeconfig), upsertExistingObjects="true")
    created = plugin.create(manifests.config_map(namespace, "settings", ours="2"))
    assert created.outputs["data"] == {"ours": "2", "theirs": "1"}


def test_an_update_changes_and_removes_fields(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    before = manifests.deployment(namespace, labels={"old": "1", "kept": "1"}, replicas=0)
    after = manifests.deployment(namespace, labels={"new": "1", "kept": "1"}, replicas=0)
    created = plugin.create(before)
    changes = plugin.diff(created, after).detailedDiff
    assert {path: change.kind for path, change in changes.items()} == {
        "metadata.labels.new": pb.PropertyDiff.ADD,
        "metadata.labels.old": pb.PropertyDiff.DELETE,
    }
    plugin.update(created, after)
    live = json.loads(kubectl("-n", namespace, "get", "deployment", "app", "-o", "json"))
    assert live["metadata"]["labels"] == {"new": "1", "kept": "1"}


def test_a_second_removal_after_an_update_works_too(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    """The first update moves ownership from the create to the apply; the second relies on it."""
    resource = plugin.create(manifests.config_map(namespace, a="1", b="1", c="1"))
    resource = plugin.update(resource, manifests.config_map(namespace, a="1", b="1"))
    plugin.update(resource, manifests.config_map(namespace, a="2"))
    live = json.loads(kubectl("-n", namespace, "get", "configmap", "settings", "-o", "json"))
    assert live["data"] == {"a": "2"}


def test_a_field_manager_of_the_programs_choice_is_used(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    wanted = manifests.config_map(namespace, a="1")
    as_object(wanted["metadata"])["annotations"] = {"pulumi.com/patchFieldManager": "mine"}
    assert plugin.create(wanted).outputs["__fieldManager"] == "mine"
    path = "jsonpath={.metadata.managedFields[*].manager}"
    assert kubectl("-n", namespace, "get", "configmap", "settings", "-o", path) == "mine"


def test_a_secret_is_secret_in_inputs_and_outputs(plugin: Plugin, namespace: str) -> None:
    created = plugin.create(manifests.secret(namespace, key="hunter2-secret"))
    stored_inputs = as_object(created.outputs["__inputs"])
    for place in (created.inputs, created.outputs, stored_inputs):
        assert isinstance(place["data"], Secret)
        assert "stringData" not in place
    assert created.outputs["data"] == Secret({"key": "aHVudGVyMi1zZWNyZXQ="})


def test_a_secret_among_other_values_stays_secret(plugin: Plugin, namespace: str) -> None:
    created = plugin.create(manifests.config_map(namespace, open="1", hidden=Secret("2")))
    assert created.inputs["data"] == {"open": "1", "hidden": Secret("2")}
    assert created.outputs["data"] == {"open": "1", "hidden": Secret("2")}


def test_an_unknown_field_is_refused(plugin: Plugin, namespace: str) -> None:
    wrong = manifests.service(namespace, sellector={"app": "typo"})
    with pytest.raises(Failure, match="sellector"):
        plugin.preview_create(wrong)
    with pytest.raises(Failure, match="sellector"):
        plugin.create(wrong)


def test_a_missing_kind_is_named(plugin: Plugin, namespace: str) -> None:
    route: Object = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": manifests.metadata(namespace, "route"),
    }
    assert plugin.preview_create(route)["kind"] == "HTTPRoute"
    with pytest.raises(Failure, match='no matches for kind "HTTPRoute" in version "gateway'):
        plugin.create(route)


def test_custom_resources_work_once_their_definition_is_there(
    plugin: Plugin, namespace: str
) -> None:
    group = f"{namespace}.example.com"
    definition: Object = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "x_kubernetes_preserve_unknown_fields": True,
                        }
                    },
                }
            ],
        },
    }
    widget: Object = {
        "apiVersion": f"{group}/v1",
        "kind": "Widget",
        "metadata": manifests.metadata(namespace, "one"),
        "spec": {"size": 3},
    }
    defined = plugin.create(definition)
    assert plugin.diff(defined, definition).changes == pb.DiffResponse.DIFF_NONE
    created = plugin.create(widget)
    assert plugin.drift(created) == set()
    plugin.delete(defined)
    assert plugin.refresh(created) is None, "with the definition the object is gone"
    plugin.delete(created)


def test_twenty_resources_at_once(plugin: Plugin, namespace: str) -> None:
    def live(number: int) -> str:
        wanted = manifests.deployment(namespace, f"app-{number}")
        return plugin.create(wanted, name=f"app-{number}").id

    with ThreadPoolExecutor(20) as pool:
        ids = list(pool.map(live, range(20)))
    assert ids == [f"{namespace}/app-{number}" for number in range(20)]


def test_a_deleted_object_is_gone_and_deleting_it_again_is_no_error(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    created = plugin.create(manifests.deployment(namespace))
    plugin.delete(created)
    assert kubectl("-n", namespace, "get", "deployment,replicaset,pod", "-o", "name") == ""
    plugin.delete(created)


def test_deletion_waits_and_names_the_finalizer_that_holds_the_object(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    held = manifests.config_map(namespace)
    as_object(held["metadata"])["finalizers"] = ["example.com/hold"]
    created = plugin.create(held)
    with pytest.raises(Failure, match=r"still exists after 1 s.*example\.com/hold"):
        plugin.delete(created, timeout=1)
    kubectl(
        "-n", namespace, "patch", "configmap", "settings", "--type=json",
        '-p=[{"op":"remove","path":"/metadata/finalizers"}]',
    )  # fmt: skip
    plugin.delete(created)


def test_orphaning_leaves_what_belongs_to_the_object(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    policy: Object = {"pulumi.com/deletionPropagationPolicy": "orphan"}
    created = plugin.create(manifests.deployment(namespace, annotations=policy))
    plugin.delete(created)
    assert kubectl("-n", namespace, "get", "replicaset", "-o", "name") != ""


def test_an_autonamed_object_keeps_its_name_over_updates(plugin: Plugin, namespace: str) -> None:
    nameless = manifests.config_map(namespace, a="1")
    del as_object(nameless["metadata"])["name"]
    created = plugin.create(nameless, name="settings")
    assert created.id.startswith(f"{namespace}/settings-")
    as_object(nameless["data"])["a"] = "2"
    updated = plugin.update(created, nameless)
    assert dig(updated.inputs, "metadata", "name") == dig(created.inputs, "metadata", "name")


def test_the_plugin_starts_and_answers_what_the_engine_asks_first(tmp_path: Path) -> None:
    plugin = start(tmp_path)
    try:
        hello = plugin.call("Handshake", pb.ProviderHandshakeRequest(engine_address=""))
        assert hello.accept_secrets
        info = plugin.call("GetPluginInfo", pb.ProviderHandshakeRequest())
        assert info.version.startswith("4.")
    finally:
        plugin.stop()


def test_what_only_the_official_plugin_can_do_is_refused_by_name(plugin: Plugin) -> None:
    with pytest.raises(Failure, match=r"helm:template.*use the official plugin") as refused:
        plugin.call("Invoke", pb.InvokeRequest(tok="kubernetes:helm:template"))
    assert refused.value.code.name == "UNIMPLEMENTED"
    urn = "urn:pulumi:test::project::kubernetes:core/v1:NamespacePatch::thing"
    request = pb.CheckRequest(urn=urn)
    request.news.update({"apiVersion": "v1", "kind": "Namespace"})
    with pytest.raises(Failure, match=r"Patch resource .*official plugin"):
        plugin.call("Check", request)
