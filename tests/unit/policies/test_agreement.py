"""What the pack keeps as small constants of its own says the same as the program."""

import pytest

from access_rules import needs_https
from coder_stack.coderd import Connection
from coder_stack.conditions import is_entitled
from coder_stack.dynamic.base import CoderdProvider
from coder_stack.dynamic.daemons_connected import DaemonsConnectedProvider
from coder_stack.dynamic.entitlements import EntitlementsProvider
from coder_stack.dynamic.license import LicenseProvider
from coder_stack.dynamic.operator_access import OperatorAccessProvider
from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from coder_stack.dynamic.workspace_proxy import WorkspaceProxyRegistrationProvider
from licensing_rules import ENTITLED
from secret_rules import SECRET_OUTPUTS

PROVIDERS: list[CoderdProvider] = [  # pyright: ignore[reportMissingTypeArgument]
    OperatorAccessProvider(),
    LicenseProvider(),
    EntitlementsProvider(),
    ProvisionerKeyProvider(),
    DaemonsConnectedProvider(),
    WorkspaceProxyRegistrationProvider(),
]


def test_L9_every_secret_of_every_coderd_resource_is_asked_for() -> None:
    declared = {
        type(each).__name__.removesuffix("Provider"): tuple(
            sorted({"token", *each.state_model.secret_fields(), *each.inputs_model.secret_fields()})
        )
        for each in PROVIDERS
    }
    assert declared == SECRET_OUTPUTS


@pytest.mark.parametrize("entitlement", ["entitled", "grace_period", "not_entitled", ""])
def test_E3_entitled_means_the_same(entitlement: str) -> None:
    features = {"workspace_proxy": {"entitlement": entitlement}}
    assert is_entitled(features, "workspace_proxy") == (entitlement in ENTITLED)


@pytest.mark.parametrize(
    "url",
    [
        "https://coder.example.com",
        "http://coder.example.com",
        "http://localhost:3000",
        "http://x.localhost",
        "http://127.0.0.1:3000",
        "http://127.9.9.9",
        "http://[::1]:3000",
        "http://[::ffff:127.0.0.1]",
        "http://10.0.0.1",
        "http://localhost.example.com",
    ],
)
def test_CP8_https_is_needed_where_the_program_says_so(url: str) -> None:
    assert needs_https(url) == (not Connection(base_url=url).may_carry_secrets)


@pytest.mark.parametrize(
    ("url", "needed"),
    [
        ("http://coder.coder.svc.cluster.local:80", False),
        ("http://coder.coder.svc", False),
        ("http://coder.coder.svc.example.com", True),
        ("http://svc.example.com", True),
        ("http://coder", True),
        ("http://[broken", True),
    ],
)
def test_CP8_plain_http_may_stay_inside_the_cluster(url: str, needed: bool) -> None:
    assert needs_https(url) == needed
