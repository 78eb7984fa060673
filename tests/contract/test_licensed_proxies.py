"""coder-api.md section 8 with the feature: workspace proxies.

Only the simulation can show this: a real server takes no license of ours.
"""

import uuid
from typing import Any

import httpx
import pytest

from tests.contract import expect
from tests.contract.servers import Server

pytestmark = [pytest.mark.contract, pytest.mark.licensed, pytest.mark.xdist_group("contract")]

PROXIES = "/workspaceproxies"
SHAPE: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("id", "name", "display_name", "icon_url", "path_app_url"), str),
    **dict.fromkeys(("wildcard_hostname", "created_at", "updated_at", "version"), str),
    **dict.fromkeys(("healthy", "derp_enabled", "derp_only", "deleted"), bool),
    "status": dict,
}


def create(server: Server, name: str = "eu", **more: str) -> tuple[dict[str, Any], str]:
    answer = server.owner("POST", PROXIES, json={"name": name, **more})
    body = expect.data(answer, 201)
    expect.shape(body, {"proxy": dict, "proxy_token": str})
    return body["proxy"], body["proxy_token"]


def change(server: Server, proxy: dict[str, Any], **more: Any) -> httpx.Response:
    body = {"id": proxy["id"], "name": proxy["name"], "display_name": "EU", "icon": "/i.svg"}
    return server.owner("PATCH", f"{PROXIES}/{proxy['id']}", json=body | more)


def as_proxy(server: Server, token: str, path: str, **body: Any) -> httpx.Response:
    headers = {"Coder-External-Proxy-Token": token}
    return server.api("POST", f"{PROXIES}/me/{path}", headers=headers, json=body)


def register(server: Server, token: str, replica: str, **more: Any) -> httpx.Response:
    body = {"access_url": "https://eu.example.com", "replica_id": replica, "derp_enabled": True}
    return as_proxy(server, token, "register", **(body | {"version": "v2.30.0"} | more))


def test_a_new_proxy_is_unregistered_and_its_token_starts_with_its_id(licensed: Server) -> None:
    proxy, token = create(licensed, display_name="EU", icon="/eu.svg")
    expect.shape(proxy, SHAPE)
    assert (proxy["icon_url"], proxy["healthy"], proxy["deleted"]) == ("/eu.svg", False, False)
    assert set(proxy["status"]) == {"status", "report", "checked_at"}
    assert proxy["status"]["status"] == "unregistered"
    assert proxy["status"]["report"] == {"errors": [], "warnings": []}
    identifier, secret = token.split(":")
    assert (identifier, len(secret), secret.isalnum()) == (proxy["id"], 64, True)
    assert secret not in licensed.owner("GET", PROXIES).text


def test_the_primary_comes_first_under_the_deployment_id(licensed: Server) -> None:
    create(licensed)
    regions = expect.data(licensed.owner("GET", PROXIES))["regions"]
    assert [proxy["name"] for proxy in regions] == ["primary", "eu"]
    deployment = licensed.api("GET", "/buildinfo").json()["deployment_id"]
    assert (regions[0]["id"], regions[0]["status"]["status"]) == (deployment, "ok")
    for reference in ("primary", deployment):
        assert licensed.owner("GET", f"{PROXIES}/{reference}").json()["name"] == "primary"


def test_a_proxy_is_found_by_id_and_by_exact_name(licensed: Server) -> None:
    proxy, _ = create(licensed)
    for reference in (proxy["id"], "eu"):
        assert licensed.owner("GET", f"{PROXIES}/{reference}").json()["id"] == proxy["id"]
    for reference in ("EU", "nope", str(uuid.uuid4())):
        expect.refusal(licensed.owner("GET", f"{PROXIES}/{reference}"), 404, expect.NOT_FOUND)


def test_a_name_is_required_and_primary_is_taken(licensed: Server) -> None:
    expect.validation(licensed.owner("POST", PROXIES, json={}), name="required")
    answer = licensed.owner("POST", PROXIES, json={"name": "Primary"})
    expect.refusal(answer, 400, 'The name "primary" is reserved for the primary region.')


def test_a_name_is_taken_in_any_case(licensed: Server) -> None:
    create(licensed)
    answer = licensed.owner("POST", PROXIES, json={"name": "EU"})
    expect.refusal(answer, 409, 'Workspace proxy with name "EU" already exists.')


def test_a_member_may_read_and_nothing_else(licensed: Server) -> None:
    proxy, _ = create(licensed)
    assert len(licensed.member("GET", PROXIES).json()["regions"]) == 2
    one = f"{PROXIES}/eu"
    assert licensed.member("GET", one).status_code == 200
    message, detail = "An internal server error occurred.", "unauthorized: rbac: forbidden"
    expect.refusal(licensed.member("POST", PROXIES, json={"name": "x"}), 500, message, detail)
    expect.refusal(licensed.member("DELETE", one), 404, expect.NOT_FOUND)
    body = {"id": proxy["id"], "name": "x", "display_name": "x", "icon": "x"}
    expect.refusal(licensed.member("PATCH", one, json=body), 404, expect.NOT_FOUND)


def test_a_session_is_needed_once_the_license_is_there(licensed: Server) -> None:
    expect.refusal(licensed.api("GET", PROXIES), 401, expect.SIGNED_OUT)


def test_a_change_needs_all_four_fields(licensed: Server) -> None:
    create(licensed)
    answer = licensed.owner("PATCH", f"{PROXIES}/eu", json={"display_name": "EU"})
    expect.validation(answer, id="required", name="required", icon="required")


