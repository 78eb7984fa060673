"""coder-api.md section 1: what is true of every route."""

import pytest

from sandbox.coderd.rules.versions import USER_AFTER_ROUTE
from tests.contract import expect
from tests.contract.servers import Server

pytestmark = [pytest.mark.contract, pytest.mark.xdist_group("contract")]


@pytest.mark.parametrize("path", ["/healthz", "/api/v2/buildinfo", "/api/v2/nothing", "/x"])
def test_every_answer_names_the_build(server: Server, path: str) -> None:
    answer = server.call("GET", path)
    assert answer.headers["x-coder-build-version"] == server.version
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/nothing", "/buildinfo/", "/licensesx", "/users/me/x"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_route_is_404(server: Server, method: str, path: str) -> None:
    # Below /users/{user} coderd asks who is there first, so the owner asks.
    expect.refusal(server.owner(method, path), 404, expect.NO_ROUTE)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_route_of_an_unknown_user_is_404_too(server: Server, method: str) -> None:
    answer = server.owner(method, "/users/first/x")
    if server.has(USER_AFTER_ROUTE):
        expect.refusal(answer, 404, expect.NO_ROUTE)
    else:
        expect.refusal(answer, 400, expect.NO_USER, 'queried user="first"')


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/buildinfo"),
        ("DELETE", "/organizations/default/provisionerdaemons"),
        ("PATCH", "/users/me"),
        ("PUT", "/users/me/keys/tokens"),
        ("DELETE", "/users/me/keys/tokens"),
        ("HEAD", "/buildinfo"),
    ],
)
def test_a_wrong_method_is_405_with_an_empty_body(server: Server, method: str, path: str) -> None:
    answer = server.owner(method, path)
    assert answer.status_code == 405
    assert answer.content == b""
    assert "allow" in answer.headers


def test_anything_outside_the_api_is_a_page_with_200(server: Server) -> None:
    """A wrong base URL does not look like an error: a client has to look at the content type."""
    for path in ("/", "/x", "/api/v1/buildinfo"):
        answer = server.call("GET", path)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/html; charset=utf-8"


def test_several_slashes_are_one(server: Server) -> None:
    assert expect.data(server.call("GET", "/api/v2//buildinfo"))["deployment_id"]


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ("", "EOF"),
        ("{", "unexpected EOF"),
        ("hello", "invalid character 'h' looking for beginning of value"),
        ('{"email" 1}', "invalid character '1' after object key"),
        ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
    ],
)
def test_a_body_that_is_not_json_is_400(server: Server, body: str, detail: str) -> None:
    answer = server.api("POST", "/users/login", content=body)
    expect.refusal(answer, 400, "Request body must be valid JSON.", detail)


def test_a_wrong_type_counts_as_not_json(server: Server) -> None:
    answer = server.api("POST", "/users/login", json={"email": 3})
    body = expect.refusal(answer, 400, "Request body must be valid JSON.")
    assert "cannot unmarshal number into Go struct field" in body["detail"]


def test_unknown_fields_are_ignored_and_null_is_absent(server: Server) -> None:
    answer = server.api("POST", "/users/login", json={"colour": "red", "email": None})
    expect.validation(answer, email="required", password="required")


def test_field_names_match_in_any_case(server: Server) -> None:
    answer = server.api("POST", "/users/login", json={"EMAIL": "x", "Password": "y"})
    expect.validation(answer, email="email")


def test_only_the_first_json_value_counts(server: Server) -> None:
    answer = server.api("POST", "/users/login", content='{"email":"x"} and more')
    expect.validation(answer, email="email", password="required")


def test_every_answer_offers_a_csrf_cookie_once(server: Server) -> None:
    """So a client that keeps cookies collects them even without logging in."""
    assert "csrf_token" in server.api("GET", "/buildinfo").cookies
    value = server.api("GET", "/buildinfo").cookies["csrf_token"]
    again = server.api("GET", "/buildinfo", headers={"Cookie": f"csrf_token={value}"})
    assert "set-cookie" not in again.headers
