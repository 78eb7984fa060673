"""What a refresh sees: real drift at its path, and nothing that others own."""

import json
from pathlib import Path

import pytest

from sandbox.kubernetes_plugin.values import Secret, as_object, dig, reveal
from tests.cluster.kubernetes_plugin import manifests
from tests.cluster.kubernetes_plugin.conftest import Kubectl, kubeconfig_with_token
from tests.cluster.kubernetes_plugin.driver import Failure, Plugin, Resource, pb

pytestmark = pytest.mark.cluster
IMAGE = "spec.template.spec.containers[0].image"


def test_a_changed_image_shows_at_its_path(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    created = plugin.create(manifests.deployment(namespace, replicas=0))
    kubectl("-n", namespace, "set", "image", "deployment/app", "app=evil:1")
    seen = plugin.refresh(created)
    assert seen is not None
    assert plugin.drift(created) == {IMAGE}
    containers = dig(seen.inputs, "spec", "template", "spec", "containers")
    assert containers == [{"name": "app", "image": "evil:1"}], "the old value that is printed"


def test_what_others_own_does_not_show(plugin: Plugin, namespace: str, kubectl: Kubectl) -> None:
    """A label, an annotation, an extra variable: not in our inputs, so not ours to report."""
    created = plugin.create(
        manifests.deployment(
            namespace, replicas=0, labels={"ours": "1"}, env=[{"name": "A", "value": "1"}]
        )
    )
    kubectl("-n", namespace, "label", "deployment", "app", "theirs=1")
    kubectl("-n", namespace, "annotate", "deployment", "app", "theirs=1")
    kubectl("-n", namespace, "set", "env", "deployment/app", "B=2")
    assert plugin.drift(created) == set()


def test_a_removed_field_shows(plugin: Plugin, namespace: str, kubectl: Kubectl) -> None:
    created = plugin.create(manifests.deployment(namespace, replicas=0, labels={"ours": "1"}))
    kubectl("-n", namespace, "label", "deployment", "app", "ours-")
    assert plugin.drift(created) == {"metadata.labels"}, "it was the only label"


def test_a_tampered_secret_shows_and_is_never_plain(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    created = plugin.create(manifests.secret(namespace, key="hunter2-secret", other="x"))
    assert plugin.drift(created) == set(), "string data that became data is no drift"
    kubectl("-n", namespace, "patch", "secret", "credentials", '-p={"data":{"key":"ZXZpbA=="}}')
    assert plugin.drift(created) == {"data.key"}
    seen = plugin.refresh(created)
    assert seen is not None
    assert isinstance(seen.inputs["data"], Secret)
    assert isinstance(seen.outputs["data"], Secret)
    assert dig(reveal(seen.inputs), "data", "key") == "ZXZpbA=="


def test_replicas_left_to_an_autoscaler_do_not_show(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    unscaled = manifests.deployment(namespace)
    del as_object(unscaled["spec"])["replicas"]
    created = plugin.create(unscaled)
    kubectl("-n", namespace, "scale", "deployment/app", "--replicas=0")
    assert plugin.drift(created) == set()


def test_drift_by_kubectl_is_repaired(plugin: Plugin, namespace: str, kubectl: Kubectl) -> None:
    wanted = manifests.deployment(namespace, replicas=0)
    created = plugin.create(wanted)
    kubectl("-n", namespace, "set", "image", "deployment/app", "app=evil:1")
    seen = plugin.refresh(created)
    assert seen is not None
    plugin.update(seen, wanted, preview=True)
    repaired = plugin.update(seen, wanted)
    assert plugin.drift(repaired) == set()


def _owned_by_somebody_else(plugin: Plugin, namespace: str, kubectl: Kubectl) -> Resource:
    created = plugin.create(manifests.config_map(namespace, a="1"))
    updated = plugin.update(created, manifests.config_map(namespace, a="2"))
    kubectl(
        "-n", namespace, "patch", "configmap", "settings", "--field-manager=somebody",
        '-p={"data":{"a":"3"}}',
    )  # fmt: skip
    return updated


def test_a_field_that_another_manager_took_is_a_conflict_that_names_it(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    taken = _owned_by_somebody_else(plugin, namespace, kubectl)
    wanted = manifests.config_map(namespace, a="4")
    for preview in (True, False):
        with pytest.raises(Failure, match=r'conflict with "somebody".*\.data\.a.*patchForce'):
            plugin.update(taken, wanted, preview=preview)


def test_patch_force_takes_the_field_over(plugin: Plugin, namespace: str, kubectl: Kubectl) -> None:
    taken = _owned_by_somebody_else(plugin, namespace, kubectl)
    forced = manifests.config_map(namespace, a="4")
    as_object(forced["metadata"])["annotations"] = {"pulumi.com/patchForce": "true"}
    plugin.update(taken, forced, preview=True)
    assert dig(plugin.update(taken, forced).outputs, "data", "a") == "4"


def test_the_provider_option_forces_every_patch(
    unconfigured: Plugin, kubeconfig: Path, namespace: str, kubectl: Kubectl
) -> None:
    plugin = unconfigured.configure(
        kubeconfig=str(kubeconfig), enablePatchForce="true", enableConfigMapMutable="true"
    )
    taken = _owned_by_somebody_else(plugin, namespace, kubectl)
    updated = plugin.update(taken, manifests.config_map(namespace, a="4"))
    assert dig(updated.outputs, "data", "a") == "4"


def test_ignored_changes_neither_show_nor_conflict(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    wanted = manifests.deployment(namespace, replicas=1)
    created = plugin.create(wanted)
    kubectl("-n", namespace, "scale", "deployment/app", "--replicas=0")
    seen = plugin.refresh(created)
    assert seen is not None
    ignore = ["spec.replicas"]
    assert not plugin.diff(seen, wanted, ignore=ignore).detailedDiff
    relabelled = manifests.deployment(namespace, replicas=1, labels={"new": "1"})
    updated = plugin.update(seen, relabelled, ignore=ignore)
    assert dig(updated.outputs, "spec", "replicas") == 0


def test_a_deleted_object_is_gone(plugin: Plugin, namespace: str, kubectl: Kubectl) -> None:
    created = plugin.create(manifests.service(namespace))
    kubectl("-n", namespace, "delete", "service", "web")
    assert plugin.refresh(created) is None


def test_credentials_without_rights_are_an_error_not_an_absence(
    unconfigured: Plugin, plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    created = plugin.create(manifests.config_map(namespace))
    token = kubectl("-n", namespace, "create", "token", "default")
    weak = kubeconfig_with_token(kubectl, token)
    powerless = unconfigured.configure(kubeconfig=json.dumps(weak))
    with pytest.raises(Failure, match="forbidden"):
        powerless.refresh(created)


def test_a_preview_that_may_not_ask_the_server_shows_the_inputs(
    unconfigured: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    """Previews with read-only credentials must work; only the update needs more."""
    token = kubectl("-n", namespace, "create", "token", "default")
    weak = unconfigured.configure(kubeconfig=json.dumps(kubeconfig_with_token(kubectl, token)))
    shown = weak.preview_create(manifests.config_map(namespace, a="1"))
    assert shown["data"] == {"a": "1"}
    with pytest.raises(Failure, match="forbidden"):
        weak.create(manifests.config_map(namespace, a="1"))


def test_rejected_credentials_are_an_error_not_an_absence(
    unconfigured: Plugin, plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    created = plugin.create(manifests.config_map(namespace))
    wrong = unconfigured.configure(
        kubeconfig=json.dumps(kubeconfig_with_token(kubectl, "no-such-token"))
    )
    with pytest.raises(Failure, match="unreachable: Unauthorized"):
        wrong.refresh(created)


def test_an_existing_object_can_be_read_by_its_id(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    """`get` and import: no inputs and no state, only a type and an id."""
    kubectl("-n", namespace, "create", "secret", "generic", "theirs", "--from-literal=k=v")
    urn = "urn:pulumi:test::project::kubernetes:core/v1:Secret::theirs"
    found = plugin.refresh(Resource(urn, {}, f"{namespace}/theirs"))
    assert found is not None
    assert found.inputs["data"] == Secret({"k": "dg=="})
    assert found.inputs["metadata"] == {"name": "theirs", "namespace": namespace}
    assert plugin.diff_to_inputs(found, found.inputs).changes == pb.DiffResponse.DIFF_NONE
    missing = Resource(urn, {}, f"{namespace}/missing")
    assert plugin.refresh(missing) is None
