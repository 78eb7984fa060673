"""Credentials that cannot work: one sentence each, at preview where possible, and no change."""

import re
from typing import Any

import pytest

from tests.provider.driver import Failure, ProviderProcess, provider_process
from tests.provider.operators import ACCESS, HOME, PASSWORDS, Place


def test_a_wrong_password_is_one_sentence_and_changes_nothing(
    place: Place, process: ProviderProcess
) -> None:
    process.of(ACCESS).create(place.wish())
    other = Place(place.coderd, place.cluster, home="coder/other")
    place.cluster.put(PASSWORDS, password="Wrong-But-Long-Enough-1!")
    with pytest.raises(Failure) as failed:
        process.of(ACCESS).create(other.wish())
    assert "Forbidden: operator access, create: Cannot log in: coderd does not accept" in (
        failed.value.last
    )
    assert "pulumi config set --secret initialPassword" in failed.value.last
    assert other.token is None


@pytest.mark.parametrize("token", ["two words", "ünprintable"])
@pytest.mark.parametrize("home", ["config", "Secret"])
def test_a_text_that_cannot_be_a_token_is_named_at_preview(
    place: Place, process: ProviderProcess, token: str, home: str
) -> None:
    wish: dict[str, Any] = {"connection": place.coderd.connection, "token": token}
    if home == "Secret":
        place.cluster.put("coder/theirs", token=token)
        credential = place.secret("coder/theirs", "token")
        wish = {"connection": {**place.coderd.connection, "credential": credential}}
    ((path, why),) = process.of(ACCESS).check(wish).failures
    assert path == ""
    assert why.endswith("holds characters that no token has; copy it again.")
    assert token not in why


@pytest.mark.parametrize("state", ["revoked", "expired", "not an owner's"])
def test_a_bad_token_is_named_at_preview(
    place: Place, process: ProviderProcess, state: str
) -> None:
    process.of(ACCESS).create(place.wish())
    roles = [] if state == "not an owner's" else ["owner"]
    token = place.coderd.act("POST", "/_sim/users", {"username": "robot", "roles": roles},
                             token=place.token or "")["token"]  # fmt: skip
    record = place.coderd.state.records.api_keys[token.partition("-")[0]]
    if state == "expired":
        record.expires_at = record.created_at
    if state == "revoked":
        place.coderd.act("DELETE", f"/api/v2/users/me/keys/{token.partition('-')[0]}", token=token)
    place.coderd.forget_requests()
    checked = process.of(ACCESS).check({"connection": place.coderd.connection, "token": token})
    ((path, why),) = checked.failures
    assert path == ""
    assert why.startswith("Forbidden: ")
    assert ("give a token of an owner" if state == "not an owner's" else "renew it") in why
    assert token not in why
    assert place.coderd.requests("POST") == []


def test_the_password_of_somebody_who_is_no_owner_leaves_neither_token_nor_secret(
    place: Place, process: ProviderProcess
) -> None:
    process.of(ACCESS).create(place.wish())
    (user,) = place.coderd.state.records.users.values()
    user.roles = []
    before = place.token_names
    other = Place(place.coderd, place.cluster, home="coder/other")
    with pytest.raises(Failure) as failed:
        process.of(ACCESS).create(other.wish(token_name="other"))
    assert failed.value.last == (
        "Failed: Forbidden: operator access, create: Cannot make the operator's token: "
        "admin@example.com is no owner of coderd; declare e-mail and password of an owner, or give "
        "a session token of one."
    )
    assert (other.token, place.token_names) == (None, before), "not even the login's session"


def test_with_SSO_only_coderds_own_word_is_heard(place: Place, process: ProviderProcess) -> None:
    process.of(ACCESS).create(place.wish())
    place.coderd.refuse(403, "Password authentication is disabled.", "*/login", count=-1)
    other = Place(place.coderd, place.cluster, home="coder/other")
    with pytest.raises(Failure) as failed:
        process.of(ACCESS).create(other.wish())
    assert "password authentication is disabled in coderd" in failed.value.last
    assert "give a session token" in failed.value.last
    assert other.token is None


@pytest.mark.parametrize("stack", ["new", "existing"])
@pytest.mark.parametrize("missing", ["token", "password"])
def test_a_secret_without_the_key_asked_for_is_named_at_preview(
    place: Place, process: ProviderProcess, missing: str, stack: str
) -> None:
    place.cluster.put("coder/theirs", something="else")
    theirs = place.secret("coder/theirs", missing)
    wish = place.wish(password_secret=theirs)
    if missing == "token":
        wish = {"connection": {**place.coderd.connection, "credential": theirs}}
    held = {"connection": wish["connection"]} if stack == "existing" else {}
    ((path, why),) = process.of(ACCESS).check(wish, held).failures
    assert path == ""
    assert why.startswith("SecretMissing: ")
    assert f'Secret coder/theirs: it has no key "{missing}"; add it.' in why
    assert place.coderd.requests("POST") == []


@pytest.mark.parametrize("missing", ["token", "password"])
def test_a_secret_that_may_come_with_this_very_update_is_a_warning_at_a_first_preview(
    place: Place, process: ProviderProcess, missing: str
) -> None:
    theirs = place.secret("coder/theirs", missing)
    wish = place.wish(password_secret=theirs)
    if missing == "token":
        wish = {"connection": {**place.coderd.connection, "credential": theirs}}
    assert process.of(ACCESS).check(wish).failures == []
    assert "SecretMissing: " in process.stderr
    with pytest.raises(Failure) as failed:
        process.of(ACCESS).create(wish)
    assert failed.value.last.startswith("Failed: SecretMissing: operator access, create: ")
    assert re.search(r"Secret coder/theirs:? .*does not exist; .*create it\.", failed.value.last)


@pytest.mark.parametrize("data", [{"token": "somebody-elses"}, {"other": "value"}])
def test_a_secret_that_somebody_else_made_under_that_name_is_named_at_preview(
    place: Place, process: ProviderProcess, data: dict[str, str]
) -> None:
    place.cluster.put(HOME, **data)
    ((path, why),) = process.of(ACCESS).check(place.wish()).failures
    assert path == ""
    assert f"Conflict: Cannot use Secret {HOME}: it is there and is not this program's; " in why
    assert place.coderd.requests("POST") == []


def test_a_password_that_coderd_finds_too_weak_is_one_sentence(
    place: Place, process: ProviderProcess
) -> None:
    place.cluster.put(PASSWORDS, password="weak")
    with pytest.raises(Failure) as failed:
        process.of(ACCESS).create(place.wish())
    assert "coderd finds the password too weak or too long; choose a longer one" in (
        failed.value.last
    )
    assert (place.token, list(place.coderd.state.records.users)) == (None, [])


@pytest.mark.parametrize(
    ("project", "key"), [("coder-stack", "initialPassword"), ("app", "coder-stack:initialPassword")]
)
def test_CP9_the_command_that_sets_the_password_is_right_in_any_project(
    place: Place, project: str, key: str
) -> None:
    """A plain `initialPassword` would be that of the project, which may be a library user's."""
    with provider_process(environment={"PULUMI_PROJECT": project}) as process:
        ((_, why),) = process.of(ACCESS).check(place.wish(password_secret=None)).failures
    assert why.endswith(f"pulumi config set --secret {key}")
