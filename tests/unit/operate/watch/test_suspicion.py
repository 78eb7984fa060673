"""When something that looks different is worth an engine run (N1). The clock is the test's."""

from dataclasses import replace

import pytest

from coder_stack.operate.watch.facts import ABSENT, CODERD, SILENT, AnswerFact, Facts
from coder_stack.operate.watch.pace import Pace
from coder_stack.operate.watch.suspicion import SETTLE_SECONDS, Suspicion, Suspicions
from tests.unit.operate.watch.recorded import deployment, facts, key, secret

CODER, EU = deployment(), key()
CHANGED = replace(CODER, generation=2).expected
HOUR = 3600.0


def watching(known: Facts) -> Suspicions:
    found = Suspicions()
    found.record(known)
    return found


def labels(suspicions: tuple[Suspicion, ...] | list[Suspicion]) -> list[str]:
    return [each.label for each in suspicions]


def check(found: Suspicions, now: float, *, repaired: tuple[str, ...] = ()) -> bool:
    """Let the engine judge what is due; return whether anything was."""
    due = found.due(now)
    if due:
        found.judged(found.judging(), repaired, due, now)
    return bool(due)


def test_N1_what_is_as_recorded_is_no_suspicion() -> None:
    found = watching(facts(CODER, EU))
    assert found.observe({CODER.key: CODER.expected, EU.key: EU.expected}, 0) == []
    assert found.due(HOUR) == ()


def test_N1_what_was_not_observed_is_no_suspicion() -> None:
    """Nothing was listed yet, or there is no answer: that is not an absence."""
    found = watching(facts(CODER, EU))
    found.observe({}, 0)
    assert found.due(HOUR) == ()


def test_N1_a_difference_is_a_suspicion_once_and_is_due_after_a_moment() -> None:
    found = watching(facts(CODER, EU))
    looks = {CODER.key: CHANGED, EU.key: ABSENT}
    assert labels(found.observe(looks, 10)) == ["deployments/coder", "key `eu`"]
    assert found.observe(looks, 10.1) == []
    assert found.due(10.2) == ()
    assert len(found.due(10 + SETTLE_SECONDS)) == 2


def test_N1_what_passes_before_it_is_due_starts_nothing() -> None:
    found = watching(facts(CODER))
    found.observe({CODER.key: CHANGED}, 0)
    found.observe({CODER.key: CODER.expected}, 0.3)
    assert found.due(HOUR) == ()


def test_N1_a_suspicion_that_the_engine_does_not_confirm_is_remembered() -> None:
    found = watching(facts(CODER))
    found.observe({CODER.key: CHANGED}, 0)
    assert check(found, 1)
    for now in (2, 100, 10 * HOUR):
        found.observe({CODER.key: CHANGED}, now)
        assert not check(found, now), "the same sight starts no second check"
    found.observe({CODER.key: ABSENT}, 10 * HOUR)
    assert check(found, 10 * HOUR + 1), "another one does"


def test_N1_drift_that_was_left_is_looked_at_again_when_somebody_undoes_it() -> None:
    found = watching(facts(CODER))
    found.observe({CODER.key: CHANGED}, 0)
    assert check(found, 1)
    found.observe({CODER.key: CODER.expected}, HOUR)
    assert check(found, HOUR + 1)
    found.observe({CODER.key: CODER.expected}, 2 * HOUR)
    assert not check(found, 2 * HOUR + 1)


def test_N1_what_was_repaired_is_expected_as_recorded() -> None:
    """A license that was uploaded again has the same uuid, so its fact has not changed."""
    found = watching(facts(EU))
    found.observe({EU.key: ABSENT}, 0)
    assert check(found, 1, repaired=(EU.urn,))
    found.observe({EU.key: EU.expected}, 2)
    assert found.due(HOUR) == ()


def test_N1_what_changes_while_it_is_judged_is_judged_again() -> None:
    found = watching(facts(CODER))
    found.observe({CODER.key: CHANGED}, 0)
    due, looks = found.due(1), found.judging()
    found.observe({CODER.key: ABSENT}, 5)
    found.judged(looks, (), due, 1)
    again = found.observe({CODER.key: ABSENT}, 10)
    assert labels(again) == ["deployments/coder"]
    assert found.due(11) == tuple(again)


