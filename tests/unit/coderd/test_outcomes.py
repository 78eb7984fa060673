"""Every row of coderd's error tables ends in the one leaf and reason word that fits it."""

import httpx
import pytest

from coder_stack.coderd import (
    ApiServerRefused,
    CoderdError,
    Conflict,
    DuplicateLicense,
    ForbiddenByRole,
    InvalidLicense,
    InvalidRequest,
    KeyRejected,
    NotEntitled,
    NotFound,
    ProtocolError,
    RateLimited,
    Reason,
    RouteAbsent,
    ServerFault,
    Unauthenticated,
    Unavailable,
    entitlements_reason,
    errors,
    license_reason,
)
from tests.unit.coderd.every_call import CHANGE_SOMETHING, EVERY_CALL
from tests.unit.coderd.fakes import (
    SECRETS,
    FakeClock,
    always,
    answer,
    coderd,
    error_of,
    message,
    shown,
)

SIGNED_OUT = "You are signed out or your session has expired. Please sign in again to continue."
GONE = "Resource not found or you do not have access to this resource"
RBAC = message("An internal server error occurred.", "unauthorized: rbac: forbidden")
UNIQUE = 'pq: duplicate key value violates unique constraint "'
BAD = "Invalid license"
CSRF = b"Something is wrong with your CSRF token.\n"

