"""Props and models: floats, missing keys, unknowns, secrets."""

from typing import Any

import pulumi
from hypothesis import given
from hypothesis import strategies as st
from pulumi.output import Unknown
from pydantic import Field

from coder_stack.dynamic.runtime.props import PropsModel, PropsSecret, parse, read_known, to_props

SECRET = "correct-horse-battery"


class Thing(PropsModel):
    name: str
    days: int = Field(default=30, ge=0)
    tags: dict[str, str] = Field(default_factory=dict)
    key: PropsSecret | None = None


def test_whole_numbers_arrive_as_floats_and_providers_get_ints() -> None:
    assert parse(Thing, {"name": "a", "days": 3.0, "__provider": "x"}).days == 3


def test_keys_without_a_value_vanish_both_ways() -> None:
    assert parse(Thing, {"name": "a", "key": None}) == Thing(name="a")
    assert to_props(Thing(name="a")) == {"name": "a", "days": 30, "tags": {}}


def test_L9_a_secret_shows_only_in_the_props() -> None:
    thing = parse(Thing, {"name": "a", "key": SECRET})
    assert Thing.secret_fields() == ["key"]
    assert SECRET not in repr(thing)
    assert SECRET not in str(thing.model_dump())
    assert to_props(thing)["key"] == SECRET


def test_what_is_unknown_is_left_out_and_the_rest_is_read() -> None:
    known, whole, problems = read_known(Thing, {"name": Unknown(), "days": 3.0})
    assert (dict(known), whole, problems) == ({"days": 3, "tags": {}, "key": None}, None, [])


def test_an_unknown_deep_inside_hides_its_whole_field() -> None:
    known, _, _ = read_known(Thing, {"name": "a", "tags": {"x": Unknown()}})
    assert "tags" not in known
    assert known["name"] == "a"


def test_problems_are_found_beside_unknowns_and_name_their_field() -> None:
    _, _, problems = read_known(Thing, {"name": Unknown(), "days": -1.0})
    assert [path for path, _ in problems] == ["days"]
    _, _, problems = read_known(Thing, {"days": Unknown()})
    assert problems == [("name", "is required")]


def test_L9_a_problem_with_a_secret_names_no_property_whose_value_would_be_printed() -> None:
    ((path, message),) = read_known(Thing, {"name": "a", "key": [SECRET]})[2]
    assert path == ""
    assert message.startswith("key: ")
    assert SECRET not in message


things: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"name": st.text()},
    optional={
        "days": st.integers(0, 10**6).map(float),
        "tags": st.dictionaries(st.text(), st.text()),
        "key": st.text() | st.none(),
    },
)


@given(things)
def test_reading_what_was_written_changes_nothing(values: dict[str, Any]) -> None:
    once = to_props(parse(Thing, values))
    assert to_props(parse(Thing, once)) == once
    assert not pulumi.contains_unknowns(once)
