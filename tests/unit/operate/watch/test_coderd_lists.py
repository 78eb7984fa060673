"""What the watcher asks coderd for, and what no answer means (N1); against the simulated coderd."""

import json
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from coder_stack.cluster.secret import SecretKeyRef
from coder_stack.coderd.errors import (
    ApiServerRefused,
    CertificateNotTrusted,
    CoderdError,
    InvalidConnection,
)
from coder_stack.dynamic.runtime.config import StackConfig
from coder_stack.dynamic.runtime.session import ConnectionProps, Session, Sessions
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.process import Interrupted
from coder_stack.operate.engine.pulumi import Project
from coder_stack.operate.watch.coderd_lists import (
    ENTITLEMENTS_SECONDS,
    NEW_SESSION_SECONDS,
    CoderdLists,
    ask,
)
from coder_stack.operate.watch.coderd_session import session_opener
from coder_stack.operate.watch.facts import (
    ABSENT,
    ANSWERS,
    CODERD,
    REFUSED,
    SILENT,
    TOKEN,
    AnswerFact,
    CoderdFact,
    Facts,
)
from tests.simulation import Simulation, simulated
from tests.unit.operate.watch.recorded import facts
from tests.waiting import eventually

ANSWER = (AnswerFact("urn", CODERD, "coderd"), AnswerFact("urn", TOKEN, "the operator's token"))


PEM = "-----BEGIN CERTIFICATE-----"
OPEN: list[CoderdLists] = []


@contextmanager
def soon_silent() -> Generator[None]:
    """Wait less for answers that do not come: a busy machine needs longer for those that do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CODER_STACK_DEADLINE", "0.4")
        yield


@pytest.fixture
def coderd() -> Iterator[Simulation]:
    with simulated(licensed=True) as coderd:
        yield coderd
        while OPEN:
            OPEN.pop().close()


def lists(coderd: Simulation) -> CoderdLists:
    def open_session(_: Facts) -> Session:
        connection = ConnectionProps(url=coderd.url)
        given = {
            "coder-stack:token": coderd.token,
            "coder-stack:access": f'{{"url":"{coderd.url}"}}',
        }
        return Sessions().open(connection, StackConfig.read(given.get), {})

    found = CoderdLists(threading.Event().set, open_session, interval=30)
    OPEN.append(found)
    return found


def made(coderd: Simulation, *names: str) -> list[CoderdFact]:
    """Keys in coderd, as facts."""
    path = "/api/v2/organizations/coder/provisionerkeys"
    for name in names:
        coderd.act("POST", path, {"name": name, "tags": {"region": "eu"}})
    records = coderd.state.records.provisioner_keys.values()
    return [
        CoderdFact(
            urn=f"urn::{each.name}",
            listed_in=f"keys/{each.organization_id}",
            id=str(each.id),
            label=f"key `{each.name}`",
            fields={"name": each.name, "tags": dict(each.tags)},
        )
        for each in records
        if each.name in names
    ]


def listed(coderd: Simulation, name: str) -> list[CoderdFact]:
    """Everything in one list, as facts."""
    session = lists(coderd).open_session(Facts(""))
    assert session is not None
    found = ask(session.coderd, name)
    session.coderd.close()
    return [CoderdFact("urn", name, id_, name, fields) for id_, fields in found.items()]


def poll(asked: CoderdLists, known: Facts, now: float = 1) -> dict[str, str]:
    asked.follow(known)
    asked.poll(now)
    return asked.looks(known)


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


@dataclass
class Opener:
    """Opens sessions with the simulated coderd, and counts them."""

    coderd: Simulation
    opened: int = 0
    trouble: list[CoderdError | OperationError] = field(
        default_factory=list[CoderdError | OperationError]
    )
    """What the next ones fail with."""

    def __call__(self, known: Facts) -> Session | None:
        self.opened += 1
        if self.trouble:
            raise self.trouble.pop(0)
        return lists(self.coderd).open_session(known)

    def lists(self) -> CoderdLists:
        found = CoderdLists(threading.Event().set, self, interval=30)
        OPEN.append(found)
        return found


def refusing(error: CoderdError) -> Callable[..., Any]:
    """Answer a request as an API server does that refuses the kubeconfig's token."""

    def answer(*_: object) -> Any:
        raise error

    return answer


