"""Operator access during an upgrade waits for the expected version, which no state has (V2)."""

from dataclasses import replace
from typing import Any

import pytest

from tests.provider.driver import Driven, Held, ProviderProcess
from tests.provider.operators import ACCESS, failure_of
from tests.simulation import Simulation

NEW = "v2.31.0"


@pytest.fixture
def access(shared_process: ProviderProcess) -> Driven:
    return shared_process.of(ACCESS)


def given(coderd: Simulation, **more: Any) -> dict[str, Any]:
    return {"connection": coderd.connection, "wait_seconds": 2, "token": coderd.token, **more}


def become(coderd: Simulation, version: str) -> None:
    coderd.state.flags = replace(coderd.state.flags, version=f"{version}+simulated")


def due(access: Driven, held: Held, inputs: dict[str, Any]) -> bool:
    """Whether `up` updates it although no input has changed."""
    checked = access.check(inputs, held.inputs)
    assert checked.inputs == held.inputs, "the engine sees no change"
    return access.diff(held, checked.inputs).changes == "some"


def test_V2_an_expected_version_is_due_until_coderd_answers_with_it(
    coderd: Simulation, access: Driven
) -> None:
    held = access.create(given(coderd))
    assert "expected_version" not in held.outputs
    assert not due(access, held, given(coderd))
    assert not due(access, held, given(coderd, expected_version="v2.30.0"))
    assert due(access, held, given(coderd, expected_version=NEW))
    assert not due(access, held, given(coderd)), "the next run expects nothing"

    become(coderd, NEW)
    updated = access.update(held, given(coderd, expected_version=NEW))
    assert updated.outputs["version"] == f"{NEW}+simulated"
    assert (updated.inputs, "expected_version" in updated.outputs) == (held.inputs, False)
    assert not due(access, updated, given(coderd, expected_version=NEW))


def test_V2_a_version_that_does_not_come_fails_with_cause_and_next_step(
    coderd: Simulation, access: Driven
) -> None:
    held = access.create(given(coderd))
    said = failure_of(access.update, held, given(coderd, expected_version=NEW))
    assert "Pending: operator access, wait for the new version: coderd still answers with " in said
    assert f"v2.30.0+simulated, not with {NEW}" in said
    assert "docs/runbooks.md, Upgrade Coder" in said
    assert "Provisioners and proxies were not changed." in said


def test_V2_a_coderd_that_does_not_answer_is_waited_for_only_during_an_upgrade(
    coderd: Simulation, access: Driven
) -> None:
    held = access.create(given(coderd))
    coderd.fault("status", "*/buildinfo", status=503, count=-1)
    assert not due(access, held, given(coderd))
    assert due(access, held, given(coderd, expected_version=NEW))
