"""How far a reconcile may go by itself, and whom it waits for (D3)."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from coder_stack.operate.drift import Look
from coder_stack.operate.failures import LockedError
from coder_stack.operate.reconcile import Limits, reconcile, refusal
from coder_stack.operate.report import Report
from coder_stack.operate.steps import Story, tell
from coder_stack.settings import Drift
from tests.unit.operate.told import step

REPORT = Report(schema=1, stack="dev", checked_at=datetime(2027, 1, 1, tzinfo=UTC), result="drift")


def planned(deletes: int = 0, replaces: int = 0) -> Look:
    return Look(REPORT, Drift(max_deletes=1, max_replaces=2), deletes, replaces)


@pytest.mark.parametrize(
    ("look", "limits"),
    [
        (planned(), Limits()),
        (planned(deletes=1, replaces=2), Limits()),
        (planned(deletes=9), Limits(max_deletes=9)),
        (planned(replaces=9), Limits(max_replaces=9)),
    ],
)
def test_D3_a_repair_within_the_limits_is_done(look: Look, limits: Limits) -> None:
    assert refusal(look, limits) is None


def test_D3_more_than_the_config_allows_is_refused_with_the_numbers() -> None:
    assert refusal(planned(deletes=2, replaces=3), Limits()) == (
        "Not repaired: the update would delete 2 resources (allowed: 1; see --max-deletes) "
        "and replace 3 resources (allowed: 2; see --max-replaces)."
    )


def test_D3_the_command_line_outweighs_the_config_also_downwards() -> None:
    said = refusal(planned(deletes=1), Limits(max_deletes=0))
    assert said is not None
    assert "allowed: 0" in said


DEPLOYMENT = "kubernetes:apps/v1:Deployment"


def drifted() -> Story:
    return tell([step("refresh", DEPLOYMENT, {"spec": {"a": 1}}, {"spec": {"a": 2}}, "spec.a")])


def deleting() -> Story:
    return tell([step("delete", DEPLOYMENT, {"spec": {}}, None)])


@dataclass
class Scripted:
    """A stack on which each look finds the next story; `locked` times somebody else holds it."""

    stories: list[Story]
    locked: int = 0
    name: str = "dev"
    done: list[str] = field(default_factory=list[str])

    def refuse_if_locked(self) -> None:
        if self.locked:
            self.locked -= 1
            raise LockedError("Another update of the stack is running.")

    def preview(self) -> Story:
        self.done.append("look")
        return self.stories[0] if len(self.stories) == 1 else self.stories.pop(0)

    def up(self, spared: tuple[str, ...]) -> Story:
        self.done += ["up", *(f"but {urn.split('::')[-1]}" for urn in spared)]
        return Story()


def run(stack: Any, **limits: Any) -> Report:
    return reconcile(stack, Limits(pause_seconds=0.01, **limits))


def test_D3_a_clean_stack_is_left_alone() -> None:
    stack = Scripted([Story()])
    report = run(stack)
    assert (report.result, report.repaired, stack.done) == ("clean", False, ["look"])


def test_D3_drift_is_repaired_by_one_update_and_looked_at_again() -> None:
    stack = Scripted([drifted(), Story()])
    report = run(stack)
    assert (report.result, report.repaired, stack.done) == ("clean", True, ["look", "up", "look"])


def test_D3_what_a_rule_covers_is_left_out_of_the_repair() -> None:
    rule = {"resource": "*::scaled", "reason": "the autoscaler's", "until": "2999-12-31"}
    scaled = step("update", DEPLOYMENT, {"a": 1}, {"a": 2}, "a", name="scaled")
    found = tell([scaled, step("update", DEPLOYMENT, {"a": 1}, {"a": 2}, "a")])
    found.project = "coder-stack"
    found.config = {"coder-stack:drift": json.dumps({"ignore": [rule]})}
    stack = Scripted([found, Story()])
    assert run(stack).repaired
    assert stack.done == ["look", "up", "but scaled", "look"]


def test_D3_what_an_update_could_not_repair_is_still_drift() -> None:
    report = run(Scripted([drifted()]))
    assert (report.result, report.repaired) == ("drift", True)


def test_D3_a_repair_beyond_the_limits_is_not_begun() -> None:
    stack = Scripted([deleting()])
    report = run(stack)
    assert (report.result, report.repaired, stack.done) == ("drift", False, ["look"])
    assert report.refused is not None
    assert run(Scripted([deleting(), Story()]), max_deletes=1).repaired


def test_D3_who_holds_the_stack_is_waited_for_if_asked_and_only_so_long() -> None:
    assert run(Scripted([Story()], locked=3), wait_seconds=60).result == "clean"
    with pytest.raises(LockedError):
        run(Scripted([Story()], locked=1))
