"""Where Coder's documents are silent or wrong, and what holds instead; each with its reason.

An exception names the problems that it explains. A correction is applied to a copy of the document
before client and simulation are held to it, so that all other fields are still compared. Every
exception must be needed in each version that it is for, or the tests fail.
"""

import copy
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from coder_stack.coderd.versions import TRIED
from tests.specification.swagger import Document, Problem

Place = tuple[str, ...]
ALWAYS = "is needed, but not required"
_UNREAD = "is read, but not documented"


@dataclass(frozen=True, kw_only=True)
class Exemption:
    """One exception, for all versions or for those from `since` to `until`."""

    problems: Collection[Problem]
    why: str
    corrections: Mapping[Place, Any] = field(default_factory=dict[Place, Any])
    """What the document should say. A list is added to the one that is there."""
    since: str = TRIED[0]
    until: str = TRIED[-1]

    def applies_to(self, version: str) -> bool:
        """Return whether the document of that version needs it."""
        return TRIED.index(self.since) <= TRIED.index(version) <= TRIED.index(self.until)


_ALWAYS_SENT = {
    "codersdk.BuildInfoResponse": ("version", "deployment_id"),
    "codersdk.CreateFirstUserResponse": ("user_id", "organization_id"),
    "codersdk.CreateProvisionerKeyResponse": ("key",),
    "codersdk.Entitlements": ("features", "has_license"),
    "codersdk.GenerateAPIKeyResponse": ("key",),
    "codersdk.License": ("id", "uuid", "uploaded_at"),
    "codersdk.Organization": ("name",),
    "codersdk.ProvisionerDaemon": ("id", "organization_id", "name", "created_at"),
    "codersdk.ProvisionerKey": ("id", "name", "organization", "created_at"),
    "codersdk.ProvisionerKeyDaemons": ("key",),
    "codersdk.Response": ("message",),
    "codersdk.SlimRole": ("name",),
    "codersdk.TokenConfig": ("max_token_lifetime",),
    "codersdk.WorkspaceProxy": ("id", "name", "created_at"),
    "codersdk.WorkspacesResponse": ("count",),
}
"""Fields that the models cannot do without. Go's structs have them without `omitempty`."""

_PROXY = {"$ref": "#/definitions/codersdk.WorkspaceProxy"}
_REGISTERED = {
    "type": "object",
    "required": ["proxy"],
    "properties": {"proxy": _PROXY, "proxy_token": {"type": "string"}},
}
_NEW_KEY = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
_KEYS = "/organizations/{organization}/provisionerkeys"
_REGIONS = "codersdk.RegionsResponse-codersdk_WorkspaceProxy"
_ONE_PROXY = "/workspaceproxies/{workspaceproxy}"

CLIENT = (
    *(
        Exemption(
            problems=[Problem(f"{name}.{each}", ALWAYS) for each in fields],
            why="The document does not say so, but Go always writes them.",
            corrections={("definitions", name, "required"): list(fields)},
        )
        for name, fields in _ALWAYS_SENT.items()
    ),
    Exemption(
        problems=[Problem("GET /healthz", "is not documented")],
        why="It is outside of /api/v2; the contract suite asks a real server for it.",
    ),
    Exemption(
        problems=[
            Problem(
                "codersdk.BuildInfoResponse.deployment_id",
                "is any string, the client reads a uuid",
            )
        ],
        why="The document has no format for it; it is the id of the primary proxy.",
        corrections={
            ("definitions", "codersdk.BuildInfoResponse", "properties", "deployment_id"): {
                "type": "string",
                "format": "uuid",
            }
        },
    ),
    Exemption(
        problems=[
            Problem("POST /users/first", "has no status 200, which the client expects"),
        ],
        why="The user exists if refreshing the entitlements failed; there is no body then.",
        corrections={("paths", "/users/first", "post", "responses", "200"): {}},
    ),
    Exemption(
        problems=[Problem("codersdk.CreateTokenRequest.scopes", "is not documented")],
        why="Older versions ignore it, and nothing in this program asks for scopes.",
        until="v2.26.1",
    ),
    Exemption(
        problems=[Problem("codersdk.APIKey.scopes", _UNREAD)],
        why="Older versions have one `scope`; the model has none then.",
        until="v2.26.1",
    ),
    Exemption(
        problems=[Problem(f"POST {_KEYS} body", "is not documented")],
        why="The document lists no body; the handler reads CreateProvisionerKeyRequest.",
        corrections={
            ("paths", _KEYS, "post", "parameters"): [
                {"name": "request", "in": "body", "required": True, "schema": _NEW_KEY}
            ]
        },
    ),
    Exemption(
        problems=[Problem("GET /workspaceproxies 200", "is array, the client reads object")],
        why="The document has a list of regions around the one object that coderd sends.",
        corrections={
            ("paths", "/workspaceproxies", "get", "responses", "200", "schema"): {
                "$ref": f"#/definitions/{_REGIONS}"
            },
            ("definitions", _REGIONS, "required"): ["regions"],
        },
    ),
    Exemption(
        problems=[
            Problem("codersdk.WorkspaceProxy.proxy", _UNREAD),
            Problem("codersdk.WorkspaceProxy.proxy_token", _UNREAD),
        ],
        why="The document has the bare proxy; both handlers send UpdateWorkspaceProxyResponse.",
        corrections={
            ("paths", "/workspaceproxies", "post", "responses", "201", "schema"): _REGISTERED,
            ("paths", _ONE_PROXY, "patch", "responses", "200", "schema"): _REGISTERED,
        },
    ),
)