@pytest.mark.parametrize("refusal", [ApiServerRefused, CertificateNotTrusted])
def test_N1_a_refusal_of_the_api_server_is_answered_with_the_credentials_of_now(
    coderd: Simulation, refusal: type[CoderdError], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pod's token is replaced in its file, which a session reads once."""
    opener = Opener(coderd)
    (eu,) = made(coderd, "eu")
    known, asked = facts(eu, *ANSWER), opener.lists()
    poll(asked, known)
    with monkeypatch.context() as patch:
        patch.setattr(
            "coder_stack.operate.watch.coderd_lists.ask", refusing(refusal("list", "refused."))
        )
        asked.poll(31)
    assert not asked.answers
    asked.poll(62)
    assert opener.opened == 2
    assert asked.looks(known) == known.expected


def test_N1_a_session_is_opened_anew_from_time_to_time(coderd: Simulation) -> None:
    opener = Opener(coderd)
    known, asked = facts(*made(coderd, "eu"), *ANSWER), opener.lists()
    poll(asked, known)
    asked.poll(NEW_SESSION_SECONDS)
    assert opener.opened == 1
    asked.poll(NEW_SESSION_SECONDS + 2)
    asked.poll(NEW_SESSION_SECONDS + 32)
    assert opener.opened == 2
    assert asked.looks(known) == known.expected


@pytest.mark.parametrize(
    "trouble", [OperationError("no backend"), InvalidConnection("connect", "no file")]
)
def test_N1_coderd_is_not_silent_because_the_backend_is(
    coderd: Simulation, trouble: CoderdError | OperationError
) -> None:
    """Opening a session asks Pulumi for the config."""
    opener = Opener(coderd)
    known, asked = facts(*made(coderd, "eu"), *ANSWER), opener.lists()
    poll(asked, known)
    opener.trouble.append(trouble)
    asked.poll(NEW_SESSION_SECONDS + 2)
    assert opener.opened == 2
    assert asked.answers


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


def test_N1_paths_of_the_config_are_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`coder-stack watch --cwd` may run elsewhere."""
    folder, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    for each in (folder, elsewhere):
        each.mkdir()
    config = {"coder-stack:kubernetes": {"value": '{"kubeconfig": "kube/main"}'}}
    monkeypatch.setattr(Project, "run", lambda *_: json.dumps(config))
    monkeypatch.chdir(elsewhere)
    given = {
        "service_proxy": {"namespace": "coder", "service": "coder", "kubeconfig": "kube/main"},
        "credential": {"namespace": "coder", "name": "op", "key": "k", "kubeconfig": "kube/main"},
    }
    opened = list[tuple[ConnectionProps, StackConfig]]()
    monkeypatch.setattr(
        Sessions, "open", lambda _, connection, config, __: opened.append((connection, config))
    )
    open_session = session_opener(Project(folder), "dev")
    open_session(Facts("1", connection=given))
    open_session(Facts("2", connection={"url": "https://c.example.com", "ca_bundle": "ca.pem"}))
    open_session(Facts("3", connection={"url": "https://c.example.com", "ca_bundle": PEM}))
    (inside, config), (outside, _), (as_text, _) = opened
    file = str(folder / "kube/main")
    assert inside.service_proxy is not None
    assert inside.service_proxy.kubeconfig == file
    assert isinstance(inside.credential, SecretKeyRef)
    assert inside.credential.kubeconfig == file
    assert config.kubernetes.kubeconfig == file
    assert outside.ca_bundle == str(folder / "ca.pem")
    assert as_text.ca_bundle == PEM


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
