"""What counts as a change, and under which path the engine prints it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.kubernetes_plugin.difference import Change, difference, format_path, parse_path
from sandbox.kubernetes_plugin.pruning import prune
from sandbox.kubernetes_plugin.values import UNKNOWN
from tests.unit.kubernetes_plugin.trees import OBJECTS, VALUES, with_extras


def changes(old: Any, new: Any, *replacing: str, ignored: tuple[str, ...] = ()) -> dict[str, str]:
    found = difference(old, new, replacing, ignored)
    return {path: change.name for path, change in found.changes.items()}


@given(OBJECTS)
def test_nothing_changed_is_no_change(obj: dict[str, Any]) -> None:
    assert changes(obj, obj) == {}


@given(OBJECTS, VALUES)
def test_what_others_added_to_our_object_is_no_change(obj: dict[str, Any], extra: Any) -> None:
    """The heart of refresh: only fields that our inputs name can drift."""
    live = with_extras(obj, extra)
    assert changes(prune(live, obj), obj) == {}


@given(OBJECTS)
def test_pruning_to_the_own_shape_changes_nothing(obj: dict[str, Any]) -> None:
    assert prune(obj, obj) == obj


def test_each_kind_of_change_has_its_path() -> None:
    old = {"spec": {"gone": 1, "kept": 1, "changed": [{"a": 1}, {"a": 2}]}}
    new = {"spec": {"added": {"deep": 1}, "kept": 1, "changed": [{"a": 1}, {"a": 3}]}}
    assert changes(old, new) == {
        "spec.added": "ADD",
        "spec.changed[1].a": "UPDATE",
        "spec.gone": "DELETE",
    }


def test_list_elements_are_compared_by_position() -> None:
    assert changes({"a": [1, 2, 3]}, {"a": [1, 9]}) == {"a[1]": "UPDATE", "a[2]": "DELETE"}
    assert changes({"a": [1]}, {"a": [1, 2]}) == {"a[1]": "ADD"}


def test_a_value_that_becomes_unknown_is_an_update() -> None:
    assert changes({"a": "1"}, {"a": UNKNOWN}) == {"a": "UPDATE"}
    assert changes({}, {"a": UNKNOWN}) == {"a": "ADD"}


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [(1, 1.0, True), (1, True, False), (0, False, False), ("1", 1, False), (0, "", False)],
)
def test_equality_is_that_of_json(old: Any, new: Any, same: bool) -> None:
    assert (changes({"a": old}, {"a": new}) == {}) is same


def test_ignored_paths_hide_everything_below_them() -> None:
    old = {"spec": {"replicas": 1, "list": [{"a": 1, "b": 1}]}}
    new = {"spec": {"replicas": 2, "list": [{"a": 2, "b": 2}]}}
    assert changes(old, new, ignored=("spec.replicas", "spec.list[*].a")) == {
        "spec.list[0].b": "UPDATE"
    }


def test_a_change_that_replaces_says_so() -> None:
    found = difference({"a": {"b": 1}}, {"a": {"b": 2}}, ("a.b",))
    assert found.changes == {"a.b": Change.UPDATE_REPLACE}
    assert found.replaces == ["a.b"]


def test_keys_with_special_characters_are_quoted() -> None:
    path = ("metadata", "labels", "app.kubernetes.io/name", 'q"uote')
    assert format_path(path) == 'metadata.labels["app.kubernetes.io/name"]["q\\"uote"]'


STEPS = st.text(st.characters(codec="ascii", exclude_characters="\\*"), min_size=1) | st.integers(
    0, 99
)


@given(st.text("abcXYZ", min_size=1), st.lists(STEPS, max_size=5))
def test_a_formatted_path_can_be_read_back(first: str, rest: list[Any]) -> None:
    path = (first, *rest)
    assert parse_path(format_path(path)) == path
