"""What polls the simulated coderd, and facts about what is there."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from coder_stack.dynamic.runtime.config import StackConfig
from coder_stack.dynamic.runtime.session import ConnectionProps, Session, Sessions
from coder_stack.operate.watch.coderd_lists import (
    CoderdLists,
)
from coder_stack.operate.watch.facts import (
    CODERD,
    TOKEN,
    AnswerFact,
    CoderdFact,
    Facts,
)
from tests.simulation import Simulation

ANSWER = (AnswerFact("urn", CODERD, "coderd"), AnswerFact("urn", TOKEN, "the operator's token"))
OPEN: list[CoderdLists] = []
"""To close when the test ends."""


@contextmanager
def soon_silent() -> Generator[None]:
    """Wait less for answers that do not come: a busy machine needs longer for those that do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CODER_STACK_DEADLINE", "0.4")
        yield


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


def poll(asked: CoderdLists, known: Facts, now: float = 1) -> dict[str, str]:
    asked.follow(known)
    asked.poll(now)
    return asked.looks(known)