# What is asked, what coderd answers, what that is.
ROWS: list[tuple[str, int, object, type[CoderdError]]] = [
    # 1. conventions
    ("licenses", 400, message("Request body must be valid JSON."), InvalidRequest),
    ("create_token", 400, message("Validation failed.", fields=["token_name"]), InvalidRequest),
    ("licenses", 403, message("Forbidden.", "You don't have permission …"), ForbiddenByRole),
    ("organization", 404, message(GONE), NotFound),
    ("licenses", 404, message("Route not found."), RouteAbsent),
    ("entitlements", 404, message("Route not found."), RouteAbsent),
    ("workspace_proxies", 404, message("Route not found."), RouteAbsent),
    ("provisioner_keys", 404, message("Route not found."), RouteAbsent),
    ("provisioner_key_of", 404, message("Route not found."), RouteAbsent),
    ("licenses", 405, b"", ProtocolError),
    ("licenses", 500, message("An internal server error occurred.", "boom"), ServerFault),
    ("licenses", 429, message("You've been rate limited for …"), RateLimited),
    ("add_license", 400, CSRF, ProtocolError),
    ("user", 401, message(SIGNED_OUT, "API key is invalid."), Unauthenticated),
    ("user", 401, message('User is not active (status = "suspended").'), Unauthenticated),
    (
        "provisioner_keys",
        403,
        message("External Provisioner Daemons is a Premium feature. Contact sales!"),
        NotEntitled,
    ),
    (
        "provisioner_keys",
        403,
        message("External provisioner daemons is an Enterprise feature. Contact sales!"),
        NotEntitled,
    ),
    (
        "workspace_proxies",
        403,
        message("Workspace Proxy is a Premium feature. Contact sales!"),
        NotEntitled,
    ),
    # 2. first user and login
    ("create_first_user", 400, message("Password is invalid", fields=["password"]), InvalidRequest),
    ("create_first_user", 409, message("The initial user has already been created."), Conflict),
    ("create_first_user", 500, message("Failed to generate trial"), ServerFault),
    ("create_first_user", 500, message("Internal error creating user."), ServerFault),
    ("has_first_user", 404, message("Route not found."), RouteAbsent),
    ("login", 401, message("Incorrect email or password."), Unauthenticated),
    ("login", 403, message("Password authentication is disabled."), Unauthenticated),
    ("login", 403, message("Incorrect login type, attempting to use …"), Unauthenticated),
    ("login", 401, message("Your account is suspended. Contact an admin."), Unauthenticated),
    # 3. tokens
    ("tokens", 400, message('"user" must be an existing uuid or username.'), InvalidRequest),
    (
        "create_token",
        400,
        message("Failed to validate create API key request.", "lifetime must be less than 168h"),
        InvalidRequest,
    ),
    ("create_token", 400, message("Failed to create API key."), InvalidRequest),
    (
        "create_token",
        409,
        message('A token with name "x" already exists.', fields=["name"]),
        Conflict,
    ),
    ("create_token", 403, message("Forbidden."), ForbiddenByRole),
    ("create_token", 500, message("Failed to create API key."), ServerFault),
    ("token", 404, message(GONE), NotFound),
    ("delete_token", 404, message(GONE), NotFound),
    # 5. licenses
    ("licenses", 500, message("Internal error parsing licenses."), ServerFault),
    ("add_license", 400, message("Validation failed.", fields=["license"]), InvalidLicense),
    (
        "add_license",
        400,
        message(BAD, "license has multiple issues; contact support"),
        InvalidLicense,
    ),
    ("add_license", 400, message("License cannot be used on this deployment!"), InvalidLicense),
    ("add_license", 401, message(SIGNED_OUT), Unauthenticated),
    ("add_license", 403, message("Forbidden."), ForbiddenByRole),
    (
        "add_license",
        500,
        message("Unable to add license to database", UNIQUE + 'licenses_jwt_key"'),
        DuplicateLicense,
    ),
    ("add_license", 500, message("Failed to update entitlements"), ServerFault),
    ("delete_license", 404, message("License ID must be an integer"), NotFound),
    ("delete_license", 404, message("Unknown license ID"), NotFound),
    # 7. provisioner keys
    ("create_provisioner_key", 400, message("Name is required", fields=["name"]), InvalidRequest),
    (
        "create_provisioner_key",
        400,
        message("Name must be at most 64 characters", fields=["name"]),
        InvalidRequest,
    ),
    (
        "create_provisioner_key",
        400,
        message("Name cannot be reserved name 'psk'", fields=["name"]),
        InvalidRequest,
    ),
    (
        "create_provisioner_key",
        409,
        message("Provisioner key with name 'gpu' already exists in organization"),
        Conflict,
    ),
    ("create_provisioner_key", 500, RBAC, ForbiddenByRole),
    ("delete_provisioner_key", 500, RBAC, ForbiddenByRole),
    (
        "delete_provisioner_key",
        400,
        message("Cannot delete reserved 'psk' provisioner key"),
        InvalidRequest,
    ),
    ("delete_provisioner_key", 404, message(GONE), NotFound),
    ("provisioner_key_of", 401, message("provisioner daemon key invalid"), KeyRejected),
    (
        "provisioner_key_of",
        400,
        message("provisioner daemon key invalid", "must be 43 characters"),
        KeyRejected,
    ),
    ("provisioner_key_of", 401, message("provisioner daemon key required"), Unauthenticated),
    ("provisioner_daemons", 404, message(GONE), NotFound),
    # 8. workspace proxies
    (
        "create_workspace_proxy",
        400,
        message('The name "primary" is reserved for the primary region.', fields=["name"]),
        InvalidRequest,
    ),
    (
        "create_workspace_proxy",
        409,
        message('Workspace proxy with name "eu" already exists.'),
        Conflict,
    ),
    ("create_workspace_proxy", 500, RBAC, ForbiddenByRole),
    ("update_workspace_proxy", 400, message("Validation failed.", fields=["icon"]), InvalidRequest),
    (
        "update_workspace_proxy",
        500,
        message("An internal server error occurred.", UNIQUE + 'workspace_proxies_lower_name_idx"'),
        Conflict,
    ),
    ("update_workspace_proxy", 404, message(GONE), NotFound),
    ("workspace_proxy", 404, message(GONE), NotFound),
    ("delete_workspace_proxy", 400, message("Cannot delete primary proxy"), InvalidRequest),
    ("delete_workspace_proxy", 404, message(GONE), NotFound),
]