PLACEHOLDERS = {"self": "coderd ignores the segment; the key itself is in a header."}
"""Segments that fill a parameter of a path although they are no argument of a method."""


def _added(*places: str, in_version: str, until: str) -> Exemption:
    return Exemption(
        problems=[Problem(each, "is not documented") for each in places],
        why=f"The simulation answers as the newest version, and this came with {in_version}.",
        until=until,
    )


SIMULATION = (
    _added(
        "codersdk.Feature.soft_limit",
        "codersdk.Feature.usage_period",
        in_version="v2.26",
        until="v2.24.0",
    ),
    _added("codersdk.APIKey.scopes", "GET /auth/scopes", in_version="v2.27", until="v2.26.1"),
    _added("codersdk.APIKey.allow_list", in_version="v2.29", until="v2.27.0"),
    Exemption(
        problems=[Problem("codersdk.ExternalAPIKeyScopes.external[]", "does not allow this value")],
        why="The simulation lists the scopes of the newest version; v2.27 had fewer.",
        since="v2.27.0",
        until="v2.27.0",
    ),
    Exemption(
        problems=[Problem("codersdk.User.status", "does not allow this value")],
        why="A new user is `dormant`, which the document forgets here and has in UserStatus.",
    ),
    Exemption(
        problems=[Problem("codersdk.APIKey.username", "is not documented")],
        why="The list of tokens has APIKeyWithOwner, which the document does not know.",
    ),
    Exemption(
        problems=[
            Problem("codersdk.ProvisionerDaemon.key_name", "is string, not NoneType"),
            Problem("codersdk.ProvisionerDaemon.status", "is string, not NoneType"),
        ],
        why="Pointers in Go: null in the list by key.",
    ),
    Exemption(
        problems=[Problem("POST /licenses/refresh-entitlements", "has no status 200")],
        why="The document has 201; the handler writes 200.",
    ),
    Exemption(
        problems=[Problem("tailcfg.DERPMap.Regions", "is not documented")],
        why="Go's field has no tag and is written with a capital letter.",
    ),
)


def explained(exemptions: Iterable[Exemption], version: str) -> Iterator[Problem]:
    """Yield the problems that are no fault of ours in one version."""
    for each in exemptions:
        if each.applies_to(version):
            yield from each.problems


def corrected(document: Document) -> Document:
    """Return a copy of the document with the corrections of its version."""
    content = copy.deepcopy(dict(document.content))
    for exemption in CLIENT:
        if exemption.applies_to(document.version):
            for place, value in exemption.corrections.items():
                _correct(content, place, value)
    return Document(document.version, content)


def _correct(content: Any, place: Place, value: Any) -> None:
    for step in place[:-1]:
        content = content[step]
    added = isinstance(value, list)
    content[place[-1]] = [*content.get(place[-1], ()), *value] if added else value
