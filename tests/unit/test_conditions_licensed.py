"""Conditions of provisioners and proxies, which a license must allow (S1)."""

import base64
import hashlib
from typing import Any

import pytest

from coder_stack.conditions import (
    ObjectFacts,
    daemons_connected,
    organization_ready,
    provisioner_key_ready,
    proxy_healthy,
    proxy_registered,
    secret_fault,
    secret_ready,
)
from tests.unit.license_facts import said


class TestProvisioner:
    @pytest.mark.parametrize(
        ("seen", "expected"),
        [
            ({}, ("True", "Issued")),
            ({"provisioned": False}, ("False", "NotEntitled")),
            ({"deferred": ["tags"], "reason": "NotEntitled"}, ("False", "RotationDeferred")),
            ({"reason": "NotEntitled"}, ("Unknown", "NotEntitled")),
        ],
    )
    def test_S1_E5_the_key(self, seen: dict[str, Any], expected: tuple[str, str]) -> None:
        found = ObjectFacts(**{"provisioned": True, **seen})
        assert said(provisioner_key_ready("provisioner/x", found, "k")) == expected

    def test_E5_what_is_put_off_is_named_in_a_fixed_order(self) -> None:
        one, other = (
            provisioner_key_ready(
                "provisioner/x", ObjectFacts(provisioned=True, deferred=late), "k"
            )
            for late in (["tags", "name"], ["name", "tags"])
        )
        assert one == other
        assert "name, tags" in one.message

    def test_S1_the_secret(self) -> None:
        kind = "ProvisionerKeySecretReady"
        good = secret_ready(kind, "provisioner/x", "x-provisioner-key", provisioned=True)
        assert (good.type, said(good)) == (kind, ("True", "Written"))
        empty = secret_ready(kind, "provisioner/x", "x-provisioner-key", provisioned=False)
        assert said(empty) == ("False", "NotEntitled")
        assert all("x-provisioner-key" in each.message for each in (good, empty))

    @pytest.mark.parametrize(
        ("data", "fault", "expected"),
        [
            ({"key": b"material"}, "", ("True", "Written")),
            ({"key": b"other bytes"}, "SecretChanged", ("False", "SecretChanged")),
            ({"key": b"material "}, "SecretChanged", ("False", "SecretChanged")),
            ({"key": b""}, "SecretMissing", ("False", "SecretMissing")),
            ({"other": b"material"}, "SecretMissing", ("False", "SecretMissing")),
            ({}, "SecretMissing", ("False", "SecretMissing")),
            (None, "SecretMissing", ("False", "SecretMissing")),
        ],
    )
    def test_K4_S2_the_secret_is_written_only_if_it_holds_the_key(
        self, data: dict[str, bytes] | None, fault: str, expected: tuple[str, str]
    ) -> None:
        encoded = data and {name: base64.b64encode(held).decode() for name, held in data.items()}
        assert secret_fault(encoded, "key", hashlib.sha256(b"material").hexdigest()) == fault
        condition = secret_ready("Ready", "provisioner/x", "s", provisioned=True, fault=fault)
        assert said(condition) == expected

    def test_S2_what_is_no_base64_is_something_else(self) -> None:
        assert secret_fault({"key": "%"}, "key", "ab" * 32) == "SecretChanged"

    @pytest.mark.parametrize("sha256", ["", None])
    def test_S2_without_a_key_nothing_is_said_about_its_secret(self, sha256: str | None) -> None:
        fault = secret_fault({"key": "b2xk"}, "key", sha256)
        condition = secret_ready("Ready", "provisioner/x", "s", provisioned=True, fault=fault)
        assert said(condition) == ("Unknown", "NotFound")

    @pytest.mark.parametrize(
        ("seen", "expected"),
        [
            ({}, ("True", "Connected")),
            ({"skewed": ["v2.29.0"]}, ("True", "VersionSkew")),
            ({"connected": False}, ("False", "TooFew")),
            ({"connected": False, "reason": "Pending"}, ("False", "Pending")),
            ({"connected": False, "reason": "NotEntitled"}, ("False", "NotEntitled")),
            ({"connected": False, "reason": "NotFound"}, ("Unknown", "NotFound")),
        ],
    )
    def test_P3_the_daemons(self, seen: dict[str, Any], expected: tuple[str, str]) -> None:
        given: dict[str, Any] = {"connected": True, "minimum": 2, "reason": "", "skewed": []}
        assert said(daemons_connected("provisioner/x", **{**given, **seen})) == expected

    def test_P3_versions_that_differ_are_named(self) -> None:
        condition = daemons_connected(
            "provisioner/x", connected=True, minimum=1, reason="", skewed=["v2.29.0", "v2.28.1"]
        )
        assert "v2.28.1, v2.29.0" in condition.message


class TestProxy:
    @pytest.mark.parametrize(
        ("seen", "expected"),
        [
            ({}, ("True", "Registered")),
            ({"provisioned": False}, ("False", "NotEntitled")),
            ({"deferred": ["icon"], "reason": "NotEntitled"}, ("False", "ChangeDeferred")),
            ({"reason": "NotEntitled"}, ("Unknown", "NotEntitled")),
        ],
    )
    def test_S1_E5_the_registration(self, seen: dict[str, Any], expected: tuple[str, str]) -> None:
        found = ObjectFacts(**{"provisioned": True, **seen})
        assert said(proxy_registered("proxy/x", found)) == expected
        organization = said(organization_ready("organization/x", found))
        assert organization == (expected[0], expected[1].replace("Registered", "Created"))

    @pytest.mark.parametrize(
        ("health", "expected"),
        [
            ("ok", ("True", "Healthy")),
            ("unreachable", ("False", "Unreachable")),
            ("unhealthy", ("False", "Unhealthy")),
            ("unregistered", ("Unknown", "Unregistered")),
            ("unknown", ("Unknown", "NotSeen")),
            ("", ("Unknown", "NotSeen")),
        ],
    )
    def test_W1_health_as_coderd_saw_it(self, health: str, expected: tuple[str, str]) -> None:
        assert said(proxy_healthy("proxy/x", provisioned=True, health=health)) == expected
        gated = proxy_healthy("proxy/x", provisioned=False, health=health)
        assert said(gated) == ("False", "NotEntitled")

    @pytest.mark.parametrize("health", ["unreachable", "unhealthy"])
    def test_W2_the_message_has_coderds_own_words(self, health: str) -> None:
        known = proxy_healthy("proxy/x", provisioned=True, health=health, report="no such host")
        assert known.message == f"Coderd reports the proxy as {health}: no such host"
        silent = proxy_healthy("proxy/x", provisioned=True, health=health)
        assert silent.message == f"Coderd reports the proxy as {health}."

    @pytest.mark.parametrize("health", ["", "unknown", "unregistered"])
    def test_S2_a_proxy_that_coderd_never_saw_is_neither_well_nor_ill(self, health: str) -> None:
        assert proxy_healthy("proxy/x", provisioned=True, health=health).status == "Unknown"