@pytest.mark.parametrize("marked", [True, False], ids=["with version header", "header stripped"])
@pytest.mark.parametrize(("method", "status", "body", "leaf"), ROWS)
def test_each_documented_refusal_is_one_leaf(
    method: str, status: int, body: object, leaf: type[CoderdError], marked: bool
) -> None:
    """The header alone must not decide: some administrators strip version headers."""
    client = coderd(always(answer(status, body, ours=marked)))

    error = error_of(lambda: EVERY_CALL[method](client))

    assert (type(error), error.status) == (leaf, status)


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
    """The names in the answer are the server's text: one that we did not send is not repeated."""
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


@pytest.mark.parametrize("method", EVERY_CALL)
@pytest.mark.parametrize(
    "body",
    [
        b"<html><h1>404 page not found</h1></html>",
        b"default backend - 404",
        b'{"message": "no Route matched with those values"}',
        b"",
        b"null",
    ],
)
def test_U1_a_404_of_an_ingress_or_gateway_is_never_gone(method: str, body: bytes) -> None:
    client = coderd(always(answer(404, body, ours=False)))

    error = error_of(lambda: EVERY_CALL[method](client))

    assert isinstance(error, ProtocolError)
    assert error.fault == "not-coderd"


@pytest.mark.parametrize("status", [401, 403, 409])
def test_U1_refusals_of_a_gateway_are_not_coderds(status: int) -> None:
    """A 401 of something in front must not make the program renew a token that is good."""
    client = coderd(always(answer(status, {"message": "Unauthorized"}, ours=False)))

    error = error_of(lambda: EVERY_CALL["user"](client))

    assert isinstance(error, ProtocolError)


def kubernetes(code: int, text: str) -> httpx.Response:
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": text}
    return answer(code, status | {"code": code, "metadata": {}}, ours=False)


@pytest.mark.parametrize("method", EVERY_CALL)
@pytest.mark.parametrize("code", [400, 401, 403, 404, 405])
def test_CP8_a_refusal_of_the_api_server_is_told_apart(method: str, code: int) -> None:
    client = coderd(always(kubernetes(code, 'services "coder" not found')))

    error = error_of(lambda: EVERY_CALL[method](client))

    assert isinstance(error, ApiServerRefused)
    assert not error.may_have_happened


@pytest.mark.parametrize(
    ("text", "touched"),
    [
        ('no endpoints available for service "coder"', False),
        ("error trying to reach service: dial tcp 10.0.0.1:8080: connect: refused", False),
        ("error trying to reach service: EOF", True),
    ],
)
def test_CP8_no_ready_endpoint_is_unavailable(text: str, touched: bool) -> None:
    client = coderd(always(kubernetes(503, text)), clock=FakeClock())

    error = error_of(lambda: EVERY_CALL["create_provisioner_key"](client))

    assert isinstance(error, Unavailable)
    assert error.may_have_happened is touched


def test_a_status_object_that_coderd_itself_sent_is_not_taken_for_kubernetes() -> None:
    body = {"kind": "Status", "apiVersion": "v1", "message": GONE}
    client = coderd(always(answer(404, body)))

    assert isinstance(error_of(lambda: EVERY_CALL["workspace_proxy"](client)), NotFound)


