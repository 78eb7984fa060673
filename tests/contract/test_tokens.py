"""coder-api.md section 3: API tokens."""

import itertools

import pytest

from sandbox.coderd.rules.versions import OWNER_LIFETIME, SCOPE_LIST
from tests.contract import expect
from tests.contract.servers import Server

pytestmark = [pytest.mark.contract, pytest.mark.xdist_group("contract")]

DAY = 24 * 3600 * 10**9
CENTURY = 876600 * 3600 * 10**9
TOKENS = "/users/me/keys/tokens"
_numbers = itertools.count()


def fresh_name() -> str:
    return f"token-{next(_numbers)}"


def key_shape(server: Server) -> dict[str, type | tuple[type, ...]]:
    texts = ("id", "user_id", "last_used", "expires_at", "created_at", "updated_at")
    texts += ("login_type", "scope", "token_name")
    shape: dict[str, type | tuple[type, ...]] = dict.fromkeys(texts, str)
    shape["lifetime_seconds"] = int
    if server.has(SCOPE_LIST):
        shape |= {"scopes": list, "allow_list": list}
    return shape


def test_a_new_token_is_shown_once_and_nothing_else_is(server: Server) -> None:
    body = expect.data(server.owner("POST", TOKENS, json={"token_name": fresh_name()}), 201)
    expect.shape(body, {"key": str})
    key_id, secret = body["key"].split("-")
    assert (len(key_id), len(secret)) == (10, 22)
    assert server.api("GET", "/users/me", body["key"]).json()["username"] == "owner"


def test_a_token_is_found_by_name_and_by_id_without_its_secret(server: Server) -> None:
    name = fresh_name()
    text = server.owner("POST", TOKENS, json={"token_name": name, "lifetime": DAY}).json()["key"]
    by_name = expect.data(server.owner("GET", f"{TOKENS}/{name}"))
    expect.shape(by_name, key_shape(server))
    assert by_name == server.owner("GET", f"/users/me/keys/{text.split('-')[0]}").json()
    assert by_name["lifetime_seconds"] == 24 * 3600
    assert (by_name["login_type"], by_name["scope"]) == ("token", "all")
    assert text.split("-")[1] not in str(by_name)
    assert by_name["last_used"] == "0001-01-01T00:00:00Z"


def test_the_list_adds_the_user_name(server: Server) -> None:
    name = fresh_name()
    server.owner("POST", TOKENS, json={"token_name": name})
    listed = expect.data(server.owner("GET", TOKENS))
    expect.shape(listed[0], key_shape(server) | {"username": str})
    assert name in {item["token_name"] for item in listed}
    assert {item["username"] for item in listed} == {"owner"}


def test_no_tokens_is_null_and_not_an_empty_list(server: Server) -> None:
    request = {"email": "none@example.com", "username": "none", "password": "Contract-None-1!"}
    server.owner("POST", "/users", json=request | {"organization_ids": [server.organization_id]})
    answer = server.owner("GET", "/users/none/keys/tokens")
    assert (answer.status_code, answer.text) == (200, "null\n")


def test_include_all_shows_everybodys_to_an_owner_only(server: Server) -> None:
    server.new_token()
    server.owner("POST", TOKENS, json={"token_name": fresh_name()})
    mine = server.owner("GET", TOKENS, params={"include_all": "true"}).json()
    assert {item["username"] for item in mine} >= {"owner", "member"}
    theirs = server.member("GET", TOKENS, params={"include_all": "true"}).json()
    assert {item["username"] for item in theirs} == {"member"}


def test_the_longest_lifetime_is_seven_days_for_an_owner(server: Server) -> None:
    longest, said = (7 * DAY, "168h0m0s") if server.has(OWNER_LIFETIME) else (CENTURY, str(CENTURY))
    config = expect.data(server.owner("GET", f"{TOKENS}/tokenconfig"))
    assert config == {"max_token_lifetime": longest}
    allowed = server.owner("POST", TOKENS, json={"lifetime": longest, "token_name": fresh_name()})
    assert allowed.status_code == 201
    refused = server.owner("POST", TOKENS, json={"lifetime": longest + 1})
    message = "Failed to validate create API key request."
    expect.refusal(refused, 400, message, f"lifetime must be less than {said}")


