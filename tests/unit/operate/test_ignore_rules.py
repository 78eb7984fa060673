"""What an ignore rule covers is reported but does not count; expired rules cover nothing (D2)."""

from datetime import date
from typing import Any

import pytest

from coder_stack.operate.diagnosis import ignore_rules
from coder_stack.operate.diagnosis.findings import Finding
from coder_stack.operate.engine.events import read_events
from coder_stack.operate.report.model import Difference
from coder_stack.settings import IgnoreRule
from tests.unit.operate.engine_events import MASKED, UNKNOWN, step

TODAY = date(2027, 1, 31)
URN = "urn:pulumi:dev::coder-stack::coder-stack:index:A$kubernetes:apps/v1:Deployment::coder"


def rule(resource: str, *properties: str, until: date = TODAY) -> IgnoreRule:
    return IgnoreRule(resource=resource, properties=properties, reason="known", until=until)


def finding(*paths: str) -> Finding:
    properties = tuple(Difference(path=path, recorded="1", actual="2") for path in paths)
    return Finding(URN, "kubernetes:apps/v1:Deployment", "changed", "refresh", properties)


def parts(found: Finding, *given: IgnoreRule) -> dict[str | None, tuple[str, ...]]:
    found_parts = ignore_rules.apply(given, found, TODAY)
    return {rule and rule.reason: part.paths for part, rule in found_parts}


@pytest.mark.parametrize(
    ("pattern", "covered"),
    [
        ("kubernetes:apps/v1:Deployment", True),
        ("*:Deployment", True),
        ("*::coder", True),
        (URN, True),
        ("*", True),
        ("Deployment", False),
        ("*:Deploy", False),
        ("kubernetes.apps/v1.Deployment", False),
    ],
)
def test_D2_a_pattern_is_for_the_whole_urn_or_type(pattern: str, covered: bool) -> None:
    assert (
        parts(finding("spec.replicas"), rule(pattern)) == {"known": ("spec.replicas",)}
    ) is covered


@pytest.mark.parametrize(
    ("path", "covered"),
    [
        ("spec.replicas", True),
        ("spec", True),
        ("spec.replica", False),
        ("spec.*", True),
        ("replicas", False),
    ],
)
def test_D2_a_property_covers_what_lies_below_it(path: str, covered: bool) -> None:
    assert (None not in parts(finding("spec.replicas"), rule("*", path))) is covered


def test_D2_what_is_not_covered_still_counts() -> None:
    both = finding("spec.replicas", "spec.template.spec.containers[0].image")
    assert parts(both, rule("*", "spec.replicas")) == {
        "known": ("spec.replicas",),
        None: ("spec.template.spec.containers[0].image",),
    }


def test_D2_a_rule_for_properties_does_not_cover_a_missing_resource() -> None:
    gone = Finding(URN, "kubernetes:apps/v1:Deployment", "missing", "refresh")
    assert parts(gone, rule("*", "spec")) == {None: ()}
    assert parts(gone, rule("*")) == {"known": ()}


def test_D2_a_rule_covers_on_its_last_day_and_is_listed_afterwards() -> None:
    last, expired = rule("*", until=TODAY), rule("*", until=date(2027, 1, 30))
    assert parts(finding("spec"), last) == {"known": ("spec",)}
    assert parts(finding("spec"), expired) == {None: ("spec",)}
    assert [each.until for each in ignore_rules.expired([last, expired], TODAY)] == [expired.until]


DEPLOYMENT, SECRET = "kubernetes:apps/v1:Deployment", "kubernetes:core/v1:Secret"
SCALED = step("update", DEPLOYMENT, {"replicas": 5}, {"replicas": 2}, "replicas")
GONE = step("refresh", DEPLOYMENT, {"replicas": 2}, None)
RECREATED = step("create", DEPLOYMENT, None, {"replicas": 2})


@pytest.mark.parametrize(
    ("events", "covering"),
    [
        pytest.param([SCALED], rule("*", "replicas"), id="changed"),
        pytest.param([SCALED], rule("*"), id="changed, by a rule for all of it"),
        pytest.param([GONE, RECREATED], rule("*"), id="missing"),
    ],
)
def test_D3_a_repair_leaves_out_what_rules_cover_entirely(
    events: list[Any], covering: IgnoreRule
) -> None:
    (ignored,) = ignore_rules.ignored_urns([covering], read_events(events), TODAY)
    assert ignored.endswith("::it")


@pytest.mark.parametrize(
    ("events", "not_covering"),
    [
        pytest.param([SCALED], rule("*", "image"), id="another property"),
        pytest.param([SCALED], rule("*:Service"), id="another resource"),
        pytest.param([SCALED], rule("*", until=date(2027, 1, 30)), id="expired"),
        pytest.param(
            [step("update", DEPLOYMENT, {}, {"replicas": 2, "image": "a"}, "replicas", "image")],
            rule("*", "replicas"),
            id="more than is covered",
        ),
        pytest.param(
            [step("update", DEPLOYMENT, {"sum": "a"}, {"sum": UNKNOWN}, "sum")],
            rule("*"),
            id="a consequence of another change",
        ),
        pytest.param(
            [step("update", SECRET, {"data": MASKED}, {"data": MASKED}, "data")],
            rule("*"),
            id="a secret, which may be a consequence of its key",
        ),
        pytest.param([GONE, RECREATED], rule("*", "replicas"), id="missing, not only changed"),
        pytest.param([RECREATED], rule("*"), id="new in the config"),
        pytest.param(
            [step("delete", DEPLOYMENT, {}, None)], rule("*"), id="removed from the config"
        ),
        pytest.param(
            [step("replace", DEPLOYMENT, {"a": 1}, {"a": 2}, "a")], rule("*"), id="replaced"
        ),
    ],
)
def test_D3_a_repair_includes_what_rules_do_not_cover(
    events: list[Any], not_covering: IgnoreRule
) -> None:
    assert ignore_rules.ignored_urns([not_covering], read_events(events), TODAY) == ()
