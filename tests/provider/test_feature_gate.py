"""The feature gate through the real provider process: closed, open, and never closed again."""

import time
from typing import Any

import pytest

from coder_stack.dynamic.feature_gate import FeatureGateProvider
from tests.provider.driver import UNKNOWN, Driven, ProviderProcess
from tests.simulation import Simulation, license_text, simulated

GATE = ("entitled", "open", "reason")
NOBODY = {"url": "http://127.0.0.1:1"}


@pytest.fixture
def driven(shared_process: ProviderProcess) -> Driven:
    return shared_process.of(FeatureGateProvider())


def inputs(coderd: Simulation | None, feature: str = "high_availability") -> dict[str, Any]:
    return {"connection": coderd.connection if coderd else NOBODY, "feature": feature}


def gate(bag: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(bag[name] for name in GATE)


def test_E4_on_a_fresh_stack_it_is_closed_quickly_and_quietly(process: ProviderProcess) -> None:
    driven = process.of(FeatureGateProvider())
    start = time.monotonic()
    held = driven.create(inputs(None))
    assert gate(held.outputs) == (False, False, "Pending")
    assert time.monotonic() - start < 10
    assert process.stderr == ""


def test_E4_it_opens_by_itself_once_entitled_in_a_plain_check(
    coderd: Simulation, driven: Driven
) -> None:
    held = driven.create(inputs(coderd))
    assert gate(held.outputs) == (False, False, "NotEntitled")
    coderd.act("POST", "/api/v2/licenses", {"license": license_text()})
    assert gate(driven.check(inputs(coderd), held.inputs).inputs) == (True, True, "")
    now = driven.update(held, inputs(coderd))
    assert gate(now.outputs) == (True, True, "")
    assert set(now.outputs) == set(held.outputs)


def test_E5_losing_the_license_leaves_it_open(coderd: Simulation, driven: Driven) -> None:
    number = coderd.act("POST", "/api/v2/licenses", {"license": license_text()})["id"]
    held = driven.create(inputs(coderd))
    coderd.act("DELETE", f"/api/v2/licenses/{number}")

    lost = (False, True, "NotEntitled")
    checked = driven.check(inputs(coderd), held.inputs).inputs
    assert gate(checked) == lost
    assert gate(driven.check(inputs(coderd), checked).inputs) == lost, "however often it is asked"
    seen = driven.read(held)
    assert seen is not None
    assert gate(seen.outputs) == gate(seen.inputs) == lost


def test_E3_grace_counts_as_entitled(coderd: Simulation, driven: Driven) -> None:
    coderd.act("POST", "/api/v2/licenses", {"license": license_text(days=-1)})
    assert gate(driven.check(inputs(coderd)).inputs) == (True, True, "")


@pytest.mark.parametrize(
    ("status", "reason"),
    [(401, "Forbidden"), (500, "EntitlementsQueryFailed")],
)
def test_E6_U1_without_an_answer_what_was_known_stays_and_is_a_warning(
    licensed: Simulation, process: ProviderProcess, status: int, reason: str
) -> None:
    driven = process.of(FeatureGateProvider())
    held = driven.create(inputs(licensed))
    licensed.refuse(status, "No.", "/api/v2/entitlements", count=-1)
    assert gate(driven.check(inputs(licensed), held.inputs).inputs) == (True, True, reason)
    assert f"warning: {reason}: feature gate high_availability, check: " in process.stderr
    seen = driven.read(held)
    assert seen is not None
    assert gate(seen.inputs) == (True, True, reason)


def test_L7_an_agpl_build_is_closed(driven: Driven) -> None:
    with simulated(agpl=True) as agpl:
        assert gate(driven.create(inputs(agpl)).outputs) == (False, False, "NotSupported")


def test_another_feature_is_another_gate(licensed: Simulation, driven: Driven) -> None:
    held = driven.create(inputs(licensed))
    other = driven.check(inputs(licensed, "no_such_feature"), held.inputs)
    assert gate(other.inputs) == (False, False, "NotEntitled")
    assert driven.diff(held, other.inputs).replaces == ["feature"]


def test_an_unknown_connection_is_an_unknown_gate_or_the_last_known(
    licensed: Simulation, driven: Driven
) -> None:
    unknown = {"connection": {"url": UNKNOWN}, "feature": "high_availability"}
    assert gate(driven.check(unknown).inputs) == (UNKNOWN,) * 3
    held = driven.create(inputs(licensed))
    assert gate(driven.check(unknown, held.inputs).inputs) == (True, True, "Pending")


def test_no_token_is_needed_and_nothing_is_ever_changed(
    licensed: Simulation, driven: Driven
) -> None:
    held = driven.create(inputs(licensed))
    driven.read(held)
    driven.delete(held)
    assert all(request.startswith("GET ") for request in licensed.requests())
    assert "token" not in held.outputs
