"""Which licensed features the config needs, and whether coderd allows them (E4)."""

from typing import Any

import pytest

from coder_stack.conditions import LicenseFacts
from coder_stack.needs import needed_features, needs_output
from coder_stack.settings import ControlPlaneSettings, ProvisionerSettings, ProxySettings, Settings

SYDNEY = ProxySettings(name="sydney", access_url="https://sydney.example.com")


@pytest.mark.parametrize(
    ("settings", "needed"),
    [
        (Settings(), {}),
        (Settings(control_plane=ControlPlaneSettings(replicas=1)), {}),
        (
            Settings(control_plane=ControlPlaneSettings(replicas=2)),
            {"high_availability": ("controlPlane.replicas",)},
        ),
        (
            Settings(provisioners=(ProvisionerSettings(name="eu"), ProvisionerSettings(name="us"))),
            {"external_provisioner_daemons": ("provisioner/eu", "provisioner/us")},
        ),
        (Settings(proxies=(SYDNEY,)), {"workspace_proxy": ("proxy/sydney",)}),
    ],
)
def test_E4_each_part_of_the_config_names_the_feature_that_it_needs(
    settings: Settings, needed: dict[str, Any]
) -> None:
    assert needed_features(settings) == needed


def test_E4_one_organization_needs_no_license_and_two_do() -> None:
    here = ProvisionerSettings(name="a", organization="research")
    there = ProvisionerSettings(name="b", organization="coder")
    assert "multiple_organizations" not in needed_features(Settings(provisioners=(here,)))
    assert needed_features(Settings(provisioners=(here, there)))["multiple_organizations"] == (
        "organization/coder",
        "organization/research",
    )


@pytest.mark.parametrize(
    ("said", "entitled"),
    [("entitled", True), ("grace_period", True), ("not_entitled", False), (None, False)],
)
def test_E3_the_output_compares_needs_with_what_coderd_says(
    said: str | None, entitled: bool
) -> None:
    features = {"workspace_proxy": {"entitlement": said}} if said else {}
    assert needs_output(
        {"workspace_proxy": ("proxy/sydney",)}, LicenseFacts(features=features)
    ) == [
        {
            "feature": "workspace_proxy",
            "neededBy": ["proxy/sydney"],
            "entitlement": said or "unknown",
            "entitled": entitled,
        }
    ]
