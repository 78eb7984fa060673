"""Which key is the same key: names, tags, age. Pure rules, so mostly properties."""

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coder_stack.coderd.key_identity import (
    KeySpec,
    due_after,
    generated_name,
    settle,
)
from coder_stack.coderd.names import LONGEST_KEY_NAME, RESERVED_KEY_NAMES, key_name_fault

TODAY = date(2026, 11, 16)
SPEC = KeySpec(
    base_name="fleet",
    organization="coder",
    tags={"region": "eu", "size": "big"},
    deployment_id="b5cbc2ba-1f5c-4b4c-8f3a-2f1d9a3e4c51",
)
DAYS = st.dates(date(2020, 1, 1), date(2060, 1, 1))
TAGS = st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=4)
NAMES = st.text("abcdefghijklmnopqrstuvwxyzABCXYZ0123456789-_. ", min_size=1, max_size=90).filter(
    lambda name: key_name_fault(name[:40]) is None
)
SPECS = st.builds(
    KeySpec,
    base_name=NAMES,
    exact_name=st.just(False),
    organization=st.text("abc-", min_size=1, max_size=10),
    tags=TAGS,
    deployment_id=st.uuids().map(str),
    trigger=st.text(max_size=5),
    rotate_after_days=st.none() | st.integers(1, 400),
)
# A busy machine is no fault of the rules.
UNHURRIED = settings(deadline=None)


def replace(spec: KeySpec, **changes: Any) -> KeySpec:
    return KeySpec.model_validate({**dict(spec), **changes})


def issued(spec: KeySpec = SPEC, on: date = TODAY) -> KeySpec:
    name, issued_on, _ = settle(spec, None, on)
    return replace(spec, name=name, issued_on=issued_on)


@UNHURRIED
@given(SPECS, st.text(max_size=64))
def test_P2_a_generated_name_is_one_that_coderd_takes_and_stores_as_it_is(
    spec: KeySpec, predecessor: str
) -> None:
    name = generated_name(spec, predecessor)

    assert len(name.encode()) <= LONGEST_KEY_NAME
    assert name == name.lower()
    assert name not in RESERVED_KEY_NAMES
    assert key_name_fault(name) is None


@UNHURRIED
@given(SPECS, DAYS, DAYS)
def test_U3_the_name_is_the_same_in_another_run_so_that_a_lost_key_is_found(
    spec: KeySpec, today: date, later: date
) -> None:
    shuffled = replace(spec, tags=dict(reversed(list(spec.tags.items()))))
    assert issued(shuffled, today).name == issued(spec, later).name


@UNHURRIED
@given(st.lists(st.sampled_from([SPEC, replace(SPEC, trigger="2")]), min_size=2, max_size=6))
def test_K9_no_two_keys_in_a_row_of_rotations_share_a_name(specs: list[KeySpec]) -> None:
    given_out = [""]
    for spec in specs:
        given_out.append(generated_name(spec, given_out[-1]))
    assert len(set(given_out)) == len(given_out)


def test_K8_stacks_have_names_of_their_own_and_a_key_that_exists_keeps_its_name() -> None:
    assert issued(replace(SPEC, owner="one")).name != issued(replace(SPEC, owner="two")).name
    held = issued()
    assert settle(replace(SPEC, owner="one"), held, TODAY)[0] == held.name


@pytest.mark.parametrize(
    ("was", "now", "moved"),
    [
        (("research", "u1"), ("lab", "u1"), False),
        (("research", "u1"), ("research", "u2"), True),
        (("research", None), ("lab", "u1"), True),
        (("research", None), ("research", "u1"), False),
    ],
)
def test_K10_an_organization_is_the_same_by_its_uuid_and_else_by_its_name(
    was: tuple[str, str | None], now: tuple[str, str | None], moved: bool
) -> None:
    before, after = (
        replace(SPEC, organization=name, organization_id=uuid) for name, uuid in (was, now)
    )
    differences = settle(after, issued(before), TODAY)[2]
    assert differences == (("organization",) if moved else ())


@UNHURRIED
@given(SPECS, DAYS)
def test_settling_what_is_settled_changes_nothing(spec: KeySpec, today: date) -> None:
    once = issued(spec, today)
    assert settle(spec, once, today) == (once.name, today, ())


@UNHURRIED
@given(TAGS)
def test_K3_tags_are_compared_without_their_order(tags: dict[str, str]) -> None:
    backwards = dict(reversed(list(tags.items())))
    held = issued(replace(SPEC, tags=tags))
    assert settle(replace(SPEC, tags=backwards), held, TODAY) == (held.name, TODAY, ())
    assert issued(replace(SPEC, tags=backwards)).name == held.name


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"organization": "other"}, "organization"),
        ({"base_name": "squad"}, "name"),
        ({"tags": {"region": "us", "size": "big"}}, "tags"),
        ({"deployment_id": "0c7f6cf7-91c0-4f2d-8f0e-5f1f5b1c7f00"}, "deployment_id"),
        ({"trigger": "leaked"}, "trigger"),
    ],
)
def test_K3_each_difference_is_named_and_gives_another_name(
    changed: dict[str, object], named: str
) -> None:
    held = issued()
    name, _, differences = settle(replace(SPEC, **changed), held, TODAY)

    assert differences == (named,)
    assert name != held.name, "create-before-delete needs a free name (K5)"


@UNHURRIED
@given(st.integers(1, 400), DAYS, st.integers(0, 800))
def test_K5_a_key_is_rotated_when_it_is_old_enough_and_not_a_day_before(
    days: int, issued_on: date, age: int
) -> None:
    spec = replace(SPEC, rotate_after_days=days)
    held = issued(spec, issued_on)
    today = issued_on + timedelta(days=age)
    name, _, differences = settle(spec, held, today, predecessor=held.name)

    due = age >= due_after(days, held.name)
    assert differences == (("issued_on",) if due else ())
    assert (name != held.name) == due


@UNHURRIED
@given(st.integers(1, 400), NAMES)
def test_K5_no_key_grows_older_than_asked_nor_is_replaced_long_before(days: int, name: str) -> None:
    assert days - days // 5 <= due_after(days, name) <= days


def test_K5_keys_that_were_made_on_one_day_do_not_fall_due_on_one_day() -> None:
    due = [due_after(90, f"fleet-{number}") for number in range(100)]
    assert len(set(due)) == 19, "on any of the last days"
    assert max(map(due.count, due)) < 20


def test_K5_a_new_rotation_period_does_not_rotate_a_young_key() -> None:
    held = issued()
    later = TODAY + timedelta(days=1)
    assert settle(replace(SPEC, rotate_after_days=30), held, later) == (held.name, TODAY, ())


def test_K5_a_key_replaced_for_another_reason_is_young_again() -> None:
    later = TODAY + timedelta(days=20)
    spec = replace(SPEC, rotate_after_days=30)
    assert settle(replace(spec, trigger="now"), issued(spec), later)[1] == later


def test_P2_an_exact_name_is_taken_as_coderd_stores_it() -> None:
    assert issued(replace(SPEC, base_name="Fleet.EU", exact_name=True)).name == "fleet.eu"
