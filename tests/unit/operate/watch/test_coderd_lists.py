"""What the watcher asks coderd for, and what no answer means (N1); against the simulated coderd."""

import threading
from dataclasses import replace

import pytest

from coder_stack.dynamic.runtime.session import Session
from coder_stack.operate.engine.process import Interrupted
from coder_stack.operate.watch.coderd_lists import (
    ENTITLEMENTS_SECONDS,
    CoderdLists,
    ask,
)
from coder_stack.operate.watch.facts import (
    ABSENT,
    ANSWERS,
    CODERD,
    REFUSED,
    SILENT,
    TOKEN,
    CoderdFact,
    Facts,
)
from tests.simulation import Simulation
from tests.unit.operate.watch.coderd_polls import ANSWER, lists, made, poll, soon_silent
from tests.unit.operate.watch.recorded import facts
from tests.waiting import eventually


def listed(coderd: Simulation, name: str) -> list[CoderdFact]:
    """Everything in one list, as facts."""
    session = lists(coderd).open_session(Facts(""))
    assert session is not None
    found = ask(session.coderd, name)
    session.coderd.close()
    return [CoderdFact("urn", name, id_, name, fields) for id_, fields in found.items()]


def test_N1_requests_do_not_grow_with_the_number_of_keys(coderd: Simulation) -> None:
    known = facts(*made(coderd, *(f"k{number}" for number in range(50))))
    coderd.forget_requests()
    looks = poll(lists(coderd), known)
    assert looks == known.expected
    assert len(coderd.requests("GET")) == 1


def test_N1_with_a_license_two_lists_are_asked_for_in_an_interval(coderd: Simulation) -> None:
    """Entitlements follow from the licenses: they are asked for every ten minutes only."""
    entitlements = listed(coderd, "entitlements")
    known = facts(*made(coderd, "eu"), *listed(coderd, "licenses"), *entitlements)
    asked = lists(coderd)
    poll(asked, known)
    coderd.forget_requests()
    for minute in range(10):
        asked.poll(60 * minute + 2)
        asked.poll(60 * minute + 32)
    assert len(coderd.requests("GET")) == 40
    assert asked.looks(known) == known.expected
    asked.poll(ENTITLEMENTS_SECONDS + 2)
    assert coderd.requests("GET", "/entitlements")


def test_N1_without_a_license_entitlements_are_asked_for_every_time(coderd: Simulation) -> None:
    """Somebody may add one by hand, and a gate opens."""
    asked = lists(coderd)
    poll(asked, facts(*listed(coderd, "entitlements")))
    coderd.forget_requests()
    asked.poll(31)
    assert len(coderd.requests("GET", "/entitlements")) == 1


def test_N1_a_deleted_key_and_changed_tags_look_different(coderd: Simulation) -> None:
    eu, us = made(coderd, "eu", "us")
    known = facts(eu, us)
    coderd.act("DELETE", "/api/v2/organizations/coder/provisionerkeys/eu")
    for each in coderd.state.records.provisioner_keys.values():
        each.tags = {"region": "moon"}
    looks = poll(lists(coderd), known)
    assert looks[eu.key] == ABSENT
    assert looks[us.key] not in (ABSENT, us.expected)


def test_N1_a_lost_license_looks_absent(coderd: Simulation) -> None:
    known = facts(*listed(coderd, "licenses"))
    coderd.lose_licenses()
    assert set(poll(lists(coderd), known).values()) == {ABSENT}


def test_N1_an_organization_that_is_gone_has_no_keys(coderd: Simulation) -> None:
    (eu,) = made(coderd, "eu")
    gone = replace(eu, listed_in="keys/0f0f0f0f-0000-4000-8000-000000000000")
    assert poll(lists(coderd), facts(gone))[gone.key] == ABSENT


@pytest.mark.parametrize("status", [403, 404, 429, 500, 503])
def test_N1_no_answer_is_not_an_absence(coderd: Simulation, status: int) -> None:
    (eu,) = made(coderd, "eu")
    coderd.fault("status", "*", status=status, count=-1)
    with soon_silent():
        assert eu.key not in poll(lists(coderd), facts(eu))


def test_N1_coderd_is_silent_after_three_polls_and_answers_after_one(coderd: Simulation) -> None:
    (eu,) = made(coderd, "eu")
    known, asked = facts(eu, *ANSWER), lists(coderd)
    assert poll(asked, known)[CODERD] == ANSWERS
    coderd.fault("drop_before", "*", count=-1)
    seen = list[str]()
    with soon_silent():
        for now in (30, 60, 90):
            asked.poll(now)
            seen.append(asked.looks(known)[CODERD])
    assert seen == [ANSWERS, ANSWERS, SILENT]
    assert not asked.answers
    coderd.peace()
    asked.poll(120)
    assert asked.looks(known) == known.expected


def test_N1_a_refused_token_is_seen(coderd: Simulation) -> None:
    (eu,) = made(coderd, "eu")
    known = facts(eu, *ANSWER)
    asked = lists(coderd)
    poll(asked, known)
    keys = coderd.state.records.api_keys
    keys.clear()
    asked.poll(31)
    looks = asked.looks(known)
    assert (looks[TOKEN], looks[CODERD]) == (REFUSED, ANSWERS)
    assert eu.key not in looks
    asked.follow(facts(eu, *ANSWER))  # a repair has recorded another token
    assert TOKEN not in asked.looks(known), "that one was not refused"


def test_N1_answers_from_before_a_new_record_are_forgotten(coderd: Simulation) -> None:
    """A key that was just made is not in a list that was read before."""
    eu, us = made(coderd, "eu", "us")
    asked = lists(coderd)
    poll(asked, facts(eu))
    both = facts(eu, us)  # no fact about answers: those are known
    asked.follow(both)
    assert asked.looks(both) == {}


def test_N1_a_stack_without_lists_asks_whether_coderd_takes_the_token(coderd: Simulation) -> None:
    """An AGPL build without keys has nothing to list."""
    known, asked = facts(*ANSWER), lists(coderd)
    coderd.forget_requests()
    assert poll(asked, known) == known.expected
    assert asked.answers
    assert len(coderd.requests("GET")) == 1
    coderd.state.records.api_keys.clear()
    asked.poll(31)
    assert asked.looks(known) == {CODERD: ANSWERS, TOKEN: REFUSED}
    coderd.fault("drop_before", "*", count=-1)
    with soon_silent():
        for now in (60, 90, 120):
            asked.poll(now)
    assert asked.looks(known)[CODERD] == SILENT


def test_N1_nobody_is_asked_for_a_stack_without_coderd(coderd: Simulation) -> None:
    coderd.forget_requests()
    assert poll(lists(coderd), facts()) == {}
    assert coderd.requests("GET") == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_N1_N3_polls_go_on_after_a_signal_and_it_shows_if_they_have_failed() -> None:
    """`pulumi config` is not started any more after a signal, which the main thread tells of."""
    problems: list[BaseException] = [Interrupted("interrupted", 15), ZeroDivisionError()]
    asked = threading.Semaphore(0)

    def open_session(_: Facts) -> Session:
        asked.release()
        raise problems.pop(0)

    found = CoderdLists(threading.Event().set, open_session, interval=30)
    license_ = CoderdFact("urn", "licenses", "1", "the license", {"uuid": "1"})
    found.follow(facts(license_))
    assert not found.has_failed, "it has not begun"
    found.start()
    assert asked.acquire(timeout=20)
    assert not found.has_failed
    found.follow(facts(license_))
    assert asked.acquire(timeout=20)
    assert eventually(lambda: found.has_failed)
