"""A change in a copy of a document makes the tier fail: each kind of change that it looks for (V1).

Each row is a change of the newest document and the problem that it must cause.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from coder_stack.coderd.versions import TRIED
from tests.specification.answers import Answer
from tests.specification.calls import Call
from tests.specification.comparison import differences, problems_of_answer, unreadable
from tests.specification.exceptions import CLIENT, SIMULATION, corrected, explained
from tests.specification.swagger import Document

pytestmark = pytest.mark.specification
NEWEST = TRIED[-1]
Change = Callable[[dict[str, Any]], object]
ONLY_A = {"type": "string", "enum": ["a"]}
SELF = "/provisionerkeys/{provisionerkey}"


def properties(content: dict[str, Any], name: str) -> dict[str, Any]:
    return content["definitions"][f"codersdk.{name}"]["properties"]


def renamed(name: str, field: str, to: str) -> Change:
    def change(content: dict[str, Any]) -> None:
        properties(content, name)[to] = properties(content, name).pop(field)

    return change


def retyped(name: str, field: str, **schema: Any) -> Change:
    return lambda content: properties(content, name).update({field: schema})


def responses(path: str, method: str, change: Callable[[dict[str, Any]], object]) -> Change:
    return lambda content: change(content["paths"][path][method]["responses"])


CLIENT_CHANGES: dict[str, tuple[Change, str]] = {
    "a renamed field of an answer": (
        renamed("ProvisionerKey", "organization", "organization_id"),
        "codersdk.ProvisionerKey.organization is read, but not documented",
    ),
    "a renamed field of an answer that the model can do without": (
        renamed("WorkspaceProxyStatus", "report", "health"),
        "codersdk.WorkspaceProxyStatus.report is read, but not documented",
    ),
    "a renamed field of a body": (
        renamed("CreateTokenRequest", "token_name", "name"),
        "codersdk.CreateTokenRequest.token_name is not documented",
    ),
    "a removed path": (
        lambda content: content["paths"].pop("/licenses/{id}"),
        "DELETE /api/v2/licenses/7 is not documented",
    ),
    "a removed path that another one with a parameter would match": (
        lambda content: content["paths"].pop("/users/{user}/keys/tokens/tokenconfig"),
        "GET /api/v2/users/the-user/keys/tokens/tokenconfig is not documented",
    ),
    "a removed method": (
        lambda content: content["paths"]["/organizations/{organization}"].pop("patch"),
        "PATCH /api/v2/organizations/5f0f4a44-7d1e-4a7c-9d3c-0d7f7f0c1b11 is not documented",
    ),
    "a removed status": (
        responses("/users/login", "post", lambda all_: all_.pop("201")),
        "POST /users/login has no status 201, which the client expects",
    ),
    "another status": (
        responses("/entitlements", "get", lambda all_: all_.update({"203": all_.pop("200")})),
        "GET /entitlements has status 203, which the client does not expect",
    ),
    "an answer without a body": (
        responses("/entitlements", "get", lambda all_: all_["200"].pop("schema")),
        "GET /entitlements 200 has no body, which the client reads",
    ),
    "a changed type": (
        retyped("License", "id", type="string"),
        "codersdk.License.id is string, the client reads integer",
    ),
    "a list that becomes a map": (
        retyped("User", "roles", type="object", additionalProperties={"type": "string"}),
        "codersdk.User.roles is object, the client reads array",
    ),
    "a changed type inside a map": (
        retyped("Feature", "limit", type="number"),
        "codersdk.Feature.limit is number, the client reads integer",
    ),
    "an id that is no uuid": (
        retyped("Organization", "id", type="string"),
        "codersdk.Organization.id is any string, the client reads a uuid",
    ),
    "a changed type in a body": (
        retyped("CreateTokenRequest", "lifetime", type="string"),
        "codersdk.CreateTokenRequest.lifetime is string, not int",
    ),
    "a value that a body may no longer have": (
        retyped("CreateTokenRequest", "scopes", type="array", items=ONLY_A),
        "codersdk.CreateTokenRequest.scopes[] does not allow this value",
    ),
    "a body that needs another field": (
        lambda content: content["definitions"]["codersdk.UpdateOrganizationRequest"].update(
            required=["name"]
        ),
        "codersdk.UpdateOrganizationRequest.name is required, and is not sent",
    ),
    "a field that may be missing now": (
        lambda content: content["definitions"]["codersdk.APIKey"]["required"].remove("created_at"),
        "codersdk.APIKey.created_at is needed, but not required",
    ),
    "a map where a null cannot be read": (
        lambda content: content["definitions"]["codersdk.License"].update(
            additionalProperties=True
        ),
        "GET /licenses 200 0 may be null, and is not read",
    ),
    "a removed parameter of a query": (
        lambda content: content["paths"]["/workspaces"]["get"].update(parameters=[]),
        "GET /workspaces ?q is not documented",
    ),
    "a parameter of a query that is required": (
        lambda content: content["paths"]["/buildinfo"]["get"].update(
            parameters=[{"name": "for", "in": "query", "type": "string", "required": True}]
        ),
        "GET /buildinfo ?for is required, and is not sent",
    ),
}

SIMULATION_CHANGES: dict[str, tuple[Change, str]] = {
    "a renamed field": (
        renamed("License", "uploaded_at", "added_at"),
        "codersdk.License.uploaded_at is not documented",
    ),
    "a changed type": (
        retyped("TokenConfig", "max_token_lifetime", type="string"),
        "codersdk.TokenConfig.max_token_lifetime is string, not int",
    ),
    "another format": (
        retyped("User", "username", type="string", format="uuid"),
        "codersdk.User.username is a uuid",
    ),
    "a removed status": (
        responses(SELF, "get", lambda all_: all_.pop("200")),
        f"GET {SELF} has no status 200",
    ),
    "a removed path": (
        lambda content: content["paths"].pop("/entitlements"),
        "GET /entitlements is not documented",
    ),
    "an answer without a body": (
        responses("/entitlements", "get", lambda all_: all_["200"].pop("schema")),
        "GET /entitlements has no body, and the simulation sends one",
    ),
}


def changed(document: Document, change: Change) -> Document:
    content = copy.deepcopy(dict(corrected(document).content))
    change(content)
    return Document(document.version, content)


@pytest.mark.parametrize("name", CLIENT_CHANGES)
def test_V1_the_client_fails_with(
    name: str, calls: list[Call], documents: dict[str, Document]
) -> None:
    change, expected = CLIENT_CHANGES[name]
    other = changed(documents[NEWEST], change)
    found = {
        str(each)
        for call in calls
        for each in (*differences(call, other), *unreadable(call, other))
    }
    assert expected in found - {str(each) for each in explained(CLIENT, NEWEST)}


@pytest.mark.parametrize("name", SIMULATION_CHANGES)
def test_V1_the_simulation_fails_with(
    name: str, answers: list[Answer], documents: dict[str, Document]
) -> None:
    change, expected = SIMULATION_CHANGES[name]
    other = changed(documents[NEWEST], change)
    found = {str(each) for answer in answers for each in problems_of_answer(answer, other)}
    assert expected in found - {str(each) for each in explained(SIMULATION, NEWEST)}