def test_w1_a_change_without_a_new_token_shows_none(licensed: Server) -> None:
    proxy, token = create(licensed)
    body = expect.data(change(licensed, proxy))
    assert (body["proxy"]["display_name"], body["proxy"]["icon_url"]) == ("EU", "/i.svg")
    assert body["proxy_token"] == ""
    assert register(licensed, token, str(uuid.uuid4())).status_code == 201


def test_w1_regenerating_kills_the_old_token_at_once(licensed: Server) -> None:
    proxy, old = create(licensed)
    new = expect.data(change(licensed, proxy, regenerate_token=True))["proxy_token"]
    answer = register(licensed, old, str(uuid.uuid4()))
    message, detail = "Invalid external proxy token", "Invalid proxy token secret."
    expect.refusal(answer, 401, message, detail)
    assert register(licensed, new, str(uuid.uuid4())).status_code == 201


def test_a_name_taken_by_another_is_a_500_on_change(licensed: Server) -> None:
    create(licensed, "us")
    proxy, _ = create(licensed)
    expect.refusal(change(licensed, proxy, name="US"), 500, "An internal server error occurred.")


def test_the_primary_keeps_its_name_but_takes_a_display_name(licensed: Server) -> None:
    body = {"id": str(uuid.uuid4()), "name": "primary", "display_name": "Home", "icon": "/h.svg"}
    changed = expect.data(licensed.owner("PATCH", f"{PROXIES}/primary", json=body))
    assert changed["proxy"]["display_name"] == "Home"
    refused = licensed.owner("PATCH", f"{PROXIES}/primary", json=body | {"name": "other"})
    assert refused.status_code == 400


def test_deleting_is_soft(licensed: Server) -> None:
    proxy, token = create(licensed)
    answer = licensed.owner("DELETE", f"{PROXIES}/eu")
    assert expect.data(answer) == {"message": "Proxy has been deleted!"}
    expect.refusal(licensed.owner("GET", f"{PROXIES}/eu"), 404, expect.NOT_FOUND)
    expect.refusal(licensed.owner("DELETE", f"{PROXIES}/eu"), 404, expect.NOT_FOUND)
    gone = expect.data(licensed.owner("GET", f"{PROXIES}/{proxy['id']}"))
    assert gone["deleted"] is True
    assert licensed.owner("DELETE", f"{PROXIES}/{proxy['id']}").status_code == 200
    assert len(licensed.owner("GET", PROXIES).json()["regions"]) == 1
    detail = "Proxy has been deleted."
    refused = register(licensed, token, str(uuid.uuid4()))
    expect.refusal(refused, 401, "Invalid external proxy token", detail)
    assert create(licensed)[0]["id"] != proxy["id"]


def test_the_primary_cannot_be_deleted(licensed: Server) -> None:
    answer = licensed.owner("DELETE", f"{PROXIES}/primary")
    expect.refusal(answer, 400, "Cannot delete primary proxy")


def test_registering_makes_it_healthy_and_writes_what_the_proxy_says(licensed: Server) -> None:
    _, token = create(licensed)
    replica = str(uuid.uuid4())
    answer = register(licensed, token, replica, wildcard_hostname="*.eu.example.com")
    keys = {"derp_mesh_key", "derp_region_id", "derp_map", "derp_force_websockets"}
    assert set(expect.data(answer, 201)) == keys | {"sibling_replicas"}
    proxy = licensed.owner("GET", f"{PROXIES}/eu").json()
    assert (proxy["path_app_url"], proxy["version"]) == ("https://eu.example.com", "v2.30.0")
    assert (proxy["wildcard_hostname"], proxy["healthy"]) == ("*.eu.example.com", True)

    assert as_proxy(licensed, token, "deregister", replica_id=replica).status_code == 204

    gone = licensed.owner("GET", f"{PROXIES}/eu").json()
    assert (gone["healthy"], gone["status"]["status"]) == (False, "unreachable")
    (why,) = gone["status"]["report"]["errors"]
    assert why.startswith('request to proxy failed: Get "https://eu.example.com/healthz-report": ')
    assert register(licensed, token, replica).status_code == 500


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"access_url": "ftp://x"}, "URL is invalid."),
        ({"access_url": "https://x/path"}, "URL is invalid."),
        ({"replica_id": str(uuid.UUID(int=0))}, "Replica ID is invalid."),
        (
            {"derp_only": True, "derp_enabled": False},
            "DerpOnly cannot be true when DerpEnabled is false.",
        ),
    ],
)
def test_a_bad_registration_is_400(licensed: Server, change: dict[str, Any], message: str) -> None:
    _, token = create(licensed)
    request = {"replica_id": str(uuid.uuid4()), **change}
    expect.refusal(register(licensed, token, request.pop("replica_id"), **request), 400, message)


@pytest.mark.parametrize(
    ("token", "message", "detail"),
    [
        ("", "Missing required external proxy token", ""),
        ("x", "Invalid external proxy token", ""),
        (f"{uuid.UUID(int=1)}:short", "Invalid external proxy token", ""),
        (f"{uuid.UUID(int=1)}:{'x' * 64}", "Invalid external proxy token", "Proxy not found."),
    ],
)
def test_a_bad_proxy_token_is_401(licensed: Server, token: str, message: str, detail: str) -> None:
    answer = register(licensed, token, str(uuid.uuid4()))
    expect.refusal(answer, 401, message, detail)


def test_a_proxy_named_me_is_out_of_reach_by_name(licensed: Server) -> None:
    proxy, _ = create(licensed, "me")
    answer = licensed.owner("GET", f"{PROXIES}/me")
    expect.refusal(answer, 401, "Missing required external proxy token")
    assert licensed.owner("GET", f"{PROXIES}/{proxy['id']}").status_code == 200