@pytest.mark.parametrize("method", EVERY_CALL)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_said_so(method: str, status: int) -> None:
    asked: list[httpx.Request] = []

    def elsewhere(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return answer(status, b"", location="https://else" + "where.test/")

    error = error_of(lambda: EVERY_CALL[method](coderd(elsewhere)))

    assert isinstance(error, ProtocolError)
    assert error.fault == "redirect"
    assert len(asked) == 1
    assert "redirect" in str(error)
    assert "elsewhere.test" not in shown(error)


def test_a_redirect_to_https_says_to_set_https() -> None:
    handler = always(answer(308, b"", location="https://127.0.0.1/healthz"))

    error = error_of(coderd(handler, url="http://127.0.0.1:3000").healthz)

    assert "set the URL to https" in str(error)


@pytest.mark.parametrize("method", EVERY_CALL)
@pytest.mark.parametrize("status", [202, 299, 418, 451, 501, 520])
def test_a_status_that_coderd_never_gives_is_an_error(method: str, status: int) -> None:
    error = error_of(lambda: EVERY_CALL[method](coderd(always(answer(status, {})))))

    assert error.status == status
    assert error.may_have_happened is (method in CHANGE_SOMETHING)


@pytest.mark.parametrize("method", EVERY_CALL)
def test_a_web_page_instead_of_json_is_an_error(method: str) -> None:
    """Coderd serves its web page, status 200, outside the API: a wrong URL looks like this."""
    client = coderd(always(answer(200, b"<!doctype html><title>Coder</title>")))

    error = error_of(lambda: EVERY_CALL[method](client))

    assert isinstance(error, ProtocolError)
    assert error.may_have_happened is (method in CHANGE_SOMETHING)


# The whole vocabulary: leaf, word, and whether the same call fails again until somebody acts.
LEAVES = [
    (errors.AnswerLost, "AnswerLost", False),
    (errors.ApiServerRefused, "ApiServerRefused", True),
    (errors.CertificateNotTrusted, "CertificateNotTrusted", True),
    (errors.Conflict, "Conflict", True),
    (errors.DuplicateLicense, "DuplicateLicense", True),
    (errors.ForbiddenByRole, "Forbidden", True),
    (errors.InsecureConnection, "InsecureConnection", True),
    (errors.InvalidConnection, "InvalidConnection", True),
    (errors.InvalidLicense, "InvalidLicense", True),
    (errors.InvalidRequest, "InvalidRequest", True),
    (errors.KeyRejected, "KeyRejected", True),
    (errors.NotEntitled, "NotEntitled", True),
    (errors.NotFound, "NotFound", True),
    (errors.ProtocolError, "ProtocolError", True),
    (errors.RateLimited, "RateLimited", False),
    (errors.RouteAbsent, "NotSupported", True),
    (errors.ServerFault, "ServerFault", False),
    (errors.Unauthenticated, "Forbidden", True),
    (errors.Unavailable, "Unavailable", False),
]


@pytest.mark.parametrize(("leaf", "word", "permanent"), LEAVES)
def test_each_leaf_has_one_word(leaf: type[CoderdError], word: str, permanent: bool) -> None:
    assert (leaf.reason, leaf.permanent) == (word, permanent)


def test_the_vocabulary_is_complete() -> None:
    """Every error class with a word is listed, every word but those of conditions alone is used."""

    def below(parent: type[CoderdError]) -> set[type[CoderdError]]:
        return {parent}.union(*(below(child) for child in parent.__subclasses__()))

    of_conditions = {"SecretMissing", "Pending", "EntitlementsQueryFailed", "Error"}
    assert {leaf for leaf in below(CoderdError) if hasattr(leaf, "reason")} == {
        leaf for leaf, _, _ in LEAVES
    }
    assert {word for _, word, _ in LEAVES} | of_conditions == set(Reason)


def test_the_license_condition_knows_three_words() -> None:
    """L7: NotSupported, Forbidden, and Error for anything else."""
    assert {license_reason(reason) for reason in Reason} == {"NotSupported", "Forbidden", "Error"}


def test_unread_entitlements_have_three_words() -> None:
    """E6, and NotSupported for the AGPL build."""
    words = {entitlements_reason(reason) for reason in Reason}
    assert words == {"NotSupported", "Forbidden", "EntitlementsQueryFailed"}


@pytest.mark.parametrize(("method", "status", "body", "_leaf"), ROWS)
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
