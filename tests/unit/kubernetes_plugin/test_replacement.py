"""Which changes replace an object."""

from typing import Any

import pytest

from sandbox.kubernetes_plugin.difference import difference
from sandbox.kubernetes_plugin.replacement import Mutability, replacing_paths
from sandbox.kubernetes_plugin.values import Object

DEPLOYMENT = ("apps/v1", "Deployment")
SERVICE = ("v1", "Service")
SECRET = ("v1", "Secret")
CONFIG_MAP = ("v1", "ConfigMap")
POD = ("v1", "Pod")
CLAIM = ("v1", "PersistentVolumeClaim")
RBAC = "rbac.authorization.k8s.io/v1"


def replaced_by(
    kind: tuple[str, str], old: Object, new: Object, mutability: Mutability | None = None
) -> list[str]:
    head: Object = {"apiVersion": kind[0], "kind": kind[1]}
    patterns = replacing_paths({**head, **new}, mutability or Mutability())
    return difference({**head, **old}, {**head, **new}, patterns).replaces


def at(path: str, value: Any) -> Object:
    """An object with that value at a dotted path; a number is a list with one element."""
    for step in reversed(path.split(".")):
        value = [value] if step == "0" else {step: value}
    return value


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (DEPLOYMENT, "metadata.name"),
        (DEPLOYMENT, "metadata.namespace"),
        (DEPLOYMENT, "spec.selector.matchLabels.app"),
        (("apps/v1", "StatefulSet"), "spec.serviceName"),
        (("apps/v1", "DaemonSet"), "spec.selector.matchLabels.app"),
        (SERVICE, "spec.clusterIP"),
        (SECRET, "type"),
        (SECRET, "data.key"),
        (CONFIG_MAP, "data.key"),
        (CONFIG_MAP, "binaryData.key"),
        ((RBAC, "RoleBinding"), "roleRef.name"),
        ((RBAC, "ClusterRoleBinding"), "roleRef.kind"),
        (("batch/v1", "Job"), "spec.template.spec.restartPolicy"),
        (("batch/v1", "Job"), "spec.completions"),
        (CLAIM, "spec.storageClassName"),
        (POD, "spec.containers.0.image"),
        (POD, "spec.containers.0.env.0.value"),
        (POD, "spec.volumes.0.name"),
    ],
)
def test_a_change_here_replaces(kind: tuple[str, str], path: str) -> None:
    assert replaced_by(kind, at(path, "a"), at(path, "b"))


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (DEPLOYMENT, "spec.template.spec.containers.0.image"),
        (DEPLOYMENT, "metadata.labels.app"),
        (SERVICE, "spec.ports.0.port"),
        (SERVICE, "spec.selector.app"),
        (SECRET, "metadata.labels.app"),
        (CLAIM, "spec.resources.requests.storage"),
        (POD, "metadata.labels.app"),
        ((RBAC, "RoleBinding"), "subjects.0.name"),
        (("example.com/v1", "Widget"), "spec.anything"),
    ],
)
def test_a_change_here_is_made_in_place(kind: tuple[str, str], path: str) -> None:
    assert replaced_by(kind, at(path, "a"), at(path, "b")) == []


def test_a_field_that_comes_or_goes_with_its_whole_map_replaces_too() -> None:
    selector: Object = {"spec": {"clusterIP": "None"}}
    assert replaced_by(SERVICE, {}, selector) == ["spec"]
    assert replaced_by(SERVICE, selector, {}) == ["spec"]
    assert replaced_by(SERVICE, {}, {"spec": {"type": "ClusterIP"}}) == []


def test_a_provider_may_be_told_that_secrets_and_config_maps_are_mutable() -> None:
    old, new = at("data.key", "a"), at("data.key", "b")
    mutable = Mutability(secrets=True, config_maps=True)
    assert replaced_by(SECRET, old, new, mutable) == []
    assert replaced_by(CONFIG_MAP, old, new, mutable) == []
    assert replaced_by(SECRET, at("type", "a"), at("type", "b"), mutable) == ["type"]


def test_an_object_that_is_marked_immutable_is_replaced_all_the_same() -> None:
    old, new = (
        {**at("data.key", "a"), "immutable": True},
        {**at("data.key", "b"), "immutable": True},
    )
    mutable = Mutability(secrets=True, config_maps=True)
    assert replaced_by(SECRET, old, new, mutable) == ["data.key"]
    assert replaced_by(CONFIG_MAP, old, new, mutable) == ["data.key"]
