"""Every rule on its four cases, through pulumi-policy's own proxy (D5)."""

import pytest
from pulumi_policy import EnforcementLevel, Policy

from pack import policies
from tests.unit.policies.cases import TABLE
from tests.unit.policies.cases.row import Row
from tests.unit.policies.judge import Changes, Res, Resources, changed, judge, texts

every_rule = pytest.mark.parametrize("name", TABLE)


def resources_after(row: Row, changes: Changes | Resources) -> Resources:
    """Apply the changes; some rows replace whole resources instead."""
    whole = {name: each for name, each in changes.items() if isinstance(each, Res)}
    return whole or changed(row.passes, changes)


def test_every_rule_of_the_pack_has_all_four_cases() -> None:
    names = [policy.name for policy in policies()]
    assert sorted(names) == sorted(TABLE)
    assert all(row.violates and row.missing and row.unknown for row in TABLE.values())


@pytest.mark.parametrize("policy", policies(), ids=lambda policy: policy.name)
def test_every_rule_says_how_bad_it_is_and_what_to_do(policy: Policy) -> None:
    assert policy.description.endswith(".")
    assert policy.remediation_steps
    assert policy.severity
    assert policy.enforcement_level not in (None, EnforcementLevel.DISABLED)
    for option in policy.config_schema.properties.values() if policy.config_schema else ():
        assert {"type", "default", "description"} <= set(option)


@every_rule
def test_what_is_well_passes(name: str) -> None:
    row = TABLE[name]
    verdict = judge(name, row.passes, row.options)
    assert (verdict.messages, verdict.unknown) == ([], False)


@every_rule
def test_a_violation_is_reported_where_it_is(name: str) -> None:
    row = TABLE[name]
    verdict = judge(name, resources_after(row, row.violates), row.options)
    expected = row.violates_at if row.violates_at is not None else set(row.violates)
    assert verdict.places == expected
    assert not verdict.unknown


@every_rule
def test_L9_a_message_never_holds_a_value(name: str) -> None:
    row = TABLE[name]
    verdict = judge(name, resources_after(row, row.violates), row.options)
    values = [each for each in texts(dict(row.violates)) if len(each) > 4]
    assert not [each for each in values if each in "\n".join(verdict.messages)]


@every_rule
def test_a_missing_property_is_judged_and_breaks_nothing_else(name: str) -> None:
    row = TABLE[name]
    verdict = judge(name, changed(row.passes, row.missing), row.options)
    assert verdict.places == row.missing_at
    assert not verdict.unknown


@every_rule
def test_an_unknown_value_is_left_to_the_update(name: str) -> None:
    row = TABLE[name]
    verdict = judge(name, changed(row.passes, row.unknown), row.options)
    assert verdict.messages == []
    assert verdict.unknown == row.reads_unknown