def test_N1_our_own_update_is_no_suspicion_once_it_is_recorded() -> None:
    found = watching(facts(CODER, EU))
    rotated, rolled = replace(EU, id="2"), deployment(generation=2)
    found.observe({CODER.key: rolled.expected, EU.key: ABSENT}, 0)
    found.record(facts(rolled, rotated))
    found.observe({CODER.key: rolled.expected, rotated.key: rotated.expected}, 0.4)
    assert found.due(HOUR) == ()


def test_N1_a_new_record_of_other_objects_does_not_forget_what_was_judged() -> None:
    found = watching(facts(CODER, EU))
    found.observe({CODER.key: CHANGED, EU.key: EU.expected}, 0)
    assert check(found, 1)
    found.record(facts(CODER, replace(EU, id="2")))
    found.observe({CODER.key: CHANGED}, 2)
    assert found.due(HOUR) == ()


def test_N1_a_suspicion_stays_while_its_list_is_unknown() -> None:
    found = watching(facts(EU))
    found.observe({EU.key: ABSENT}, 0)
    found.observe({}, 1)
    assert labels(found.due(2)) == ["key `eu`"]


def test_N1_a_controller_that_undoes_every_repair_costs_few_runs() -> None:
    found = watching(facts(CODER))
    runs: list[float] = []
    for now in range(300):
        found.observe({CODER.key: CHANGED if now % 2 else CODER.expected}, now)
        # Half a second later: nothing settles that changes every second.
        found.observe({CODER.key: CHANGED}, now + 0.1)
        if check(found, now + 0.9, repaired=(CODER.urn,)):
            runs.append(now)
    assert 3 <= len(runs) <= 6
    assert runs[:3] == [0, 1, 2], "the first repairs are not held up"


def test_N1_flapping_of_one_object_does_not_hold_up_another() -> None:
    found = watching(facts(CODER, EU))
    for now in range(60):
        found.observe({CODER.key: CHANGED, EU.key: EU.expected}, now)
        check(found, now + 0.9, repaired=(CODER.urn,))
        found.observe({CODER.key: CODER.expected, EU.key: EU.expected}, now + 0.95)
    found.observe({CODER.key: CODER.expected, EU.key: ABSENT}, 60)
    assert labels(found.due(61)) == ["key `eu`"]


def test_N1_a_key_that_is_deleted_again_and_again_is_one_object() -> None:
    """Each repair makes another id; the pace belongs to the resource."""
    found, runs = Suspicions(), 0
    for now in range(300):
        made = replace(EU, id=str(now))
        found.record(facts(made))
        found.observe({made.key: ABSENT}, now)
        runs += check(found, now + 0.9, repaired=(EU.urn,))
    assert runs <= 6


def test_N1_many_objects_that_change_at_once_are_one_run() -> None:
    things = [secret(f"s{number}") for number in range(50)]
    found = watching(facts(*things))
    found.observe({each.key: ABSENT for each in things}, 0)
    assert check(found, 1)
    assert not check(found, 2)


def test_N1_coderd_that_falls_silent_is_a_suspicion() -> None:
    answer = AnswerFact("urn", CODERD, "coderd")
    found = watching(facts(answer))
    assert labels(found.observe({CODERD: SILENT}, 0)) == ["coderd"]


@pytest.mark.parametrize("every", [1, 30, 100])
def test_N1_the_pace_bounds_the_runs_of_a_day(every: int) -> None:
    pace, runs = Pace(), 0
    for now in range(0, 86400, every):
        if pace.allowed_at(now) <= now:
            pace.started(now)
            runs += 1
    assert runs <= 10 + 86400 / 300


def test_N1_the_pace_forgets_after_calm() -> None:
    pace = Pace()
    for now in range(10):
        pace.started(now)
    assert pace.allowed_at(10) > 60
    assert pace.allowed_at(HOUR) == HOUR
    assert pace.is_calm(HOUR)
