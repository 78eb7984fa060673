"""What must hold for every provider, whatever its object is."""

from typing import Any

import pytest

from coder_stack.dynamic.entitlements import EntitlementsProvider
from coder_stack.dynamic.feature_gate import FeatureGateProvider
from coder_stack.dynamic.license import LicenseProvider
from coder_stack.dynamic.operator_access import OperatorAccessProvider
from coder_stack.dynamic.runtime.provider import CoderdProvider
from tests.provider.driver import Failure, Held, ProviderProcess, provider_process
from tests.simulation import Simulation, license_text

EVERY: list[CoderdProvider[Any, Any]] = [
    OperatorAccessProvider(),
    LicenseProvider(),
    EntitlementsProvider(),
    FeatureGateProvider(),
]
every_provider = pytest.mark.parametrize("provider", EVERY, ids=lambda each: type(each).__name__)


def inputs(coderd: Simulation, provider: CoderdProvider[Any, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {"connection": coderd.connection}
    if isinstance(provider, LicenseProvider):
        given |= {"jwt": license_text(), "warn_days": 10}
    if isinstance(provider, FeatureGateProvider):
        given |= {"feature": "high_availability"}
    return given


@every_provider
def test_checking_what_was_checked_changes_nothing(
    coderd: Simulation, shared_process: ProviderProcess, provider: CoderdProvider[Any, Any]
) -> None:
    driven = shared_process.of(provider)
    given = inputs(coderd, provider)
    once = driven.check(given).inputs
    assert driven.check(once, once).inputs == once
    assert set(once) <= set(provider.inputs_model.model_fields)


@every_provider
def test_D1_reading_what_was_just_made_is_no_drift_and_loses_no_output(
    coderd: Simulation, shared_process: ProviderProcess, provider: CoderdProvider[Any, Any]
) -> None:
    driven = shared_process.of(provider)
    held = driven.create(inputs(coderd, provider))
    seen = driven.read(held)
    assert seen is not None
    assert (seen.id, seen.inputs) == (held.id, held.inputs)
    assert set(seen.outputs) == set(held.outputs)
    difference = driven.diff(seen, held.inputs)
    assert (difference.replaces, difference.changes) == ([], "unknown")
    again = driven.update(seen, inputs(coderd, provider))
    assert set(again.outputs) == set(held.outputs)


@every_provider
def test_K7_a_state_that_an_earlier_version_wrote_is_filled_in_by_a_refresh(
    coderd: Simulation, shared_process: ProviderProcess, provider: CoderdProvider[Any, Any]
) -> None:
    driven = shared_process.of(provider)
    held = driven.create(inputs(coderd, provider))
    fields = provider.state_model.model_fields
    old = {k: v for k, v in held.outputs.items() if k not in fields or fields[k].is_required()}
    seen = driven.read(Held(held.id, old, held.inputs))
    assert seen is not None
    assert seen.id == held.id
    assert set(seen.outputs) == set(held.outputs)
    assert driven.diff(Held(held.id, old, held.inputs), held.inputs).replaces == []


@every_provider
def test_a_state_that_cannot_be_read_is_named_and_not_shown(
    coderd: Simulation, shared_process: ProviderProcess, provider: CoderdProvider[Any, Any]
) -> None:
    broken = Held("x", {"connection": {"url": ["hunter2"]}, "token": "hunter3"}, {})
    with pytest.raises(Failure) as failed:
        shared_process.of(provider).read(broken)
    assert str(failed.value).startswith(f"Failed: Error: {provider.noun}, read: what Pulumi keeps")
    assert "hunter" not in str(failed.value)
    assert coderd.requests() == []


@every_provider
def test_L9_CP10_neither_stderr_nor_state_hold_the_token(
    coderd: Simulation, provider: CoderdProvider[Any, Any]
) -> None:
    with provider_process() as process:
        driven = process.of(provider)
        held = driven.create(inputs(coderd, provider))
        driven.read(held)
        driven.delete(held)
        assert coderd.token not in str(held)
        assert coderd.token not in process.stderr
