"""What people are told, and how often (N2)."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from coder_stack.operate.report.model import LicenseDates, Report
from coder_stack.operate.watch.facts import LicenseEnd
from coder_stack.operate.watch.message import body
from coder_stack.operate.watch.transitions import Notice, Told, notices_of
from coder_stack.settings import NotifySettings
from tests.unit.operate.reports import NOW, REPAIR, SECRET, broken, clean, report_of, resource

HOUR = 3600.0
COLUMN = resource("eu", cause="Key `eu` was deleted in coderd.", kind="missing")


def drift(*resources: object, **fields: object) -> Report:
    return report_of("dev", result="drift", resources=resources or (COLUMN,), **fields)


def repaired() -> Report:
    return clean("dev", repairs=(COLUMN,), repaired=True)


def told(notices: Notice | Sequence[Notice] | None) -> str:
    if isinstance(notices, Notice):
        return notices.transition
    return " ".join(each.transition for each in notices or ())


def test_N2_a_clean_stack_that_stays_clean_is_not_told() -> None:
    watcher = Told()
    assert [watcher.ended(clean("dev"), now) for now in (0, 60)] == [[], []]


def test_N2_drift_and_its_repair_are_told_once_each_with_cause_and_next_step() -> None:
    watcher = Told()
    found = watcher.found(drift(), 0)
    assert found is not None
    assert (found.transition, found.next_step) == ("drift", REPAIR)
    assert found.summary == "1 resource differs: Key `eu` was deleted in coderd."
    (ended,) = watcher.ended(repaired(), 10)
    assert (ended.transition, ended.summary) == (
        "repaired",
        "1 resource repaired; the stack is clean.",
    )
    assert watcher.ended(clean("dev"), 20) == []


def test_N2_drift_that_stays_is_told_once() -> None:
    watcher = Told()
    looks = [told(watcher.ended(drift(), now)) for now in (0, 60, 7 * HOUR)]
    assert looks == ["drift", "", ""]
    assert told(watcher.ended(drift(COLUMN, resource("us")), 8 * HOUR)) == "drift"


def test_N2_a_refusal_is_told_once_after_its_drift() -> None:
    watcher = Told()
    refusal = drift(refused="Not repaired: the update would delete 2 resources.")
    assert told(watcher.found(drift(), 0)) == "drift"
    assert [told(watcher.ended(refusal, now)) for now in (1, 2)] == ["refused", ""]


def test_N2_a_refusal_of_other_drift_than_was_found_first_is_told_with_it() -> None:
    """A repair goes in rounds: the one that is refused may be about other resources."""
    watcher = Told()
    assert told(watcher.found(drift(), 0)) == "drift"
    refusal = drift(resource("us"), refused="Not repaired: the update would delete 2 resources.")
    assert told(watcher.ended(refusal, 1)) == "drift refused"


def test_N2_refused_drift_that_comes_and_goes_is_told_once() -> None:
    watcher, heard = Told(), list[str]()
    refusal = drift(refused="Not repaired: the update would delete 2 resources.")
    for now in range(0, 600, 60):
        heard += [told(watcher.found(drift(), now)), told(watcher.ended(refusal, now + 1))]
        heard.append(told(watcher.ended(clean("dev"), now + 30)))
    assert [each for each in heard if each] == ["drift", "refused", "recovered", "returning"]
    watcher.calm("dev", 600 + 1.1 * HOUR)
    assert told(watcher.ended(refusal, 2 * HOUR)) == "drift refused"


def test_N2_an_error_and_the_recovery_are_told_once() -> None:
    watcher = Told()
    states = [broken("dev"), broken("dev"), clean("dev"), clean("dev")]
    assert [told(watcher.ended(each, 0)) for each in states] == ["error", "", "recovered", ""]


def test_N2_drift_that_somebody_else_repaired_is_recovered() -> None:
    watcher = Told()
    watcher.ended(drift(), 0)
    assert told(watcher.ended(clean("dev"), 60)) == "recovered"


@pytest.mark.parametrize("state", [drift(), broken("dev")])
def test_N2_flapping_is_one_message_for_each_state(state: Report) -> None:
    """A controller undoes each repair for five minutes; then it is calm for an hour."""
    watcher, heard = Told(), list[str]()
    for now in range(0, 300, 10):
        heard.append(told(watcher.found(state, now)))
        heard.append(told(watcher.ended(repaired(), now + 5)))
    first = "error" if state.result == "error" else "drift"
    assert [each for each in heard if each] == [first, "repaired", "returning"]
    assert watcher.calm("dev", 300) is None
    assert told(watcher.calm("dev", 300 + 1.1 * HOUR)) == "recovered"
    assert told(watcher.found(state, 2 * HOUR)) == first


def test_N2_the_end_of_a_license_is_told_once_for_each_license() -> None:
    watcher = Told()
    end = LicenseEnd(NOW + timedelta(days=29), 30)
    early = watcher.license("dev", end, NOW - timedelta(days=2))
    assert early is None
    now = [told(watcher.license("dev", end, NOW)) for _ in range(2)]
    assert now == ["license ends", ""]
    later = LicenseEnd(NOW + timedelta(days=400), 30)
    assert watcher.license("dev", later, NOW) is None
    assert told(watcher.license("dev", later, NOW + timedelta(days=380))) == "license ends"
    assert watcher.license("dev", None, NOW) is None


def test_N2_a_single_run_tells_all_but_a_clean_stack() -> None:
    def transitions(report: Report) -> list[str]:
        return [each.transition for each in notices_of(report, NOW)]

    soon = LicenseDates(applied=True, license_expires=NOW + timedelta(days=3), warn_days=30)
    assert transitions(clean("dev")) == []
    assert transitions(clean("dev", license=soon)) == ["license ends"]
    assert transitions(repaired()) == ["repaired"]
    assert transitions(broken("dev")) == ["error"]
    assert transitions(drift(refused="Not repaired: too much.")) == ["drift", "refused"]


def test_N2_the_body_has_cause_next_step_and_link_in_both_formats() -> None:
    notice = Told().found(drift(resource("x", cause="<b> & `c`")), 0)
    assert notice is not None
    link = "https://grafana.example.com/d/coder"
    plain = json.loads(body(notice, NotifySettings(link=link), NOW))
    assert plain["schema"] == 1
    assert plain["transition"] == "drift"
    assert plain["at"] == "2027-03-01T06:30:00Z"
    assert plain["next_step"]["command"] == "coder-stack reconcile --stack production"
    assert plain["resources"][0]["cause"] == "<b> & `c`"
    assert plain["link"] == link

    slack = json.loads(body(notice, NotifySettings(format="slack", link=link), NOW))
    assert list(slack) == ["text"], "every Slack-compatible endpoint takes that"
    assert "&lt;b&gt; &amp; `c`" in slack["text"]
    assert f"<{link}>" in slack["text"]
    assert "coder-stack reconcile" in slack["text"]


def test_N2_no_secret_is_in_a_body() -> None:
    report = drift(
        resource(
            "x",
            properties=({"path": "data.key", "recorded": None, "actual": None, "secret": True},),
        )
    )
    notice = Told().found(report, 0)
    assert notice is not None
    assert SECRET.encode() not in body(notice, NotifySettings(), datetime.now(UTC))
