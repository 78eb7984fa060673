"""Provider options: where the cluster is, and what a change of options means."""

import json
import shutil
from pathlib import Path

import pytest

from sandbox.kubernetes_plugin.values import Object, dig
from tests.cluster.kubernetes_plugin import manifests
from tests.cluster.kubernetes_plugin.conftest import Kubectl
from tests.cluster.kubernetes_plugin.driver import UNKNOWN, Failure, Plugin, pb, struct

pytestmark = pytest.mark.cluster
PROVIDER = "urn:pulumi:test::project::pulumi:providers:kubernetes::k"


def _works(plugin: Plugin, namespace: str) -> bool:
    return bool(plugin.create(manifests.config_map(namespace)).id)


def test_the_kubeconfig_may_be_given_as_contents(
    unconfigured: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    contents = kubectl("config", "view", "--flatten", "-o", "json")
    assert _works(unconfigured.configure(kubeconfig=contents), namespace)


def test_a_relative_path_starts_at_the_working_directory(
    unconfigured: Plugin, namespace: str, tmp_path: Path, kubectl: Kubectl
) -> None:
    (tmp_path / "cluster").write_text(kubectl("config", "view", "--flatten"))
    assert _works(unconfigured.configure(kubeconfig="cluster"), namespace)


def test_the_default_namespace_is_the_option_then_the_contexts(
    unconfigured: Plugin, namespace: str, kubeconfig: Path, kubectl: Kubectl
) -> None:
    homeless: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}

    def chosen(**options: str) -> object:
        checked = unconfigured.configure(**options).check(homeless)
        return dig(checked.inputs, "metadata", "namespace")

    content = json.loads(kubectl("config", "view", "--flatten", "-o", "json"))
    content["contexts"][0]["context"]["namespace"] = "from-context"
    assert chosen(kubeconfig=str(kubeconfig)) == "default"
    assert chosen(kubeconfig=json.dumps(content)) == "from-context"
    assert chosen(kubeconfig=json.dumps(content), namespace=namespace) == namespace
    everywhere: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}
    assert dig(unconfigured.check(everywhere).inputs, "metadata", "namespace") is None


def test_another_context_can_be_chosen(
    unconfigured: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    content = json.loads(kubectl("config", "view", "--flatten", "-o", "json"))
    content["contexts"].append({"name": "good", "context": content["contexts"][0]["context"]})
    content["current-context"] = "missing"
    unconfigured.configure(kubeconfig=json.dumps(content))
    with pytest.raises(Failure, match='unreachable: the kubeconfig has no context "missing"'):
        unconfigured.create(manifests.config_map(namespace))
    assert _works(unconfigured.configure(kubeconfig=json.dumps(content), context="good"), namespace)


def test_a_cluster_that_does_not_answer_is_named(unconfigured: Plugin) -> None:
    server = "https://127.0.0.1:1"
    content = {
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "current-context": "x",
    }
    plugin = unconfigured.configure(kubeconfig=json.dumps(content))
    wanted = manifests.config_map("default")
    assert plugin.preview_create(wanted)["data"] == {"a": "1"}, "a preview shows the inputs"
    resource = plugin.check(wanted)
    resource.id = "default/settings"
    told = rf"configured Kubernetes cluster is unreachable: .*{server} does not answer"
    for operation in (plugin.create_checked, plugin.refresh, plugin.delete):
        with pytest.raises(Failure, match=told):
            operation(resource)


def test_an_unreachable_cluster_is_forgotten_only_on_request(unconfigured: Plugin) -> None:
    plugin = unconfigured.configure(kubeconfig="{}", deleteUnreachable="true")
    resource = plugin.check(manifests.config_map("default"))
    resource.id = "default/settings"
    assert plugin.refresh(resource) is None
    plugin.delete(resource)


def test_an_unreachable_cluster_can_be_skipped_on_request(unconfigured: Plugin) -> None:
    plugin = unconfigured.configure(kubeconfig="{}", skipUpdateUnreachable="true")
    known = plugin.check(manifests.config_map("default", a="1"))
    changed = plugin.check(manifests.config_map("default", a="2"), old=known.inputs)
    assert changed.inputs == known.inputs
    known.id, known.outputs = "default/settings", {"kept": "as it was"}
    assert plugin.refresh(known) == known


def test_secrets_are_replaced_unless_the_provider_may_change_them(
    unconfigured: Plugin, kubeconfig: Path, namespace: str
) -> None:
    plugin = unconfigured.configure(kubeconfig=str(kubeconfig))
    created = plugin.create(manifests.secret(namespace, key="old"))
    plan = plugin.diff(created, manifests.secret(namespace, key="new"))
    assert list(plan.replaces) == ["data.key"]
    assert plan.deleteBeforeReplace, "the name is fixed: the old one must go first"
    plugin.configure(kubeconfig=str(kubeconfig), enableSecretMutable="true")
    assert not plugin.diff(created, manifests.secret(namespace, key="new")).replaces


def test_an_autonamed_object_is_created_before_the_old_one_is_deleted(
    unconfigured: Plugin, kubeconfig: Path, namespace: str
) -> None:
    plugin = unconfigured.configure(kubeconfig=str(kubeconfig))
    nameless: Object = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"namespace": namespace},
        "data": {"a": "1"},
    }
    created = plugin.create(nameless)
    plan = plugin.diff(created, {**nameless, "data": {"a": "2"}})
    assert list(plan.replaces) == ["data.a"]
    assert not plan.deleteBeforeReplace


@pytest.mark.parametrize(
    ("option", "value"), [("enableServerSideApply", "false"), ("renderYamlToDirectory", "out")]
)
def test_options_that_cannot_be_honoured_are_refused(
    unconfigured: Plugin, option: str, value: str
) -> None:
    with pytest.raises(Failure, match=rf"{option}.*official plugin"):
        unconfigured.configure(**{option: value})


def test_an_option_that_the_sdk_does_not_have_is_refused(unconfigured: Plugin) -> None:
    request = pb.CheckRequest(urn=PROVIDER, news=struct({"kubeconfg": "x", "namespace": "y"}))
    failures = unconfigured.call("CheckConfig", request).failures
    assert [failure.property for failure in failures] == ["kubeconfg"]


def test_only_another_cluster_replaces_everything(
    unconfigured: Plugin, kubeconfig: Path, tmp_path: Path, kubectl: Kubectl
) -> None:
    def replaces(old: Object, new: Object) -> list[str]:
        request = pb.DiffRequest(urn=PROVIDER, olds=struct(old), news=struct(new))
        return list(unconfigured.call("DiffConfig", request).replaces)

    here: Object = {"kubeconfig": str(kubeconfig)}
    moved = tmp_path / "moved"
    shutil.copy(kubeconfig, moved)
    content = json.loads(kubectl("config", "view", "--raw", "-o", "json"))
    content["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    elsewhere: Object = {"kubeconfig": json.dumps(content)}
    assert replaces(here, {"kubeconfig": str(moved)}) == []
    assert replaces(here, {**here, "enableSecretMutable": "true"}) == []
    assert replaces(here, elsewhere) == ["kubeconfig"]
    assert replaces(here, {"kubeconfig": UNKNOWN}) == ["kubeconfig"]
    same: Object = {"clusterIdentifier": "one"}
    assert replaces({**here, **same}, {**elsewhere, **same}) == []
    assert replaces({**here, **same}, {**here, "clusterIdentifier": "two"}) == ["clusterIdentifier"]
