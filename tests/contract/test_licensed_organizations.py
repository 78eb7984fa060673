"""coder-api.md section 4 with the feature: several organizations.

Only the simulation can show this: a real server takes no license of ours.
"""

import pytest

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


def test_the_default_organization_stays(licensed: Server) -> None:
    answer = licensed.owner("DELETE", "/organizations/default")
    expect.refusal(answer, 400, "Default organization cannot be deleted.")


def test_a_change_is_partial(licensed: Server) -> None:
    create(licensed)
    body = {"display_name": "Second", "description": "x"}
    changed = expect.data(licensed.owner("PATCH", "/organizations/second", json=body))
    assert (changed["name"], changed["display_name"]) == ("second", "Second")
    refused = licensed.owner("PATCH", "/organizations/second", json={"name": "coder"})
    expect.refusal(refused, 409, 'Organization already exists with the name "coder".')
