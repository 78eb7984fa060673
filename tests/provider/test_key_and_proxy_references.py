"""Module path and class name of a provider are a schema: what old stacks hold must still load."""

import pytest
from pulumi.dynamic import ResourceProvider
from pulumi.dynamic.dynamic import serialize_provider

from coder_stack.dynamic.daemons_connected import DaemonsConnectedProvider
from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from coder_stack.dynamic.proxy_health import ProxyHealthProvider
from coder_stack.dynamic.workspace_proxy import WorkspaceProxyRegistrationProvider
from tests.provider.driver import ProviderProcess

# Written into stacks by the first version; never edit one, leave a re-export instead.
WRITTEN = {
    ProvisionerKeyProvider: (
        "gASVRQAAAAAAAACMI2NvZGVyX3N0YWNrLmR5bmFtaWMucHJvdmlzaW9uZXJfa2V5lIwWUHJvdmlzaW9uZXJL"
        "ZXlQcm92aWRlcpSTlCmBlC4="
    ),
    WorkspaceProxyRegistrationProvider: (
        "gASVUQAAAAAAAACMI2NvZGVyX3N0YWNrLmR5bmFtaWMud29ya3NwYWNlX3Byb3h5lIwiV29ya3NwYWNlUHJv"
        "eHlSZWdpc3RyYXRpb25Qcm92aWRlcpSTlCmBlC4="
    ),
    DaemonsConnectedProvider: (
        "gASVSQAAAAAAAACMJWNvZGVyX3N0YWNrLmR5bmFtaWMuZGFlbW9uc19jb25uZWN0ZWSUjBhEYWVtb25zQ29u"
        "bmVjdGVkUHJvdmlkZXKUk5QpgZQu"
    ),
    ProxyHealthProvider: (
        "gASVPwAAAAAAAACMIGNvZGVyX3N0YWNrLmR5bmFtaWMucHJveH"
        "lfaGVhbHRolIwTUHJveHlIZWFsdGhQcm92aWRlcpSTlCmBlC4="
    ),
}


@pytest.mark.parametrize("provider", WRITTEN)
def test_the_reference_in_state_is_short(provider: type[ResourceProvider]) -> None:
    assert len(serialize_provider(provider())) < 200


@pytest.mark.parametrize("provider", WRITTEN)
def test_a_reference_written_by_the_first_version_still_loads(
    shared_process: ProviderProcess, provider: type[ResourceProvider]
) -> None:
    checked = shared_process.of_reference(WRITTEN[provider]).check({"connection": {}})
    assert checked.failures, "it was loaded, and found the connection wanting"
