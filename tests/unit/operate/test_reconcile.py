"""How far a reconcile may go by itself, and whom it waits for (D3)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from pulumi.automation.events import EngineEvent

from coder_stack.operate.drift import DriftCheck
from coder_stack.operate.engine.errors import LockedError
from coder_stack.operate.engine.events import EngineRun, read_events
from coder_stack.operate.engine.pulumi import CutShortError
from coder_stack.operate.reconcile import Limits, reconcile, refusal
from coder_stack.operate.report.model import Report
from coder_stack.settings import DriftSettings
from tests.unit.operate.told import MASKED, UNKNOWN, step

REPORT = Report(schema=1, stack="dev", checked_at=datetime(2027, 1, 1, tzinfo=UTC), result="drift")


def planned(deletes: int = 0, replaces: int = 0) -> DriftCheck:
    return DriftCheck(REPORT, DriftSettings(max_deletes=1, max_replaces=2), deletes, replaces)


@pytest.mark.parametrize(
    ("look", "limits"),
    [
        (planned(), Limits()),
        (planned(deletes=1, replaces=2), Limits()),
        (planned(deletes=9), Limits(max_deletes=9)),
        (planned(replaces=9), Limits(max_replaces=9)),
    ],
)
def test_D3_a_repair_within_the_limits_is_done(look: DriftCheck, limits: Limits) -> None:
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
SERVICE = "kubernetes:core/v1:Service"
SECRET = "kubernetes:core/v1:Secret"
KEY = "pulumi-python:dynamic/coder:ProvisionerKey"


def drifted(name: str = "it") -> EngineRun:
    old, new = {"spec": {"a": 1}}, {"spec": {"a": 2}}
    return read_events(
        [
            step("refresh", DEPLOYMENT, old, new, "spec.a", name=name),
            step("update", DEPLOYMENT, new, old, "spec.a", name=name),
        ]
    )


def replacing(*names: str) -> EngineRun:
    return read_events(
        [step("replace", KEY, {"tags": 1}, {"tags": 2}, "tags", name=n) for n in names]
    )


def deleting() -> EngineRun:
    return read_events([step("delete", DEPLOYMENT, {"spec": {}}, None)])


@dataclass
class Scripted:
    """A stack on which each look finds the next run; `locked` times somebody else holds it."""

    stories: Sequence[EngineRun | CutShortError]
    locked: int = 0
    stumbles: int = 0
    """So many updates end with an error."""
    updates: list[EngineRun] = field(default_factory=list[EngineRun])
    """What the engine tells of each."""
    name: str = "dev"
    done: list[str] = field(default_factory=list[str])

    def refuse_if_locked(self) -> None:
        if self.locked:
            self.locked -= 1
            raise LockedError("Another update of the stack is running.")

    def preview(self) -> EngineRun:
        self.done.append("look")
        now, *later = self.stories
        self.stories = later or [now]
        if isinstance(now, CutShortError):
            raise now
        return now

    def up(self, only: Sequence[str]) -> EngineRun:
        self.done.append(" ".join(["up", *map(_name, only)]))
        if self.stumbles:
            self.stumbles -= 1
            raise CutShortError(
                "It depends on what was not specified in --target list.", EngineRun()
            )
        return self.updates.pop(0) if self.updates else EngineRun()


def _name(urn: str) -> str:
    return urn.rsplit("::", maxsplit=1)[-1]


def run(stack: Any, **limits: Any) -> Report:
    return reconcile(stack, Limits(pause_seconds=0.01, **limits))


def test_D3_a_clean_stack_is_left_alone() -> None:
    stack = Scripted([EngineRun()])
    report = run(stack)
    assert (report.result, report.repaired, stack.done) == ("clean", False, ["look"])


def test_D3_drift_is_repaired_by_one_update_and_looked_at_again() -> None:
    stack = Scripted([drifted(), EngineRun()])
    report = run(stack)
    assert (report.result, report.repaired, stack.done) == (
        "clean",
        True,
        ["look", "up it", "look"],
    )


def test_D3_what_a_rule_covers_is_left_out_of_the_repair() -> None:
    rule = {"resource": "*::scaled", "reason": "the autoscaler's", "until": "2999-12-31"}
    scaled = step("update", DEPLOYMENT, {"a": 1}, {"a": 2}, "a", name="scaled")
    found = read_events([scaled, step("update", DEPLOYMENT, {"a": 1}, {"a": 2}, "a")])
    found.project = "coder-stack"
    found.config = {"coder-stack:drift": json.dumps({"ignore": [rule]})}
    stack = Scripted([found, EngineRun()])
    assert run(stack).repaired
    assert stack.done == ["look", "up it", "look"]


def out_of_reach(*told: EngineEvent) -> CutShortError:
    return CutShortError("Unavailable: coderd does not answer.", read_events(told))


def service_gone() -> CutShortError:
    return out_of_reach(
        step("refresh", SERVICE, {"spec": {}}, None, name="service"),
        step("create", SERVICE, None, {"spec": {}}, name="service"),
        # As if coderd had changed; and what follows from that.
        step("refresh", KEY, {"reason": ""}, {"reason": "Unavailable"}, "reason"),
        step("update", DEPLOYMENT, {"sum": "a"}, {"sum": UNKNOWN}, "sum"),
    )


def test_D3_what_a_failed_refresh_has_recorded_as_gone_is_repaired_first_too() -> None:
    to_be_made = step("create", SERVICE, None, {"spec": {}}, name="service")
    stack = Scripted([out_of_reach(to_be_made), EngineRun()])
    report = run(stack)
    assert (report.result, report.repaired) == ("clean", True)
    assert stack.done == ["look", "up service", "look"]


@pytest.mark.parametrize("stumbles", [False, True])
def test_D3_what_keeps_coderd_out_of_reach_is_repaired_first(stumbles: bool) -> None:
    stack = Scripted([service_gone(), drifted(), EngineRun()], stumbles=stumbles)
    report = run(stack)
    assert (report.result, report.repaired) == ("clean", True)
    assert stack.done == ["look", "up service", "look", "up it", "look"]


def test_D3_a_repair_that_brings_coderd_no_nearer_ends_with_its_own_error() -> None:
    stack = Scripted([service_gone()], stumbles=True)
    with pytest.raises(CutShortError, match="--target list"):
        run(stack)
    assert stack.done == ["look", "up service", "look"]


def test_D3_half_of_another_updates_work_is_not_repaired() -> None:
    stack = Scripted([service_gone()])

    def somebody_came() -> EngineRun:
        stack.locked = 1
        raise service_gone()

    stack.preview = somebody_came  # type: ignore[method-assign]
    with pytest.raises(LockedError):
        run(stack)
    assert stack.done == []


def test_D3_a_coderd_that_is_down_by_itself_is_an_error_and_nothing_is_done() -> None:
    stack = Scripted([out_of_reach()])
    with pytest.raises(CutShortError, match="Unavailable"):
        run(stack)
    assert stack.done == ["look"]


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(
            [
                step("refresh", SERVICE, {"a": 1}, {"a": 2}, "a"),
                step("replace", SERVICE, {"a": 2}, {"a": 1}, "a"),
            ],
            id="replaced",
        ),
        pytest.param(
            [
                step("refresh", SECRET, {"data": MASKED}, None),
                step("create", SECRET, None, {"data": MASKED}),
            ],
            id="a secret, which may follow from its key",
        ),
    ],
)
def test_D3_what_does_not_stand_alone_waits_for_a_whole_look(told: list[EngineEvent]) -> None:
    stack = Scripted([out_of_reach(*told)])
    report = run(stack)
    assert (report.result, report.repaired, len(report.resources)) == ("error", False, 1)
    assert stack.done == ["look"]


def test_D3_what_lies_in_coderd_waits_for_a_whole_look() -> None:
    told = [step("refresh", KEY, {"a": 1}, None), step("create", KEY, None, {"a": 1})]
    stack = Scripted([out_of_reach(*told)])
    with pytest.raises(CutShortError, match="Unavailable"):
        run(stack)
    assert stack.done == ["look"]


def test_D3_what_an_update_could_not_repair_is_still_drift() -> None:
    report = run(Scripted([drifted()]))
    assert (report.result, report.repaired) == ("drift", True)


def test_D3_what_got_worse_after_the_look_is_not_touched_and_counts_with_what_was_done() -> None:
    """One replacement was looked at and is made; the next would be one too many."""
    found = [replacing("eu"), replacing("us")]
    stack = Scripted([*found], updates=[replacing("eu")])
    report = run(stack, max_replaces=1)
    assert stack.done == ["look", "up eu", "look"]
    assert (report.result, report.repaired) == ("drift", True)
    assert report.refused == (
        "Not repaired: the update would replace 1 resources after 1 "
        "(allowed: 1; see --max-replaces)."
    )
    stack = Scripted([*found, EngineRun()], updates=[replacing("eu"), replacing("us")])
    assert run(stack, max_replaces=2).result == "clean"
    assert stack.done == ["look", "up eu", "look", "up us", "look"]


def test_D3_a_world_that_never_rests_is_left_to_the_next_run() -> None:
    stack = Scripted([drifted(name) for name in "abcdef"])
    report = run(stack)
    assert stack.done == ["look", "up a", "look", "up b", "look", "up c", "look"]
    assert (report.result, report.repaired) == ("drift", True)


def test_D3_an_update_that_lacks_what_went_missing_after_the_look_is_repeated_with_it() -> None:
    stack = Scripted([drifted("secret"), drifted("key"), EngineRun()], stumbles=1)
    assert run(stack).result == "clean"
    assert stack.done == ["look", "up secret", "look", "up key", "look"]


def test_D3_an_update_that_failed_is_an_error_if_nothing_new_is_found() -> None:
    stack = Scripted([drifted()], stumbles=1)
    with pytest.raises(CutShortError, match="--target list"):
        run(stack)
    assert stack.done == ["look", "up it", "look"]


@pytest.mark.parametrize(
    ("type_", "because", "counted"),
    [
        (KEY, ["issued_on"], 0),
        (KEY, ["name", "issued_on"], 0),
        (KEY, ["issued_on", "tags"], 1),
        (KEY, ["name"], 1),
        (KEY, [], 1),
        (DEPLOYMENT, ["issued_on"], 1),
    ],
)
def test_D3_keys_that_are_due_by_their_age_alone_do_not_count(
    type_: str, because: list[str], counted: int
) -> None:
    """Keys made on one day fall due on one day; that is what the config asks for."""
    event = step("replace", type_, {"a": 1}, {"a": 2}, "a")
    assert event.resource_pre_event is not None
    event.resource_pre_event.metadata.keys = because
    assert read_events([event]).replaces == counted


def test_D3_a_repair_beyond_the_limits_is_not_begun() -> None:
    stack = Scripted([deleting()])
    report = run(stack)
    assert (report.result, report.repaired, stack.done) == ("drift", False, ["look"])
    assert report.refused is not None
    assert run(Scripted([deleting(), EngineRun()]), max_deletes=1).repaired


def test_D3_who_holds_the_stack_is_waited_for_if_asked_and_only_so_long() -> None:
    assert run(Scripted([EngineRun()], locked=3), wait_seconds=60).result == "clean"
    with pytest.raises(LockedError):
        run(Scripted([EngineRun()], locked=1))
