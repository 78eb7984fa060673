"""Who owns which field, and whose fields an update takes over."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sandbox.kubernetes_plugin import field_managers
from sandbox.kubernetes_plugin.values import Object


def entry(manager: str, operation: str, fields: Object, **more: Any) -> Object:
    return {"manager": manager, "operation": operation, "fieldsV1": fields, **more}


def live(*entries: Object) -> Object:
    return {"metadata": {"managedFields": list(entries)}}


def test_our_create_and_kubectl_are_taken_over_and_others_stay() -> None:
    ours = entry("pulumi-kubernetes-1", "Update", {"f:data": {"f:a": {}}})
    kubectl = entry("kubectl-set", "Update", {"f:data": {"f:b": {}}})
    controller = entry("kube-controller-manager", "Update", {"f:status": {}})
    scaled = entry("kubectl", "Update", {"f:spec": {}}, subresource="scale")
    result = field_managers.taken_over(
        live(ours, kubectl, controller, scaled), "pulumi-kubernetes-1"
    )
    assert result == [
        controller,
        scaled,
        entry("pulumi-kubernetes-1", "Apply", {"f:data": {"f:a": {}, "f:b": {}}}),
    ]


def test_nothing_to_take_over_is_no_change() -> None:
    applied = entry("me", "Apply", {"f:data": {}})
    assert field_managers.taken_over(live(applied), "me") is None


def test_an_owned_leaf_and_owned_children_give_an_owned_node_with_children() -> None:
    leaf = entry("me", "Apply", {"f:data": {}})
    inner = entry("kubectl-edit", "Update", {"f:data": {"f:a": {}}})
    result = field_managers.taken_over(live(leaf, inner), "me")
    assert result == [entry("me", "Apply", {"f:data": {"f:a": {}, ".": {}}})]


FIELDS = st.recursive(
    st.just({}),
    lambda inner: st.dictionaries(st.sampled_from(["f:a", "f:b", "f:c"]), inner, max_size=3),
)


def owned_paths(fields: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    children = {key: value for key, value in fields.items() if key != "."}
    own = {path} if not children or "." in fields else set()
    return own.union(*(owned_paths(value, (*path, key)) for key, value in children.items()))


@given(FIELDS, FIELDS)
def test_taking_over_loses_no_field_and_invents_none(mine: Any, theirs: Any) -> None:
    result = field_managers.taken_over(
        live(entry("me", "Apply", {"f:x": mine}), entry("kubectl", "Update", {"f:x": theirs})), "me"
    )
    assert result is not None
    merged = result[0]
    assert isinstance(merged, dict)
    assert owned_paths(merged["fieldsV1"]) == (
        owned_paths({"f:x": mine}) | owned_paths({"f:x": theirs})
    )


def test_ownership_is_asked_by_path() -> None:
    obj = live(
        entry("me", "Apply", {"f:spec": {"f:a": {}}}),
        entry("kubectl", "Update", {"f:spec": {"f:replicas": {}}}, subresource="scale"),
    )
    assert field_managers.owns(obj, ["spec", "a"], by="me")
    assert not field_managers.owns(obj, ["spec", "replicas"], by="me")
    assert field_managers.others_own(obj, ["spec", "replicas"], than="me")


def test_a_create_by_us_is_recognised() -> None:
    assert field_managers.created_by_us(live(entry("pulumi-kubernetes-12", "Update", {})))
    assert not field_managers.created_by_us(live(entry("pulumi-kubernetes-12", "Apply", {})))
