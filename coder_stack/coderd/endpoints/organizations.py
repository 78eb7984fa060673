"""Organizations, and how many workspaces are in one.

Every build of coderd reads them; changing them needs `multiple_organizations`.
"""

from uuid import UUID

from pydantic import TypeAdapter

from coder_stack.coderd.endpoints.base import Endpoints
from coder_stack.coderd.models import ApiModel, List, OrganizationRecord
from coder_stack.coderd.request import Request, quoted
from coder_stack.features import MULTIPLE_ORGANIZATIONS


class _Workspaces(ApiModel):
    count: int


_ORGANIZATION = TypeAdapter(OrganizationRecord)
_ORGANIZATIONS = TypeAdapter[tuple[OrganizationRecord, ...]](List[OrganizationRecord])
_WORKSPACES = TypeAdapter(_Workspaces)
_PATH = ("api", "v2", "organizations")


class OrganizationEndpoints(Endpoints):
    """Organizations. Changes take the id, which a rename does not touch."""

    def organizations(self) -> tuple[OrganizationRecord, ...]:
        """List those that the token's user may read, without deleted ones, in no order."""
        request = Request(operation="list organizations", method="GET", path=_PATH)
        return self._ask(request, _ORGANIZATIONS)

    def organization(self, name_or_id: str = "default") -> OrganizationRecord:
        """Return one by name (in any case), by id, or the one that is `default`.

        By id this finds deleted ones too, and the response does not say so: only the list does.
        """
        request = Request(
            operation=f"look up organization {quoted(name_or_id)}",
            method="GET",
            path=(*_PATH, name_or_id),
        )
        return self._ask(request, _ORGANIZATION)

    def create_organization(
        self, name: str, *, display_name: str = "", description: str = "", icon: str = ""
    ) -> OrganizationRecord:
        """Create it, with the token's user as its only member; Conflict if the name is taken.

        Without a display name coderd stores the name as one.
        """
        request = Request(
            operation=f"create organization {quoted(name)}",
            method="POST",
            path=_PATH,
            success=frozenset({201}),
            body={
                "name": name,
                "display_name": display_name,
                "description": description,
                "icon": icon,
            },
            feature=MULTIPLE_ORGANIZATIONS,
        )
        return self._ask(request, _ORGANIZATION)

    def update_organization(
        self,
        organization: UUID,
        *,
        name: str | None = None,
        display_name: str | None = None,
        description: str | None = None,
        icon: str | None = None,
    ) -> OrganizationRecord:
        """Change what is given; coderd takes an empty name or display name for "keep it".

        It changes a deleted organization too: look into the list first.
        """
        wanted = {
            "name": name,
            "display_name": display_name,
            "description": description,
            "icon": icon,
        }
        request = Request(
            operation=f"update organization {quoted(name or organization)}",
            method="PATCH",
            path=(*_PATH, str(organization)),
            body={field: value for field, value in wanted.items() if value is not None},
            feature=MULTIPLE_ORGANIZATIONS,
            repeatable=True,
        )
        return self._ask(request, _ORGANIZATION)

    def delete_organization(self, organization: UUID) -> None:
        """Free the name at once; may be repeated. NotEmpty while it holds anything."""
        request = Request(
            operation=f"delete organization {quoted(organization)}",
            method="DELETE",
            path=(*_PATH, str(organization)),
            feature=MULTIPLE_ORGANIZATIONS,
        )
        self._done(request)

    def workspace_count(self, organization: UUID) -> int:
        """Count the workspaces that the token's user may read; an owner may read all.

        An organization that does not exist has none.
        """
        request = Request(
            operation=f"count the workspaces of organization {quoted(organization)}",
            method="GET",
            path=("api", "v2", "workspaces"),
            query={"q": f"organization:{organization}", "limit": "1"},
        )
        return self._ask(request, _WORKSPACES).count
