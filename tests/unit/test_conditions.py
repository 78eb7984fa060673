"""Conditions as pure rules: facts in, one of three statuses with a stable reason out (S1)."""

import base64
import hashlib
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_stack.conditions import (
    Condition,
    LicenseFacts,
    ObjectFacts,
    aggregate,
    bootstrap_secret_ready,
    control_plane_ready,
    daemons_connected,
    deployment_ready,
    feature_entitled,
    license_applied,
    operator_access_ready,
    organization_ready,
    provisioner_key_ready,
    proxy_healthy,
    proxy_registered,
    secret_fault,
    secret_ready,
)

FEATURE = "workspace_proxy"
# A time, a date, a uuid: what would make a message another one although nothing happened.
MOVING = re.compile(r"\d{1,2}:\d{2}|\d{4}-\d{2}-\d{2}|[0-9a-f]{8}-[0-9a-f]{4}-")


def said(condition: Condition) -> tuple[str, str]:
    return condition.status, condition.reason


def facts(entitlement: str | None = "entitled", **more: Any) -> LicenseFacts:
    features = {FEATURE: {"entitlement": entitlement}} if entitlement else {}
    return LicenseFacts(**{"features": features, "tier": "premium", **more})


class TestPods:
    @pytest.mark.parametrize(
        ("wanted", "ready", "expected"),
        [
            (2, 2, ("True", "Ready")),
            (2, 3, ("True", "Ready")),
            (2, 1, ("False", "Pending")),
            (0, 0, ("False", "ScaledToZero")),
        ],
    )
    def test_S1_pods_are_ready_or_named_as_missing(
        self, wanted: int, ready: int, expected: tuple[str, str]
    ) -> None:
        plane = control_plane_ready("controlPlane", wanted, ready)
        assert (plane.type, said(plane)) == ("ControlPlaneReady", expected)
        pods = deployment_ready("proxy/x", wanted, ready, may_run=True)
        assert (pods.type, said(pods)) == ("DeploymentReady", expected)

    def test_E4_behind_a_closed_gate_no_pod_is_missed(self) -> None:
        assert said(deployment_ready("proxy/x", 2, 0, may_run=False)) == ("False", "NotEntitled")

    def test_S1_more_pods_than_wanted_during_a_rollout_are_no_other_message(self) -> None:
        assert control_plane_ready("c", 2, 3) == control_plane_ready("c", 2, 2)


class TestOperator:
    def test_CP6_a_secret_that_cannot_be_used_is_named(self) -> None:
        bad = bootstrap_secret_ready("operator", "Secret coder/token", "SecretMissing")
        assert said(bad) == ("False", "SecretMissing")
        assert "Secret coder/token" in bad.message
        good = bootstrap_secret_ready("operator", "Secret coder/token", "")
        assert said(good) == ("True", "Found")

    def test_S1_the_operators_user_is_named(self) -> None:
        condition = operator_access_ready("operator", "admin")
        assert said(condition) == ("True", "LoggedIn")
        assert condition.message == "As admin."

    def test_L7_a_license_is_applied_or_says_why_not(self) -> None:
        good = license_applied("operator", applied=True, reason="", message="")
        assert said(good) == ("True", "Applied")
        bad = license_applied("operator", applied=False, reason="NotSupported", message="AGPL.")
        assert (said(bad), bad.message) == (("False", "NotSupported"), "AGPL.")

    @pytest.mark.parametrize("applied", [True, False])
    def test_L1_S2_a_license_whose_secret_is_missing_is_not_called_applied(
        self, applied: bool
    ) -> None:
        """Coderd may still hold it: what the stack declares is gone all the same."""
        missing = license_applied(
            "operator", applied=applied, reason="", message="", secret_reason="SecretMissing"
        )
        assert said(missing) == ("False", "SecretMissing")
        unread = license_applied(
            "operator", applied=applied, reason="", message="", secret_reason="Unavailable"
        )
        assert said(unread) == ("Unknown", "Unavailable")


class TestEntitled:
    @pytest.mark.parametrize(
        ("seen", "expected"),
        [
            (facts(), ("True", "Entitled")),
            (facts("grace_period"), ("True", "GracePeriod")),
            (facts(stale=True, reason="Forbidden"), ("True", "LastKnown")),
            (facts("not_entitled"), ("False", "NotEntitled")),
            (facts(None), ("False", "NotEntitled")),
            (facts("not_entitled", stale=True, reason="Forbidden"), ("False", "NotEntitled")),
            (facts(None, tier="none", reason="NotSupported"), ("False", "NotSupported")),
            (facts(None, tier="unknown", reason="Forbidden"), ("Unknown", "Forbidden")),
            (facts(None, tier="unknown"), ("Unknown", "EntitlementsQueryFailed")),
            (LicenseFacts(), ("Unknown", "EntitlementsQueryFailed")),
        ],
    )
    def test_E3_E6_what_the_license_allows(
        self, seen: LicenseFacts, expected: tuple[str, str]
    ) -> None:
        condition = feature_entitled("WorkspaceProxyEntitled", "proxy/x", FEATURE, seen)
        assert condition.type == "WorkspaceProxyEntitled"
        assert said(condition) == expected

    @pytest.mark.parametrize("entitlement", ["entitled", "not_entitled"])
    def test_E6_what_is_only_known_from_before_is_said_to_be(self, entitlement: str) -> None:
        seen = facts(entitlement, stale=True, reason="Forbidden")
        message = feature_entitled("WorkspaceProxyEntitled", "proxy/x", FEATURE, seen).message
        assert "as last known: Forbidden" in message

    def test_E3_the_gate_is_open_exactly_where_the_condition_is_true(self) -> None:
        for entitlement in ("entitled", "grace_period", "not_entitled", "", None):
            seen = facts(entitlement)
            condition = feature_entitled("WorkspaceProxyEntitled", "proxy/x", FEATURE, seen)
            assert seen.allows(FEATURE) == (condition.status == "True")


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

    @pytest.mark.parametrize("health", ["", "unknown", "unregistered"])
    def test_S2_a_proxy_that_coderd_never_saw_is_neither_well_nor_ill(self, health: str) -> None:
        assert proxy_healthy("proxy/x", provisioned=True, health=health).status == "Unknown"


