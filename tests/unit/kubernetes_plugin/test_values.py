"""Secrets and unknowns survive the wire, and secrets never get lost on the way out."""

from importlib import import_module
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sandbox.kubernetes_plugin import checkpoint
from sandbox.kubernetes_plugin.values import (
    UNKNOWN,
    UNKNOWN_STRINGS,
    Secret,
    carry_secrets,
    decode,
    encode,
    has_secret,
    has_unknown,
    reveal_object,
)
from tests.unit.kubernetes_plugin.trees import OBJECTS, SCALARS, VALUES

Struct: Any = import_module("google.protobuf.struct_pb2").Struct
SPECIAL = st.dictionaries(
    st.text("abc", min_size=1),
    VALUES | st.just(UNKNOWN) | st.builds(Secret, SCALARS | st.just(UNKNOWN)),
)


def sent(tree: dict[str, Any]) -> Any:
    message = Struct()
    message.update(encode(tree))
    return message


@given(SPECIAL)
def test_what_is_sent_arrives(tree: dict[str, Any]) -> None:
    assert decode(sent(tree)) == tree


def test_every_kind_of_unknown_is_recognised() -> None:
    message = Struct()
    message.update({str(number): text for number, text in enumerate(UNKNOWN_STRINGS)})
    assert set(decode(message).values()) == {UNKNOWN}
    assert len(UNKNOWN_STRINGS) == 7


def test_null_counts_as_absent() -> None:
    message = Struct()
    message.update({"a": None, "b": {"c": None}})
    assert decode(message) == {"b": {}}


@given(SPECIAL)
def test_revealing_leaves_no_secret_and_no_unknown_is_lost(tree: dict[str, Any]) -> None:
    plain = reveal_object(tree)
    assert not has_secret(plain)
    assert has_unknown(plain) == has_unknown(tree)


@given(SPECIAL)
def test_what_was_secret_in_the_inputs_is_secret_in_the_outputs(tree: dict[str, Any]) -> None:
    marked = carry_secrets(reveal_object(tree), tree)
    assert {key for key, value in tree.items() if has_secret(value)} == {
        key for key, value in marked.items() if has_secret(value)
    }


def test_only_the_secret_part_of_a_map_is_hidden_but_all_of_a_list() -> None:
    known = {"map": {"a": Secret("1"), "b": "2"}, "list": [Secret("1"), "2"]}
    assert carry_secrets({"map": {"a": "1", "b": "2"}, "list": ["2", "1"]}, known) == {
        "map": {"a": Secret("1"), "b": "2"},
        "list": Secret(["2", "1"]),
    }


def test_the_data_of_a_secret_is_hidden_whatever_the_program_said() -> None:
    live = {"kind": "Secret", "data": {"a": "MQ=="}, "stringData": {"b": "2"}, "type": "Opaque"}
    assert carry_secrets(live, {}) == {
        **live,
        "data": Secret({"a": "MQ=="}),
        "stringData": Secret({"b": "2"}),
    }


def test_a_secret_does_not_show_in_a_repr() -> None:
    assert "hunter2" not in repr({"a": Secret("hunter2")})


@given(OBJECTS, OBJECTS)
def test_a_stored_state_can_be_taken_apart_again(
    inputs: dict[str, Any], spec: dict[str, Any]
) -> None:
    live = {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": spec}
    stored = checkpoint.parse(checkpoint.build(inputs, live, {}, "manager", "v1"))
    assert stored == checkpoint.Checkpoint(inputs, live, "manager", "v1")


def test_ownership_records_are_not_stored() -> None:
    live = {"kind": "Thing", "metadata": {"name": "x", "managedFields": [{"manager": "me"}]}}
    assert checkpoint.build({}, live, {}, "m", "v1")["metadata"] == {"name": "x"}
