"""Previews: validated by the server where it can, never more certain than the update will be."""

import pytest

from sandbox.kubernetes_plugin.values import UNKNOWN, Object, as_object, dig
from tests.cluster.kubernetes_plugin import manifests
from tests.cluster.kubernetes_plugin.conftest import Kubectl
from tests.cluster.kubernetes_plugin.driver import Failure, Plugin, pb

pytestmark = pytest.mark.cluster


def test_a_preview_creates_nothing(plugin: Plugin, namespace: str, kubectl: Kubectl) -> None:
    plugin.preview_create(manifests.deployment(namespace))
    assert kubectl("-n", namespace, "get", "deployment", "-o", "name") == ""


def test_dependants_see_what_is_certain_and_nothing_that_is_not(
    plugin: Plugin, namespace: str
) -> None:
    """A dry run makes up an address and a uid; showing them would be a lie."""
    shown = plugin.preview_create(manifests.service(namespace, selector={"app": "x"}))
    assert dig(shown, "metadata", "name") == "web"
    assert dig(shown, "spec", "type") == "ClusterIP"
    assert dig(shown, "spec", "clusterIP") is UNKNOWN
    assert dig(shown, "metadata", "uid") is UNKNOWN
    assert dig(shown, "metadata", "resourceVersion") is UNKNOWN
    assert "status" not in shown


def test_a_chosen_address_is_certain(plugin: Plugin, namespace: str) -> None:
    shown = plugin.preview_create(manifests.service(namespace, clusterIP="None"))
    assert dig(shown, "spec", "clusterIP") == "None"


def test_unknown_inputs_pass_through(plugin: Plugin, namespace: str) -> None:
    wanted = manifests.deployment(namespace, image=UNKNOWN)
    shown = plugin.preview_create(wanted)
    assert dig(shown, "spec", "template", "spec", "containers") == [
        {"name": "app", "image": UNKNOWN}
    ]


def test_an_unknown_name_is_not_replaced_by_an_autoname(plugin: Plugin, namespace: str) -> None:
    wanted = manifests.config_map(namespace)
    as_object(wanted["metadata"])["name"] = UNKNOWN
    assert dig(plugin.check(wanted).inputs, "metadata", "name") is UNKNOWN


def test_an_unknown_value_shows_as_a_change(plugin: Plugin, namespace: str) -> None:
    created = plugin.create(manifests.config_map(namespace, a="1", b="1"))
    changes = plugin.diff(created, manifests.config_map(namespace, a="1", b=UNKNOWN)).detailedDiff
    assert {path: change.kind for path, change in changes.items()} == {
        "data.b": pb.PropertyDiff.UPDATE
    }


def test_a_namespace_that_is_still_to_come_is_no_error(plugin: Plugin) -> None:
    wanted = manifests.config_map("not-there-yet", a="1")
    assert plugin.preview_create(wanted)["data"] == {"a": "1"}
    namespace: Object = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "not-there-yet"},
    }
    assert dig(plugin.preview_create(namespace), "metadata", "name") == "not-there-yet"


def test_the_server_validates(plugin: Plugin, namespace: str) -> None:
    with pytest.raises(Failure, match="Invalid value"):
        plugin.preview_create(manifests.config_map(namespace, "Not A Name"))
    mismatched = manifests.deployment(namespace)
    as_object(mismatched["spec"])["selector"] = {"matchLabels": {"app": "another"}}
    with pytest.raises(Failure, match=r"selector.*does not match"):
        plugin.preview_create(mismatched)


def test_an_update_is_previewed_without_being_made(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    created = plugin.create(manifests.config_map(namespace, a="1"))
    shown = plugin.update(created, manifests.config_map(namespace, a="2"), preview=True)
    assert dig(shown.outputs, "data", "a") == "2"
    live = kubectl("-n", namespace, "get", "configmap", "settings", "-o", "jsonpath={.data.a}")
    assert live == "1"


def test_a_refused_update_keeps_the_object_known(plugin: Plugin, namespace: str) -> None:
    created = plugin.create(manifests.service(namespace))
    with pytest.raises(Failure, match=r"spec\.clusterIP") as failure:
        plugin.update(created, manifests.service(namespace, clusterIP="10.96.200.200"))
    assert failure.value.init.id == created.id
    uid = dig(created.outputs, "metadata", "uid")
    assert dig(failure.value.outputs, "metadata", "uid") == uid
