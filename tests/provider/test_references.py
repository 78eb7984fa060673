"""What state keeps of a provider: a short reference, which must load for ever."""

import base64

import pytest
from pulumi import dynamic
from pulumi.dynamic.dynamic import serialize_provider

from coder_stack.dynamic.entitlements import EntitlementsProvider
from coder_stack.dynamic.feature_gate import FeatureGateProvider
from coder_stack.dynamic.license import LicenseProvider
from coder_stack.dynamic.operator_access import OperatorAccessProvider
from coder_stack.dynamic.secret_value import SecretValueProvider
from tests.provider.driver import ProviderProcess

# As written by the first version. A change here breaks every stack out there: never edit one;
# leave a class of that name in that module instead.
FROZEN: dict[type[dynamic.ResourceProvider], str] = {
    OperatorAccessProvider: (
        "gASVRQAAAAAAAACMI2NvZGVyX3N0YWNrLmR5bmFtaWMub3BlcmF0b3JfYWNjZXNzlIwWT3BlcmF0b3JBY2Nlc3NQcm92aWRlcpSTlCmBlC4="
    ),
    LicenseProvider: (
        "gASVNgAAAAAAAACMG2NvZGVyX3N0YWNrLmR5bmFtaWMubGljZW5zZZSMD0xpY2Vuc2VQcm92aWRlcpSTlCmBlC4="
    ),
    EntitlementsProvider: (
        "gASVQAAAAAAAAACMIGNvZGVyX3N0YWNrLmR5bmFtaWMuZW50aXRsZW1lbnRzlIwURW50aXRsZW1lbnRzUHJvdmlkZXKUk5QpgZQu"
    ),
    SecretValueProvider: (
        "gASVPwAAAAAAAACMIGNvZGVyX3N0YWNrLmR5bmFtaWMuc2VjcmV0X3ZhbHVllIwTU2VjcmV0VmFsdWVQcm92aWRlcpSTlCmBlC4="
    ),
    FeatureGateProvider: (
        "gASVPwAAAAAAAACMIGNvZGVyX3N0YWNrLmR5bmFtaWMuZmVhdHVyZV9nYXRllIwTRmVhdHVyZUdhdGVQcm92aWRlcpSTlCmBlC4="
    ),
}


@pytest.mark.parametrize("provider", FROZEN)
def test_a_provider_is_pickled_by_a_short_reference_that_never_changes(
    provider: type[dynamic.ResourceProvider],
) -> None:
    reference = serialize_provider(provider())
    assert len(base64.b64decode(reference)) < 200
    assert reference == FROZEN[provider]


@pytest.mark.parametrize("reference", FROZEN.values(), ids=[p.__name__ for p in FROZEN])
def test_a_reference_in_an_old_state_still_loads(
    shared_process: ProviderProcess, reference: str
) -> None:
    assert shared_process.of_reference(reference).check({"connection": {}}).failures
