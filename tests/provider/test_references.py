"""What state keeps of a provider: a short reference, which must load for ever."""

import base64
import importlib
import json
import pkgutil
from collections.abc import Iterator

import pytest
from pulumi import dynamic
from pulumi.dynamic.dynamic import serialize_provider

import coder_stack
from tests.engine.earlier import FOLDER, STATE
from tests.provider.driver import ProviderProcess

# As written by the first version. A change here breaks every stack out there: never edit one;
# leave a class of that name in that module instead.
FROZEN = {
    "coder_stack.dynamic.daemons_connected.DaemonsConnectedProvider": (
        "gASVSQAAAAAAAACMJWNvZGVyX3N0YWNrLmR5bmFtaWMuZGFlbW9uc19jb25uZWN0ZWSUjBhEYWVtb25zQ29ubmVjdGVkUHJvdmlkZXKUk5QpgZQu"
    ),
    "coder_stack.dynamic.entitlements.EntitlementsProvider": (
        "gASVQAAAAAAAAACMIGNvZGVyX3N0YWNrLmR5bmFtaWMuZW50aXRsZW1lbnRzlIwURW50aXRsZW1lbnRzUHJvdmlkZXKUk5QpgZQu"
    ),
    "coder_stack.dynamic.feature_gate.FeatureGateProvider": (
        "gASVPwAAAAAAAACMIGNvZGVyX3N0YWNrLmR5bmFtaWMuZmVhdHVyZV9nYXRllIwTRmVhdHVyZUdhdGVQcm92aWRlcpSTlCmBlC4="
    ),
    "coder_stack.dynamic.license.LicenseProvider": (
        "gASVNgAAAAAAAACMG2NvZGVyX3N0YWNrLmR5bmFtaWMubGljZW5zZZSMD0xpY2Vuc2VQcm92aWRlcpSTlCmBlC4="
    ),
    "coder_stack.dynamic.operator_access.OperatorAccessProvider": (
        "gASVRQAAAAAAAACMI2NvZGVyX3N0YWNrLmR5bmFtaWMub3BlcmF0b3JfYWNjZXNzlIwWT3BlcmF0b3JBY2Nlc3NQcm92aWRlcpSTlCmBlC4="
    ),
    "coder_stack.dynamic.organization.OrganizationProvider": (
        "gASVQAAAAAAAAACMIGNvZGVyX3N0YWNrLmR5bmFtaWMub3JnYW5pemF0aW9ulIwUT3JnYW5pemF0aW9uUHJvdmlkZXKUk5QpgZQu"
    ),
    "coder_stack.dynamic.provisioner_key.ProvisionerKeyProvider": (
        "gASVRQAAAAAAAACMI2NvZGVyX3N0YWNrLmR5bmFtaWMucHJvdmlzaW9uZXJfa2V5lIwWUHJvdmlzaW9uZXJLZXlQcm92aWRlcpSTlCmBlC4="
    ),
    "coder_stack.dynamic.proxy_health.ProxyHealthProvider": (
        "gASVPwAAAAAAAACMIGNvZGVyX3N0YWNrLmR5bmFtaWMucHJveHlfaGVhbHRolIwTUHJveHlIZWFsdGhQcm92aWRlcpSTlCmBlC4="
    ),
    "coder_stack.dynamic.secret_value.SecretValueProvider": (
        "gASVPwAAAAAAAACMIGNvZGVyX3N0YWNrLmR5bmFtaWMuc2VjcmV0X3ZhbHVllIwTU2VjcmV0VmFsdWVQcm92aWRlcpSTlCmBlC4="
    ),
    "coder_stack.dynamic.workspace_proxy.WorkspaceProxyRegistrationProvider": (
        "gASVUQAAAAAAAACMI2NvZGVyX3N0YWNrLmR5bmFtaWMud29ya3NwYWNlX3Byb3h5lIwiV29ya3NwYWNlUHJveHlSZWdpc3RyYXRpb25Qcm92aWRlcpSTlCmBlC4="
    ),
}


def providers() -> set[type[dynamic.ResourceProvider]]:
    """Find every provider of the program, wherever it is; those with subclasses are in no state."""
    for module in pkgutil.walk_packages(coder_stack.__path__, "coder_stack."):
        if not module.name.endswith(".__main__"):  # that one is a command
            importlib.import_module(module.name)
    return set(_leaves(dynamic.ResourceProvider))


def _leaves(
    provider: type[dynamic.ResourceProvider],
) -> Iterator[type[dynamic.ResourceProvider]]:
    children = [
        each for each in provider.__subclasses__() if each.__module__.startswith("coder_stack.")
    ]
    for each in children:
        yield from _leaves(each)
    if not children:
        yield provider


def path(provider: type[dynamic.ResourceProvider]) -> str:
    return f"{provider.__module__}.{provider.__qualname__}"


def test_every_provider_has_a_frozen_reference() -> None:
    assert {path(each) for each in providers()} == set(FROZEN)


def test_a_state_of_an_earlier_version_holds_these_references() -> None:
    state = json.loads((FOLDER / STATE).read_text())
    held = {
        each["outputs"]["__provider"]
        for each in state["deployment"]["resources"]
        if each["type"].startswith("pulumi-python:dynamic/")
    }
    assert held <= set(FROZEN.values())


@pytest.mark.parametrize("name", FROZEN)
def test_a_provider_is_pickled_by_a_short_reference_that_never_changes(name: str) -> None:
    (provider,) = [each for each in providers() if path(each) == name]
    reference = serialize_provider(provider())
    assert len(base64.b64decode(reference)) < 200
    assert reference == FROZEN[name]


@pytest.mark.parametrize("name", FROZEN)
def test_a_reference_in_an_old_state_still_loads(
    shared_process: ProviderProcess, name: str
) -> None:
    assert shared_process.of_reference(FROZEN[name]).check({"connection": {}}).failures
