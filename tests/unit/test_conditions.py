"""Conditions as pure rules: facts in, one of three statuses with a stable reason out (S1)."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_stack.coderd.versions import TRIED
from coder_stack.conditions import (
    Condition,
    DatabaseFacts,
    LicenseFacts,
    ObjectFacts,
    aggregate,
    bootstrap_secret_ready,
    control_plane_ready,
    daemons_connected,
    database_ready,
    deployment_ready,
    feature_entitled,
    license_applied,
    operator_access_ready,
    organization_ready,
    provisioner_key_ready,
    proxy_healthy,
    proxy_registered,
    secret_ready,
    with_version,
)
from tests.unit.license_facts import FEATURE, facts, said

# A time, a date, a uuid: what would make a message another one although nothing happened.
MOVING = re.compile(r"\d{1,2}:\d{2}|\d{4}-\d{2}-\d{2}|[0-9a-f]{8}-[0-9a-f]{4}-")


class TestDatabase:
    @pytest.mark.parametrize(
        ("seen", "expected", "message"),
        [
            (
                {},
                ("False", "NotFound"),
                "Cluster db does not exist; the next update creates an empty one.",
            ),
            (
                {"exists": True},
                ("False", "Pending"),
                "0 of 2 instances are ready. Phase: none yet.",
            ),
            (
                {"exists": True, "ready_instances": 1, "phase": "Failing over"},
                ("False", "Pending"),
                "1 of 2 instances are ready. Phase: Failing over.",
            ),
            (
                {"exists": True, "ready_instances": 2, "phase": "Upgrading cluster"},
                ("False", "Pending"),
                "2 of 2 instances are ready. Phase: Upgrading cluster.",
            ),
            (
                {"exists": True, "ready": True, "ready_instances": 1, "phase": "healthy"},
                ("False", "Pending"),
                "1 of 2 instances are ready. Phase: healthy.",
            ),
            (
                {"exists": True, "ready": True, "ready_instances": 2, "phase": "healthy"},
                ("True", "Ready"),
                "2 of 2 instances are ready.",
            ),
        ],
    )
    def test_F3_a_database_is_ready_if_the_operator_and_every_instance_are(
        self, seen: dict[str, Any], expected: tuple[str, str], message: str
    ) -> None:
        found = database_ready("controlPlane", "db", 2, DatabaseFacts(**seen))
        assert (found.type, said(found), found.message) == ("DatabaseReady", expected, message)


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

    def test_V1_an_untried_version_is_added_to_the_message_and_to_nothing_else(self) -> None:
        plane = control_plane_ready("controlPlane", 1, 1)
        seen = with_version(plane, "v9.8.7+abc1234")
        assert seen.message == (
            f"1 of 1 pods are ready. Coderd is v9.8.7; this program was tried with {TRIED[0]} "
            f"to {TRIED[-1]}."
        )
        assert seen.model_copy(update={"message": plane.message}) == plane
        pods = deployment_ready("proxy/x", 1, 1, may_run=True)
        assert with_version(pods, "v9.8.7") == pods

    @pytest.mark.parametrize("version", [*TRIED, f"{TRIED[-1]}+abc", "", "v0.0.0-devel+abc"])
    def test_V1_a_tried_or_unknown_version_leaves_the_message_as_it_is(self, version: str) -> None:
        plane = control_plane_ready("controlPlane", 1, 1)
        assert with_version(plane, version) == plane

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
