"""coder-api.md section 4: organizations."""

import pytest

from tests.contract import expect
from tests.contract.servers import Server

pytestmark = [pytest.mark.contract, pytest.mark.xdist_group("contract")]

SHAPE: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("id", "name", "display_name", "icon", "description"), str),
    **dict.fromkeys(("created_at", "updated_at"), str),
    "is_default": bool,
}
NIL = "00000000-0000-0000-0000-000000000000"
GATE = "Multiple Organizations is a Premium feature. Contact sales!"


@pytest.mark.parametrize("who", ["owner", "member"])
def test_everybody_sees_the_default_organization(server: Server, who: str) -> None:
    ask = server.owner if who == "owner" else server.member
    listed = expect.data(ask("GET", "/organizations"))
    assert len(listed) == 1
    expect.shape(listed[0], SHAPE)
    assert (listed[0]["name"], listed[0]["is_default"]) == ("coder", True)


@pytest.mark.parametrize("reference", ["default", "coder", "CODER", NIL, "id"])
def test_an_organization_has_several_names(server: Server, reference: str) -> None:
    wanted = server.organization_id if reference == "id" else reference
    body = expect.data(server.owner("GET", f"/organizations/{wanted}"))
    expect.shape(body, SHAPE)
    assert body["id"] == server.organization_id


@pytest.mark.parametrize(
    "reference", ["nope", "11111111-1111-1111-1111-111111111111", "a b", "a%2Fb", "DEFAULT"]
)
def test_an_unknown_organization_is_404(server: Server, reference: str) -> None:
    expect.refusal(server.owner("GET", f"/organizations/{reference}"), 404, expect.NOT_FOUND)


def test_the_session_is_asked_for_before_the_organization(server: Server) -> None:
    expect.refusal(server.api("GET", "/organizations/nope"), 401, expect.SIGNED_OUT)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/organizations"),
        ("PATCH", "/organizations/default"),
        ("DELETE", "/organizations/default"),
        ("DELETE", "/organizations/nope"),
    ],
)
def test_changing_organizations_needs_the_feature(
    enterprise: Server, method: str, path: str
) -> None:
    """Asked before the organization is looked up and before the body is read."""
    expect.refusal(enterprise.owner(method, path, content="x"), 403, GATE)
    expect.refusal(enterprise.api(method, path, content="x"), 401, expect.SIGNED_OUT)


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/organizations"), ("PATCH", "/organizations/default")]
)
def test_the_agpl_build_cannot_change_organizations(agpl: Server, method: str, path: str) -> None:
    assert agpl.owner(method, path, json={}).status_code == 405
