"""coder-api.md section 2: liveness, build information, the first user, logging in."""

import pytest

from sandbox.coderd.rules.versions import PASSWORD_MESSAGE
from tests.contract import expect
from tests.contract.servers import MEMBER, OWNER, Server

pytestmark = [pytest.mark.contract, pytest.mark.xdist_group("contract")]


def test_healthz_says_ok_to_anybody(server: Server) -> None:
    answer = server.call("GET", "/healthz")
    assert (answer.status_code, answer.text) == (200, "OK")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


def test_buildinfo_is_open_and_names_the_deployment(server: Server) -> None:
    body = expect.data(server.api("GET", "/buildinfo"))
    texts = ("external_url", "version", "dashboard_url", "agent_api_version")
    texts += ("provisioner_api_version", "upgrade_message", "deployment_id")
    expect.shape(body, dict.fromkeys(texts, str) | {"telemetry": bool, "workspace_proxy": bool})
    assert body["dashboard_url"] == server.url
    assert not body["workspace_proxy"]
    assert server.api("GET", "/buildinfo").json()["deployment_id"] == body["deployment_id"]


def test_an_empty_server_says_that_nobody_was_created(server: Server) -> None:
    answer = server.before["is there one"]
    expect.refusal(answer, 404, "The initial user has not been created!")


@pytest.mark.parametrize(
    ("case", "detail"),
    [
        ("empty body", "EOF"),
        ("cut off", "unexpected EOF"),
        (
            "not an object",
            "json: cannot unmarshal array into Go value of type codersdk.CreateFirstUserRequest",
        ),
        (
            "wrong type",
            (
                "json: cannot unmarshal number into Go struct field CreateFirstUserRequest.email "
                "of "
                "type string"
            ),
        ),
    ],
)
def test_the_first_user_needs_json(server: Server, case: str, detail: str) -> None:
    expect.refusal(server.before[case], 400, "Request body must be valid JSON.", detail)


def test_the_first_user_needs_all_three_fields(server: Server) -> None:
    answer = server.before["nothing given"]
    expect.validation(answer, email="required", username="required", password="required")
    detail = 'Validation failed for tag "required" with value: ""'
    assert answer.json()["validations"][0] == {"field": "email", "detail": detail}


def test_every_bad_value_of_the_first_user_is_named(server: Server) -> None:
    answer = server.before["bad values"]
    expect.validation(answer, email="email", username="username", name="user_real_name")


@pytest.mark.parametrize(
    ("case", "detail"),
    [
        (
            "weak password",
            (
                "insecure password, try including more special characters, using uppercase "
                "letters, "
                "using numbers or using a longer password"
            ),
        ),
        ("long password", "password must be no more than 64 characters"),
    ],
)
def test_a_bad_password_is_refused_with_advice(server: Server, case: str, detail: str) -> None:
    new = server.has(PASSWORD_MESSAGE)
    message = "Password is invalid" if new else "Password not strong enough!"
    body = expect.refusal(server.before[case], 400, message)
    assert body["validations"] == [{"field": "password", "detail": detail}]


def test_creating_the_first_user_names_user_and_organization(server: Server) -> None:
    assert server.created is not None
    body = expect.data(server.created, 201)
    expect.shape(body, {"user_id": str, "organization_id": str})
    default = server.owner("GET", "/organizations/default").json()
    assert body["organization_id"] == default["id"]
    me = server.owner("GET", "/users/me").json()
    assert me["id"] == body["user_id"]
    assert me["roles"] == [{"name": "owner", "display_name": "Owner"}]


def test_the_first_user_exists_from_then_on(server: Server) -> None:
    body = expect.data(server.api("GET", "/users/first"))
    assert body == {"message": "The initial user has already been created!"}


def test_a_second_first_user_is_a_conflict_even_with_a_bad_password(server: Server) -> None:
    answer = server.api("POST", "/users/first", json=OWNER | {"password": "x"})
    expect.refusal(answer, 409, "The initial user has already been created.")


def test_a_second_first_user_is_still_validated_before(server: Server) -> None:
    answer = server.api("POST", "/users/first", json=OWNER | {"username": "a b"})
    expect.validation(answer, username="username")


def test_login_answers_with_a_token_and_a_cookie(server: Server) -> None:
    request = {"email": MEMBER["email"], "password": MEMBER["password"]}
    answer = server.api("POST", "/users/login", json=request)
    token = expect.data(answer, 201)["session_token"]
    key_id, secret = token.split("-")
    assert (len(key_id), len(secret)) == (10, 22)
    cookies = answer.headers.get_list("set-cookie")
    assert f"coder_session_token={token}; Path=/; HttpOnly; SameSite=Lax" in cookies


def test_the_email_may_be_written_in_any_case(server: Server) -> None:
    request = {"email": MEMBER["email"].upper(), "password": MEMBER["password"]}
    assert server.api("POST", "/users/login", json=request).status_code == 201


@pytest.mark.parametrize("email", [MEMBER["email"], "nobody@example.com"])
def test_a_wrong_password_and_an_unknown_user_look_the_same(server: Server, email: str) -> None:
    answer = server.api("POST", "/users/login", json={"email": email, "password": "wrong"})
    expect.refusal(answer, 401, "Incorrect email or password.")
    assert "www-authenticate" not in answer.headers


def test_login_needs_both_fields(server: Server) -> None:
    answer = server.api("POST", "/users/login", json={})
    expect.validation(answer, email="required", password="required")


def test_a_session_lasts_a_day(server: Server) -> None:
    key_id = server.member_token.split("-")[0]
    key = server.member("GET", f"/users/me/keys/{key_id}").json()
    assert key["lifetime_seconds"] == 24 * 3600
    assert key["login_type"] == "password"


def test_a_suspended_user_can_neither_log_in_nor_use_a_session(server: Server) -> None:
    account = {"email": "gone@example.com", "username": "gone", "password": "Contract-Gone-1!"}
    request = account | {"organization_ids": [server.organization_id]}
    added = server.owner("POST", "/users", json=request)
    assert added.json()["status"] == "dormant"
    login = {"email": account["email"], "password": account["password"]}
    token = server.api("POST", "/users/login", json=login).json()["session_token"]
    assert server.api("GET", "/users/me", token).json()["status"] == "active"

    suspended = server.owner("PUT", "/users/gone/status/suspend")

    assert expect.data(suspended)["status"] == "suspended"
    message = (
        'User is not active (status = "suspended"). Contact an admin to reactivate your account.'
    )
    answer = server.api("GET", "/users/me", token)
    expect.refusal(answer, 401, message)
    expect.challenge(server, answer, "The access token is invalid")
    message = "Your account is suspended. Contact an admin to reactivate your account."
    expect.refusal(server.api("POST", "/users/login", json=login), 401, message)


def test_logging_out_ends_the_session(server: Server) -> None:
    login = {"email": MEMBER["email"], "password": MEMBER["password"]}
    token = server.api("POST", "/users/login", json=login).json()["session_token"]
    assert expect.data(server.api("POST", "/users/logout", token)) == {"message": "Logged out!"}
    expect.refusal(
        server.api("GET", "/users/me", token), 401, expect.SIGNED_OUT, "API key is invalid."
    )
