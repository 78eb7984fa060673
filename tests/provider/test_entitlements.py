"""Entitlements through the real provider process."""

from coder_stack.dynamic.entitlements import EntitlementsProvider
from tests.provider.driver import ProviderProcess
from tests.simulation import Simulation


def test_E1_E2_check_reads_live_and_a_second_check_says_the_same(
    coderd: Simulation, process: ProviderProcess
) -> None:
    driven = process.of(EntitlementsProvider())
    first = driven.check({"connection": coderd.connection})
    assert first.failures == []
    assert first.inputs["tier"] == "none"
    assert first.inputs["features"]["workspace_proxy"]["entitlement"] == "not_entitled"
    assert driven.check({"connection": coderd.connection}, first.inputs).inputs == first.inputs
