"""The life of credentials, through the real provider process (CP9, CP10).

A first run that dies, a revoked or rotated token, a changed password, reads that change nothing.
test_credential_moves.py is about another token, Secret or coderd.
"""

from pathlib import Path
from typing import Any

import pytest

from coder_stack.dynamic.daemons_connected import DaemonsConnectedProvider
from coder_stack.dynamic.entitlements import EntitlementsProvider
from coder_stack.dynamic.feature_gate import FeatureGateProvider
from coder_stack.dynamic.proxy_health import ProxyHealthProvider
from sandbox.coderd.rules.identifiers import hashed_password
from tests.provider.driver import Held, ProviderProcess, provider_process
from tests.provider.operators import (
    ACCESS,
    KEYS,
    LICENSES,
    PASSWORD,
    PASSWORD_SECRET,
    TOKEN_SECRET,
    Deployment,
    create,
    destroy,
    failure_of,
    up,
    update,
)
from tests.simulation import Simulation, license_text


def refresh(held: Held) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Read operator access in one command: its inputs, its outputs, and what the user is told."""
    with provider_process() as process:
        seen = process.of(ACCESS).read(held)
        assert seen is not None
        return seen.inputs, seen.outputs, process.stderr


def assert_next_update_repairs(deployment: Deployment, held: Held) -> None:
    with provider_process() as process:
        assert process.of(ACCESS).diff(held, held.inputs).changes == "some"
        process.of(ACCESS).update(held, deployment.inputs())
    assert deployment.accepts_token
    assert deployment.named_tokens == ["coder-stack"]


def assert_only_reads(coderd: Simulation) -> None:
    assert {request.split(" ")[0] for request in coderd.requests()} == {"GET"}


# A first run that dies (CP9) ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/api/v2/users/login", "*/keys/tokens/tokenconfig", "*/keys/tokens"]
)
@pytest.mark.parametrize("status", [500, 502])
def test_CP9_a_first_run_that_fails_after_the_first_user_locks_nobody_out(
    deployment: Deployment, path: str, status: int
) -> None:
    deployment.coderd.fault("status", path, status=status, count=-1)
    with provider_process(environment={"CODER_STACK_DEADLINE": "1"}) as first:
        failure_of(first.of(ACCESS).create, deployment.inputs())
    assert len(deployment.coderd.state.records.users) == 1
    deployment.coderd.peace()
    up(deployment)
    assert deployment.accepts_token
    assert deployment.named_tokens == ["coder-stack"]


def test_CP9_destroy_and_up_on_the_same_database_get_in_again(deployment: Deployment) -> None:
    destroy(*up(deployment))
    assert deployment.keys_and_licenses == ([], [])
    up(deployment)
    assert deployment.accepts_token


def test_CP9_the_password_of_the_config_is_used_and_stored_nowhere(deployment: Deployment) -> None:
    with provider_process(config={"coder-stack:initialPassword": PASSWORD}) as process:
        held = process.of(ACCESS).create(deployment.inputs(password_secret=None))
    assert deployment.accepts_token
    assert PASSWORD not in str(held)
    assert PASSWORD not in str(deployment.cluster.secrets[TOKEN_SECRET])


def test_CP9_a_changed_password_is_verified_before_it_is_relied_on(
    deployment: Deployment, process: ProviderProcess
) -> None:
    access = process.of(ACCESS)
    held = access.create(deployment.inputs())
    deployment.cluster.put(PASSWORD_SECRET, password="Not-The-Password-At-All-9")
    why = failure_of(access.update, held, deployment.inputs())
    assert "coderd does not accept the password for admin@example.com" in why
    assert deployment.accepts_token, "and nothing was changed"

    (user,) = deployment.coderd.state.records.users.values()
    user.password_hash = hashed_password("Not-The-Password-At-All-9", user.password_salt)
    now = access.update(held, deployment.inputs())
    assert access.diff(now, now.inputs).changes == "unknown"
    deployment.revoke_all_tokens()
    access.update(now, deployment.inputs())
    assert deployment.accepts_token, "the new password renews"


# Renewal and rotation (CP10) ---------------------------------------------------------------------


def test_CP10_a_refused_token_makes_an_update_due_and_the_update_renews_it(
    deployment: Deployment, process: ProviderProcess
) -> None:
    access = process.of(ACCESS)
    held, before = access.create(deployment.inputs()), deployment.token
    deployment.revoke_all_tokens()
    assert access.diff(held, held.inputs).changes == "some"
    now = access.update(held, deployment.inputs())
    assert deployment.accepts_token
    assert deployment.token != before
    assert set(now.outputs) == set(held.outputs)
    assert access.diff(now, now.inputs).changes == "unknown"


def test_CP10_after_a_renewal_destroy_and_a_plain_refresh_work_without_the_program(
    deployment: Deployment,
) -> None:
    access, license_, key = up(deployment)
    deployment.revoke_all_tokens()
    access = update(access, deployment.inputs())
    with provider_process() as refreshing:
        assert refreshing.of(KEYS).read(key) is not None
        assert refreshing.of(LICENSES).read(license_) is not None
    assert "remove it by hand" not in destroy(access, license_, key)
    assert deployment.keys_and_licenses == ([], [])
    assert deployment.named_tokens == []


def test_CP10_a_destroy_with_an_expired_token_logs_in_once_and_leaves_nothing(
    deployment: Deployment,
) -> None:
    stack = up(deployment)
    deployment.revoke_all_tokens()
    assert destroy(*stack) == ""
    assert len(deployment.coderd.requests("POST", "/login")) == 2, "the first run, and this one"
    assert deployment.keys_and_licenses == ([], [])
    assert deployment.token_names == []


def test_CP10_a_given_token_can_be_rotated_in_its_secret(
    deployment: Deployment, process: ProviderProcess
) -> None:
    """By a refresh without the program, and within one process that has used the old one."""
    process.of(ACCESS).create(deployment.inputs())
    theirs, first = deployment.with_secret("coder/their-token"), deployment.add_user("a")
    deployment.cluster.put(theirs.token_secret, token=first)
    license_ = process.of(LICENSES).create({"connection": theirs.connection, "jwt": license_text()})
    second = deployment.add_user("b")
    deployment.revoke(first)
    deployment.cluster.put(theirs.token_secret, token=second)

    assert process.of(LICENSES).read(license_) is not None
    with provider_process() as refreshing:
        assert refreshing.of(LICENSES).read(license_) is not None
    assert theirs.token == second


def test_CP10_no_state_has_a_copy(deployment: Deployment, process: ProviderProcess) -> None:
    stack = create(deployment, process)
    facts = process.of(EntitlementsProvider()).create({"connection": deployment.connection})
    seen = process.of(ACCESS).read(stack[0])
    assert deployment.token is not None
    assert deployment.token not in str((*stack, facts, seen))


# Reads create and revoke nothing (CP10) ----------------------------------------------------------


def test_CP10_a_refused_token_is_drift_and_no_read_renews_it(deployment: Deployment) -> None:
    access, license_, _ = up(deployment)
    deployment.revoke_all_tokens()
    deployment.coderd.forget_requests()
    inputs, outputs, told = refresh(access)
    assert (inputs["accepted"], access.inputs["accepted"]) == (False, True)
    assert outputs["reason"] == "Forbidden"
    assert "The next `pulumi up` makes another one." in told
    with provider_process() as preview:
        preview.of(ACCESS).check(deployment.inputs(), access.inputs)
        preview.of(ACCESS).diff(access, access.inputs)
        why = failure_of(preview.of(LICENSES).read, license_)
    assert "coderd did not accept the session token" in why
    assert_only_reads(deployment.coderd)


def test_CP10_a_deleted_secret_is_drift_and_the_next_update_creates_it_again(
    deployment: Deployment,
) -> None:
    access, license_, key = up(deployment)
    del deployment.cluster.secrets[TOKEN_SECRET]
    deployment.coderd.forget_requests()
    inputs, outputs, told = refresh(access)
    assert (inputs["accepted"], outputs["reason"]) == (False, "SecretMissing")
    why = f"Cannot use the operator's token: Secret {TOKEN_SECRET} does not exist; `pulumi up` "
    assert f"warning: SecretMissing: operator access, read: {why}" in told
    with provider_process() as refreshing:
        for kind, held in ((LICENSES, license_), (KEYS, key)):
            failure = failure_of(refreshing.of(kind).read, held)
            assert failure.startswith("Failed: SecretMissing: "), "unknown, never gone"
            assert why in failure
    assert_only_reads(deployment.coderd)
    assert_next_update_repairs(deployment, access)


@pytest.mark.parametrize("garbage", ["no-token-of-ours", "two words", "ünprintable", "", b"\xff"])
def test_CP10_a_secret_with_something_else_in_it_is_drift_and_the_next_update_repairs_it(
    deployment: Deployment, garbage: str | bytes
) -> None:
    access, _, _ = up(deployment)
    deployment.cluster.put(TOKEN_SECRET, token=garbage)
    assert refresh(access)[0]["accepted"] is False
    assert_next_update_repairs(deployment, access)


# Resources that only read ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "more"),
    [
        (EntitlementsProvider(), {}),
        (FeatureGateProvider(), {"feature": "high_availability"}),
        (DaemonsConnectedProvider(), {"organization": "coder", "key_id": "k"}),
        (ProxyHealthProvider(), {"proxy_id": "p", "proxy_name": "p"}),
    ],
    ids=["entitlements", "gate", "daemons", "proxy"],
)
def test_K6_what_only_reads_is_deleted_without_a_connection(
    shared_process: ProviderProcess, tmp_path: Path, provider: Any, more: dict[str, Any]
) -> None:
    """E.g. with the CA file gone, which used to block a destroy."""
    gone = {"url": "https://coder.test", "ca_bundle": str(tmp_path / "gone.pem")}
    shared_process.of(provider).delete(Held("an-id", {"connection": gone, **more}, {}))
