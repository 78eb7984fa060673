"""coder-api.md section 1: what the AGPL build lacks, and how that looks."""

import pytest

from tests.contract import expect
from tests.contract.servers import Server

pytestmark = [pytest.mark.contract, pytest.mark.xdist_group("contract")]


@pytest.mark.parametrize("token", [None, "owner"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/entitlements"),
        ("GET", "/licenses"),
        ("POST", "/licenses"),
        ("DELETE", "/licenses/1"),
        ("POST", "/licenses/refresh-entitlements"),
        ("GET", "/workspaceproxies"),
        ("POST", "/workspaceproxies"),
        ("GET", "/workspaceproxies/primary"),
        ("POST", "/workspaceproxies/me/register"),
        ("GET", "/provisionerkeys/placeholder"),
    ],
)
def test_enterprise_routes_do_not_exist(
    agpl: Server, method: str, path: str, token: str | None
) -> None:
    """`Route not found.` is what tells "not supported" from "not there"."""
    answer = agpl.api(method, path, agpl.owner_token if token else None)
    expect.refusal(answer, 404, expect.NO_ROUTE)


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@pytest.mark.parametrize(
    "rest", ["provisionerkeys", "provisionerkeys/x", "provisionerdaemons/serve"]
)
def test_below_an_organization_session_and_organization_still_come_first(
    agpl: Server, method: str, rest: str
) -> None:
    expect.refusal(agpl.api(method, f"/organizations/default/{rest}"), 401, expect.SIGNED_OUT)
    expect.refusal(agpl.owner(method, f"/organizations/nope/{rest}"), 404, expect.NOT_FOUND)
    expect.refusal(agpl.owner(method, f"/organizations/default/{rest}"), 404, expect.NO_ROUTE)