def some(*statuses: str, reason: str = "") -> list[Condition]:
    kinds = {"True": "Good", "False": "Bad", "Unknown": "Open"}
    return [
        Condition.model_validate(
            {
                "component": f"part/{number}",
                "type": kinds[status],
                "status": status,
                "reason": reason or kinds[status],
            }
        )
        for number, status in enumerate(statuses)
    ]


class TestAggregate:
    def test_S1_ready_if_everything_is(self) -> None:
        assert said(aggregate(some("True", "True"))) == ("True", "AllReady")
        assert said(aggregate([])) == ("True", "AllReady")

    def test_S1_what_is_false_outweighs_what_is_unknown_and_is_named(self) -> None:
        ready = aggregate(some("Unknown", "False", "True"))
        assert (ready.component, ready.type) == ("stack", "Ready")
        assert said(ready) == ("False", "Bad")
        assert ready.message == "Not ready: part/1/Bad."

    def test_S1_several_reasons_are_called_so(self) -> None:
        mixed = [*some("False", reason="Pending"), *some("False", reason="NotEntitled")]
        assert said(aggregate(mixed)) == ("False", "SeveralReasons")

    @given(st.lists(st.sampled_from(["True", "False", "Unknown"])).flatmap(st.permutations))
    def test_S1_the_worst_wins_in_any_order(self, statuses: list[str]) -> None:
        worst = next((s for s in ("False", "Unknown") if s in statuses), "True")
        ready = aggregate(some(*statuses))
        assert ready.status == worst
        assert ready.message == aggregate(reversed(some(*statuses))).message


@given(
    wanted=st.integers(0, 100),
    ready=st.integers(0, 100),
    flags=st.tuples(st.booleans(), st.booleans()),
    reason=st.sampled_from(["", "NotEntitled", "Forbidden", "Pending"]),
    entitlement=st.sampled_from(["entitled", "grace_period", "not_entitled", None]),
    health=st.sampled_from(["", "ok", "unreachable", "unhealthy", "unregistered"]),
    fault=st.sampled_from(["", "SecretMissing", "SecretChanged", "NotFound"]),
)
def test_S1_messages_are_sentences_without_times_or_ids(
    wanted: int,
    ready: int,
    flags: tuple[bool, bool],
    reason: str,
    entitlement: str | None,
    health: str,
    fault: str,
) -> None:
    first, second = flags
    late = ["tags"] if second else []
    found = ObjectFacts(provisioned=first, reason=reason, deferred=late)
    every = [
        control_plane_ready("c", wanted, ready),
        deployment_ready("c", wanted, ready, may_run=not first),
        bootstrap_secret_ready("c", "Secret a/b", reason),
        operator_access_ready("c", "admin"),
        license_applied("c", applied=first, reason=reason or "Error", message="Why."),
        license_applied("c", applied=first, reason="", message="", secret_reason=fault),
        feature_entitled("Entitled", "c", FEATURE, facts(entitlement, stale=first, reason=reason)),
        provisioner_key_ready("c", found, "k"),
        secret_ready("Secret", "c", "s", provisioned=first, fault=fault),
        daemons_connected("c", connected=first, minimum=wanted, reason=reason, skewed=late),
        proxy_registered("c", found),
        organization_ready("c", found),
        proxy_healthy("c", provisioned=first, health=health),
    ]
    for condition in (*every, aggregate(every)):
        assert condition.message.endswith("."), condition
        assert not MOVING.search(condition.message), condition
        assert condition.reason.isalpha(), condition


def test_K3_L6_W1_what_a_refresh_found_gone_is_not_called_unlicensed() -> None:
    gone = [
        provisioner_key_ready("p", ObjectFacts(), "", allowed=True),
        proxy_registered("p", ObjectFacts(), allowed=True),
        organization_ready("p", ObjectFacts(), allowed=True),
        license_applied("p", applied=False, reason="", message=""),
        operator_access_ready("p", ""),
    ]
    assert {(each.status, each.reason) for each in gone} == {("False", "NotFound")}
