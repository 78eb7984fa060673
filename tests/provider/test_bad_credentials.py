"""Credentials that cannot work: one sentence each, at preview where possible, and no change."""

import re
from typing import Any

import pytest

from tests.provider.driver import ProviderProcess, provider_process
from tests.provider.operators import (
    ACCESS,
    PASSWORD_SECRET,
    TOKEN_SECRET,
    Deployment,
    failure_of,
    problem_of,
)


def given_in_secret(deployment: Deployment) -> dict[str, Any]:
    """Operator access with a token in a Secret of the user's."""
    return {"connection": deployment.with_secret("coder/theirs").connection}


def without(deployment: Deployment, missing: str) -> dict[str, Any]:
    """Operator access whose token or password is to be in a Secret of the user's."""
    if missing == "token":
        return given_in_secret(deployment)
    return deployment.inputs(password_secret=deployment.secret_ref("coder/theirs", missing))


def test_a_wrong_password_is_one_sentence_and_changes_nothing(
    deployment: Deployment, process: ProviderProcess
) -> None:
    process.of(ACCESS).create(deployment.inputs())
    other = deployment.with_secret("coder/other")
    deployment.cluster.put(PASSWORD_SECRET, password="Wrong-But-Long-Enough-1!")
    why = failure_of(process.of(ACCESS).create, other.inputs())
    assert "Forbidden: operator access, create: Cannot log in: coderd does not accept" in why
    assert "pulumi config set --secret initialPassword" in why
    assert other.token is None


@pytest.mark.parametrize("token", ["two words", "ünprintable"])
@pytest.mark.parametrize("location", ["config", "Secret"])
def test_a_text_that_cannot_be_a_token_is_named_at_preview(
    deployment: Deployment, process: ProviderProcess, token: str, location: str
) -> None:
    deployment.cluster.put("coder/theirs", token=token)
    in_program = {"connection": deployment.coderd.connection, "token": token}
    why = problem_of(process, in_program if location == "config" else given_in_secret(deployment))
    assert why.endswith("holds characters that no token has; copy it again.")
    assert token not in why


@pytest.mark.parametrize("state", ["revoked", "expired", "not an owner's"])
def test_a_bad_token_is_named_at_preview(
    deployment: Deployment, process: ProviderProcess, state: str
) -> None:
    process.of(ACCESS).create(deployment.inputs())
    token = deployment.add_user(roles=() if state == "not an owner's" else ("owner",))
    record = deployment.coderd.state.records.api_keys[token.partition("-")[0]]
    if state == "expired":
        record.expires_at = record.created_at
    if state == "revoked":
        deployment.revoke(token)
    deployment.coderd.forget_requests()
    why = problem_of(process, {"connection": deployment.coderd.connection, "token": token})
    assert why.startswith("Forbidden: ")
    assert ("give a token of an owner" if state == "not an owner's" else "renew it") in why
    assert token not in why
    assert deployment.coderd.requests("POST") == []


def test_the_password_of_somebody_who_is_no_owner_leaves_neither_token_nor_secret(
    deployment: Deployment, process: ProviderProcess
) -> None:
    process.of(ACCESS).create(deployment.inputs())
    (user,) = deployment.coderd.state.records.users.values()
    user.roles = []
    before = deployment.token_names
    other = deployment.with_secret("coder/other")
    assert failure_of(process.of(ACCESS).create, other.inputs(token_name="other")) == (
        "Failed: Forbidden: operator access, create: Cannot make the operator's token: "
        "admin@example.com is no owner of coderd; declare e-mail and password of an owner, or give "
        "a session token of one."
    )
    assert (other.token, deployment.token_names) == (None, before), "not even the login's session"


def test_with_SSO_only_the_refusal_of_coderd_is_shown(
    deployment: Deployment, process: ProviderProcess
) -> None:
    process.of(ACCESS).create(deployment.inputs())
    deployment.coderd.refuse(403, "Password authentication is disabled.", "*/login", count=-1)
    other = deployment.with_secret("coder/other")
    why = failure_of(process.of(ACCESS).create, other.inputs())
    assert "password authentication is disabled in coderd" in why
    assert "give a session token" in why
    assert other.token is None


@pytest.mark.parametrize("stack", ["new", "existing"])
@pytest.mark.parametrize("missing", ["token", "password"])
def test_a_secret_without_the_key_asked_for_is_named_at_preview(
    deployment: Deployment, process: ProviderProcess, missing: str, stack: str
) -> None:
    deployment.cluster.put("coder/theirs", something="else")
    inputs = without(deployment, missing)
    old = {"connection": inputs["connection"]} if stack == "existing" else {}
    why = problem_of(process, inputs, old)
    assert why.startswith("SecretMissing: ")
    assert f'Secret coder/theirs: it has no key "{missing}"; add it.' in why
    assert deployment.coderd.requests("POST") == []


@pytest.mark.parametrize("missing", ["token", "password"])
def test_a_secret_that_this_update_may_create_is_a_warning_at_a_first_preview(
    deployment: Deployment, process: ProviderProcess, missing: str
) -> None:
    inputs = without(deployment, missing)
    assert process.of(ACCESS).check(inputs).failures == []
    assert "SecretMissing: " in process.stderr
    why = failure_of(process.of(ACCESS).create, inputs)
    assert why.startswith("Failed: SecretMissing: operator access, create: ")
    assert re.search(r"Secret coder/theirs:? .*does not exist; .*create it\.", why)


@pytest.mark.parametrize("data", [{"token": "somebody-elses"}, {"other": "value"}])
def test_a_secret_that_somebody_else_created_under_that_name_is_named_at_preview(
    deployment: Deployment, process: ProviderProcess, data: dict[str, str]
) -> None:
    deployment.cluster.put(TOKEN_SECRET, **data)
    conflict = f"Conflict: Cannot use Secret {TOKEN_SECRET}: it is there and is not this program's"
    assert f"{conflict}; " in problem_of(process, deployment.inputs())
    assert deployment.coderd.requests("POST") == []


def test_a_password_that_coderd_finds_too_weak_is_one_sentence(
    deployment: Deployment, process: ProviderProcess
) -> None:
    deployment.cluster.put(PASSWORD_SECRET, password="weak")
    why = failure_of(process.of(ACCESS).create, deployment.inputs())
    assert "coderd finds the password too weak or too long; choose a longer one" in why
    assert (deployment.token, list(deployment.coderd.state.records.users)) == (None, [])


@pytest.mark.parametrize(
    ("project", "key"), [("coder-stack", "initialPassword"), ("app", "coder-stack:initialPassword")]
)
def test_CP9_without_a_password_preview_names_the_command_that_sets_it_in_any_project(
    deployment: Deployment, project: str, key: str
) -> None:
    """A plain `initialPassword` would be that of the project, which may be a library user's."""
    with provider_process(environment={"PULUMI_PROJECT": project}) as process:
        why = problem_of(process, deployment.inputs(password_secret=None))
    assert why.endswith(f"pulumi config set --secret {key}")
    assert deployment.coderd.requests("POST") == []
