"""How the watcher reaches coderd: with the credentials and files of now (N1)."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
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
from coder_stack.operate.engine.pulumi import Project
from coder_stack.operate.watch.coderd_lists import (
    NEW_SESSION_SECONDS,
    CoderdLists,
)
from coder_stack.operate.watch.coderd_session import session_opener
from coder_stack.operate.watch.facts import (
    Facts,
)
from tests.simulation import Simulation
from tests.unit.operate.watch.coderd_polls import ANSWER, OPEN, lists, made, poll
from tests.unit.operate.watch.recorded import facts

PEM = "-----BEGIN CERTIFICATE-----"


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
