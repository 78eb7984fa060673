"""Every error response of coderd becomes the right error, with the next step."""

import pytest

from coder_stack.coderd.errors import (
    CoderdError,
    InvalidLicense,
    InvalidRequest,
    NotEmpty,
    NotEntitled,
    PasswordLoginDisabled,
    RouteAbsent,
    Unauthenticated,
)
from tests.unit.coderd.every_call import EVERY_CALL
from tests.unit.coderd.fakes import SECRETS, always, answer, coderd, error_of, message, shown
from tests.unit.coderd.refusals import BAD, HOLDS, REFUSALS, UNDELETED


@pytest.mark.parametrize("marked", [True, False], ids=["with version header", "header stripped"])
@pytest.mark.parametrize(("method", "status", "body", "leaf"), REFUSALS)
def test_each_documented_refusal_is_one_leaf(
    method: str, status: int, body: object, leaf: type[CoderdError], marked: bool
) -> None:
    """The header alone must not decide: some administrators strip version headers."""
    client = coderd(always(answer(status, body, ours=marked)))

    error = error_of(lambda: EVERY_CALL[method](client))

    assert (type(error), error.status) == (leaf, status)


@pytest.mark.parametrize(("method", "status", "body", "_leaf"), REFUSALS)
def test_messages_are_stable_sentences_without_secrets(
    method: str, status: int, body: object, _leaf: type[CoderdError]
) -> None:
    first, second = (
        error_of(lambda: EVERY_CALL[method](coderd(always(answer(status, body))))) for _ in range(2)
    )

    assert str(first) == str(second)
    assert str(first).startswith("Cannot ")
    assert str(first).endswith(".")
    assert not any(secret in shown(first) for secret in SECRETS)
    assert first.__cause__ is None
    assert first.__context__ is None


@pytest.mark.parametrize(
    ("detail", "check"),
    [
        ("license has multiple issues; contact support", "signature"),
        ("license must be version 3", "version"),
        ("license has invalid or missing iat (issued at) claim", "iat"),
        ("license has invalid or missing nbf (not before) claim", "nbf"),
        ("license has invalid or missing license_expires claim", "license_expires"),
        ("license has invalid or missing exp (expires at) claim", "exp"),
        ("license must contain valid account type", "account_type"),
        ("license must contain valid account ID", "account_id"),
        ("something new", "other"),
    ],
)
def test_an_invalid_license_names_the_check_that_failed(detail: str, check: str) -> None:
    client = coderd(always(answer(400, message(BAD, detail))))

    error = error_of(lambda: EVERY_CALL["add_license"](client))

    assert isinstance(error, InvalidLicense)
    assert error.check == check


def test_not_entitled_names_the_feature_that_gates_the_route() -> None:
    client = coderd(always(answer(403, message("Anything is a Premium feature. Contact sales!"))))

    error = error_of(lambda: EVERY_CALL["create_provisioner_key"](client))

    assert isinstance(error, NotEntitled)
    assert error.feature == "external_provisioner_daemons"
    assert "external_provisioner_daemons" in str(error)


def test_an_invalid_request_names_only_fields_that_the_request_has() -> None:
    """The message repeats only field names that we sent, not the server's text."""
    body = message("Validation failed.", fields=["icon", "name", "somebody-elses-words"])
    client = coderd(always(answer(400, body)))

    error = error_of(lambda: EVERY_CALL["create_workspace_proxy"](client))

    assert isinstance(error, InvalidRequest)
    assert error.fields == ("icon", "name")
    assert "somebody" not in shown(error)


@pytest.mark.parametrize(
    ("method", "credential"),
    [("user", "session token"), ("login", "password"), ("provisioner_key_of", "provisioner key")],
)
def test_a_401_says_which_credential_was_not_accepted(method: str, credential: str) -> None:
    client = coderd(always(answer(401, message("No."))))

    error = error_of(lambda: EVERY_CALL[method](client))

    assert isinstance(error, Unauthenticated)
    assert error.credential == credential


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("Password authentication is disabled.", "password authentication is disabled in coderd"),
        ("Incorrect login type, attempting to use …", "this user logs in to coderd in another way"),
    ],
)
def test_CP6_single_sign_on_only_is_no_wrong_password(said: str, sentence: str) -> None:
    """Another password would not help, so the message does not ask for one."""
    client = coderd(always(answer(403, message(said))))

    error = error_of(lambda: EVERY_CALL["login"](client))

    assert isinstance(error, PasswordLoginDisabled)
    assert error.credential == "password"
    assert sentence in str(error)
    assert str(error).endswith("give a session token (secret config token, or access.tokenSecret).")


def test_an_organization_that_holds_something_says_what() -> None:
    """The message repeats only known kinds and their numbers, not the server's text."""
    held = "1 workspace, 12 members, 2 provisioner keys, 3 SECRETS"
    client = coderd(always(answer(500, message(UNDELETED, HOLDS.format(held)))))

    error = error_of(lambda: EVERY_CALL["delete_organization"](client))

    assert isinstance(error, NotEmpty)
    assert error.contents == ("1 workspace", "12 members", "2 provisioner keys")
    assert "it still holds 1 workspace, 12 members, 2 provisioner keys; remove" in str(error)
    assert not error.may_have_happened


def test_L7_an_agpl_build_that_reads_organizations_cannot_change_them() -> None:
    """It has the path and not the method: 405 instead of 404."""
    for method in ("create_organization", "update_organization", "delete_organization"):
        error = error_of(lambda name=method: EVERY_CALL[name](coderd(always(answer(405, b"")))))

        assert isinstance(error, RouteAbsent)
