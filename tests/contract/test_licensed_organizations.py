"""coder-api.md section 4 with the feature: several organizations.

Only the simulation can show this: a real server takes no license of ours.
"""

from uuid import UUID

import pytest

from coder_stack.coderd.errors import ForbiddenByRole, NotEmpty, NotFound
from tests.contract import expect
from tests.contract.servers import Server

pytestmark = [pytest.mark.contract, pytest.mark.licensed, pytest.mark.xdist_group("contract")]


def create(server: Server, name: str = "second") -> dict[str, str]:
    return expect.data(server.owner("POST", "/organizations", json={"name": name}), 201)


def test_a_new_organization_is_listed_and_named_after_itself(licensed: Server) -> None:
    body = create(licensed)
    assert (body["name"], body["display_name"], body["is_default"]) == ("second", "second", False)
    names = {item["name"] for item in licensed.owner("GET", "/organizations").json()}
    assert names == {"coder", "second"}


def test_a_member_of_the_first_does_not_see_the_second(licensed: Server) -> None:
    create(licensed)
    assert len(licensed.member("GET", "/organizations").json()) == 1
    for path in ("/organizations/second", "/organizations/second/provisionerkeys"):
        expect.refusal(licensed.member("GET", path), 404, expect.NOT_FOUND)


@pytest.mark.parametrize(
    ("name", "status"), [("default", 400), ("new", 400), ("a b", 400), ("CODER", 409)]
)
def test_names_are_checked(licensed: Server, name: str, status: int) -> None:
    assert licensed.owner("POST", "/organizations", json={"name": name}).status_code == status


def test_a_key_in_another_organization_is_its_own(licensed: Server) -> None:
    second = create(licensed)
    for organization in ("coder", "second"):
        path = f"/organizations/{organization}/provisionerkeys"
        assert licensed.owner("POST", path, json={"name": "same"}).status_code == 201
    rows = licensed.owner("GET", "/organizations/second/provisionerkeys/daemons").json()
    assert [row["key"]["name"] for row in rows] == ["user-auth", "same"]
    assert {row["key"]["organization"] for row in rows} == {second["id"]}
    reserved = "/organizations/second/provisionerkeys/psk"
    expect.refusal(licensed.owner("DELETE", reserved), 404, expect.NOT_FOUND)


def test_an_organization_with_keys_cannot_be_deleted(licensed: Server) -> None:
    second = create(licensed)
    keys = "/organizations/second/provisionerkeys"
    licensed.owner("POST", keys, json={"name": "a"})
    detail = "This organization has 1 provisioner key that must be deleted first."
    refused = licensed.owner("DELETE", "/organizations/second")
    expect.refusal(refused, 500, "Error deleting organization.", detail)
    licensed.owner("DELETE", f"{keys}/a")
    deleted = licensed.owner("DELETE", "/organizations/second")
    assert expect.data(deleted) == {"message": "Organization has been deleted."}
    expect.refusal(licensed.owner("GET", "/organizations/second"), 404, expect.NOT_FOUND)
    assert licensed.owner("GET", f"/organizations/{second['id']}").status_code == 200


@pytest.mark.parametrize("count", [1, 2])
def test_an_organization_with_workspaces_cannot_be_deleted(licensed: Server, count: int) -> None:
    second = create(licensed)
    request = {"organization": "second"}
    ids = [
        licensed.call("POST", "/_sim/workspaces", json=request).json()["id"] for _ in range(count)
    ]
    with licensed.typed_client() as client:
        assert client.workspace_count(UUID(second["id"])) == count
        assert client.workspace_count(UUID(licensed.organization_id)) == 0
        with pytest.raises(NotEmpty) as refused:
            client.delete_organization(UUID(second["id"]))
        assert refused.value.contents == (f"{count} workspace{'s' * (count - 1)}",)
        for identifier in ids:
            licensed.call("DELETE", "/_sim/workspaces", params={"id": identifier})
        client.delete_organization(UUID(second["id"]))


def test_everything_that_is_left_is_counted(licensed: Server) -> None:
    """All but the first member, who made it."""
    create(licensed)
    licensed.call("POST", "/_sim/workspaces", json={"organization": "second"})
    for name in ("a", "b"):
        licensed.owner("POST", "/organizations/second/provisionerkeys", json={"name": name})
    user = {"username": "guest", "organizations": {"second": []}}
    licensed.call("POST", "/_sim/users", json=user)
    left = "1 workspace, 1 member, 2 provisioner keys"
    detail = f"This organization has {left} that must be deleted first."
    refused = licensed.owner("DELETE", "/organizations/second")
    expect.refusal(refused, 500, "Error deleting organization.", detail)


def test_a_deleted_organization_can_be_deleted_again_and_even_changed(licensed: Server) -> None:
    """By its id, and without a word about it: only the list tells that it is gone."""
    second = create(licensed)
    path = f"/organizations/{second['id']}"
    licensed.owner("DELETE", path)
    assert licensed.owner("DELETE", path).status_code == 200
    create(licensed)
    changed = expect.data(licensed.owner("PATCH", path, json={"name": "coder"}))
    assert changed["id"] == second["id"]
    names = sorted(item["name"] for item in licensed.owner("GET", "/organizations").json())
    assert names == ["coder", "second"]


@pytest.mark.parametrize("role", ["", "template-admin"])
def test_a_user_without_the_role_changes_nothing(licensed: Server, role: str) -> None:
    """coderd words each refusal differently; who may look into it hears first what is left."""
    second = create(licensed)
    user = {"username": "guest", "roles": [role] * bool(role), "organizations": {"second": []}}
    licensed.owner_token = licensed.call("POST", "/_sim/users", json=user).json()["token"]
    with licensed.typed_client() as client:
        with pytest.raises(ForbiddenByRole):
            client.create_organization("third")
        with pytest.raises(NotFound):
            client.update_organization(UUID(second["id"]), icon="/i.png")
        refusal = NotEmpty if role else ForbiddenByRole
        with pytest.raises(refusal):
            client.delete_organization(UUID(second["id"]))


def test_the_default_organization_stays(licensed: Server) -> None:
    answer = licensed.owner("DELETE", "/organizations/default")
    expect.refusal(answer, 400, "Default organization cannot be deleted.")


def test_a_change_is_partial(licensed: Server) -> None:
    create(licensed)
    body = {"display_name": "Second", "description": "x"}
    changed = expect.data(licensed.owner("PATCH", "/organizations/second", json=body))
    assert (changed["name"], changed["display_name"]) == ("second", "Second")
    body = {"name": "", "display_name": "", "description": ""}
    changed = expect.data(licensed.owner("PATCH", "/organizations/second", json=body))
    texts = (changed["name"], changed["display_name"], changed["description"])
    assert texts == ("second", "Second", "")
    refused = licensed.owner("PATCH", "/organizations/second", json={"name": "coder"})
    expect.refusal(refused, 409, 'Organization already exists with the name "coder".')