def test_the_longest_lifetime_is_a_century_for_a_member(server: Server) -> None:
    config = expect.data(server.member("GET", f"{TOKENS}/tokenconfig"))
    assert config == {"max_token_lifetime": CENTURY}
    assert server.member("POST", TOKENS, json={"lifetime": 8 * DAY}).status_code == 201


def test_a_negative_lifetime_is_refused(server: Server) -> None:
    answer = server.owner("POST", TOKENS, json={"lifetime": -1})
    message = "Failed to validate create API key request."
    expect.refusal(answer, 400, message, "lifetime must be positive number greater than 0")


@pytest.mark.parametrize("body", [{}, {"lifetime": 0}])
def test_no_lifetime_means_a_week(server: Server, body: dict[str, int]) -> None:
    name = fresh_name()
    server.owner("POST", TOKENS, json=body | {"token_name": name})
    assert server.owner("GET", f"{TOKENS}/{name}").json()["lifetime_seconds"] == 168 * 3600


def test_lifetime_is_nanoseconds_as_an_integer(server: Server) -> None:
    answer = server.owner("POST", TOKENS, json={"lifetime": "24h"})
    body = expect.refusal(answer, 400, "Request body must be valid JSON.")
    assert "CreateTokenRequest.lifetime" in body["detail"]


def test_a_name_is_unique_per_user(server: Server) -> None:
    name = fresh_name()
    assert server.owner("POST", TOKENS, json={"token_name": name}).status_code == 201
    again = server.owner("POST", TOKENS, json={"token_name": name})
    body = expect.refusal(again, 409, f'A token with name "{name}" already exists.')
    detail = "This value is already in use and should be unique."
    assert body["validations"] == [{"field": "name", "detail": detail}]
    assert server.member("POST", TOKENS, json={"token_name": name}).status_code == 201


def test_a_deleted_token_is_dead_and_its_name_is_free(server: Server) -> None:
    name = fresh_name()
    text = server.owner("POST", TOKENS, json={"token_name": name}).json()["key"]
    deleted = server.owner("DELETE", f"/users/me/keys/{text.split('-')[0]}")
    assert (deleted.status_code, deleted.content) == (204, b"")
    expect.refusal(
        server.api("GET", "/users/me", text), 401, expect.SIGNED_OUT, "API key is invalid."
    )
    expect.refusal(server.owner("GET", f"{TOKENS}/{name}"), 404, expect.NOT_FOUND)
    assert server.owner("POST", TOKENS, json={"token_name": name}).status_code == 201


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_unknown_key_is_404(server: Server, method: str) -> None:
    expect.refusal(server.owner(method, "/users/me/keys/aaaaaaaaaa"), 404, expect.NOT_FOUND)


def test_a_key_is_looked_up_by_id_alone_whoever_is_in_the_path(server: Server) -> None:
    key_id, _ = server.new_token()
    assert server.owner("GET", f"/users/owner/keys/{key_id}").status_code == 200


def test_an_unknown_user_in_the_path_is_400(server: Server) -> None:
    answer = server.owner("GET", "/users/nobody/keys/tokens")
    message = '"user" must be an existing uuid or username.'
    expect.refusal(answer, 400, message, 'queried user="nobody"')


def test_a_member_does_not_see_the_owner_or_the_owners_keys(server: Server) -> None:
    message = '"user" must be an existing uuid or username.'
    expect.refusal(server.member("GET", "/users/owner/keys/tokens"), 400, message)
    key_id = server.owner_token.split("-")[0]
    expect.refusal(server.member("GET", f"/users/me/keys/{key_id}"), 404, expect.NOT_FOUND)
    expect.refusal(server.member("DELETE", f"/users/me/keys/{key_id}"), 404, expect.NOT_FOUND)


def test_an_unknown_scope_is_refused(server: Server) -> None:
    """400 since scopes became a list; before that a 500."""
    answer = server.owner("POST", TOKENS, json={"scope": "everything", "token_name": fresh_name()})
    expect.refusal(answer, 400 if server.has(SCOPE_LIST) else 500, "Failed to create API key.")


def test_a_narrow_token_does_not_reach_what_it_is_not_for(server: Server) -> None:
    request = {"scope": "application_connect", "token_name": fresh_name()}
    token = server.owner("POST", TOKENS, json=request).json()["key"]
    answer = server.api("GET", "/organizations/default", token)
    expect.refusal(answer, 404, expect.NOT_FOUND)
