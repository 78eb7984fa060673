"""coder-api.md section 4: organizations."""

from collections.abc import Iterator

import pytest

from coder_stack.coderd.errors import Refused
from coder_stack.coderd.reasons import Reason
from sandbox.coderd.rules.versions import CONTENTS_COUNTED
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
    ("method", "path"),
    [
        ("POST", "/organizations"),
        ("PATCH", "/organizations/default"),
        ("DELETE", "/organizations/default"),
    ],
)
def test_the_agpl_build_cannot_change_organizations(agpl: Server, method: str, path: str) -> None:
    """It has the path and not the method, so it does not say `Route not found.`"""
    answer = agpl.owner(method, path, json={})
    assert (answer.status_code, answer.content) == (405, b"")
    assert "x-coder-build-version" in answer.headers


@pytest.mark.parametrize("who", ["owner", "member"])
def test_workspaces_are_counted_by_organization(server: Server, who: str) -> None:
    ask = server.owner if who == "owner" else server.member
    for reference in (server.organization_id, "coder"):
        query = {"q": f"organization:{reference}", "limit": "1"}
        assert expect.data(ask("GET", "/workspaces", params=query)) == {
            "workspaces": [],
            "count": 0,
        }


def test_the_client_names_each_refusal(server: Server) -> None:
    """What the program shows on a server that cannot have further organizations."""
    agpl = "agpl" in server.name
    word = Reason.NOT_SUPPORTED if agpl else Reason.NOT_ENTITLED
    with server.typed_client() as client:
        default = client.organization()
        for change in (
            lambda: client.create_organization("second"),
            lambda: client.update_organization(default.id, description="x"),
            lambda: client.delete_organization(default.id),
        ):
            with pytest.raises(Refused) as refused:
                change()
            assert refused.value.reason == word
        assert client.workspace_count(default.id) == 0


class Rows:
    """One organization in the AGPL build's database, and what is in it.

    Written straight into the tables: this build reads organizations and knows no license.
    """

    ID = "22222222-2222-2222-2222-222222222222"

    def __init__(self, server: Server) -> None:
        assert server.database
        self._postgres, self._database = server.database

    def execute(self, statement: str) -> None:
        self._postgres.execute(self._database, statement)

    def insert(self, table: str, **values: str) -> None:
        fields = {name: f"'{value}'" for name, value in values.items()} | {"created_at": "now()"}
        names, texts = ", ".join(fields), ", ".join(fields.values())
        self.execute(f"INSERT INTO {table} ({names}) VALUES ({texts})")  # noqa: S608

    def soft_delete(self) -> None:
        self.execute(f"UPDATE organizations SET deleted = true WHERE id = '{self.ID}'")  # noqa: S608


@pytest.fixture
def rows(real_agpl: Server) -> Iterator[Rows]:
    rows = Rows(real_agpl)
    texts = {"name": "second", "display_name": "Second", "description": "", "icon": ""}
    rows.insert("organizations", id=Rows.ID, updated_at="now", **texts)
    yield rows
    # Newer versions add a role to each new organization.
    for table in ("provisioner_keys", "organization_members", "custom_roles"):
        rows.execute(f"DELETE FROM {table} WHERE organization_id = '{Rows.ID}'")  # noqa: S608
    rows.execute(f"DELETE FROM organizations WHERE id = '{Rows.ID}'")  # noqa: S608


def test_only_the_id_still_finds_a_deleted_organization(real_agpl: Server, rows: Rows) -> None:
    """Nothing in the answer says that it is deleted."""
    rows.soft_delete()
    found = expect.data(real_agpl.owner("GET", f"/organizations/{rows.ID}"))
    expect.shape(found, SHAPE)
    expect.refusal(real_agpl.owner("GET", "/organizations/second"), 404, expect.NOT_FOUND)
    assert len(real_agpl.owner("GET", "/organizations").json()) == 1


def test_the_database_keeps_an_organization_with_a_key(real_agpl: Server, rows: Rows) -> None:
    """The trigger behind the refusals that test_licensed_organizations.py expects."""
    key = {"id": rows.ID, "name": "a", "hashed_secret": "", "tags": "{}"}
    rows.insert("provisioner_keys", organization_id=rows.ID, **key)
    zeros = "" if real_agpl.has(CONTENTS_COUNTED) else "0 workspaces, 0 templates, and "
    says = f"cannot delete organization: organization has {zeros}1 provisioner keys that must be"
    with pytest.raises(AssertionError, match=says):
        rows.soft_delete()


def test_the_database_allows_for_one_member(real_agpl: Server, rows: Rows) -> None:
    join = {"organization_id": rows.ID, "updated_at": "now"}
    first, second = (
        ask("GET", "/users/me").json()["id"] for ask in (real_agpl.owner, real_agpl.member)
    )
    rows.insert("organization_members", user_id=first, **join)
    rows.insert("organization_members", user_id=second, **join)
    with pytest.raises(AssertionError, match="has 1 members that must be deleted"):
        rows.soft_delete()
    here = f"user_id = '{second}' AND organization_id = '{rows.ID}'"
    rows.execute(f"DELETE FROM organization_members WHERE {here}")  # noqa: S608
    rows.soft_delete()
