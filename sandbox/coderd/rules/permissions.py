"""The permissions of Coder's roles, as far as the simulated routes check them."""

from dataclasses import dataclass

from sandbox.coderd.rules.records import ApiKeyRow, UserRow

OWNER = "owner"
TEMPLATE_ADMIN = "template-admin"
USER_ADMIN = "user-admin"
AUDITOR = "auditor"
ORGANIZATION_ADMIN = "organization-admin"
ORGANIZATION_TEMPLATE_ADMIN = "organization-template-admin"

SITE_ROLES = {
    OWNER: "Owner",
    TEMPLATE_ADMIN: "Template Admin",
    USER_ADMIN: "User Admin",
    AUDITOR: "Auditor",
}
ORGANIZATION_ROLES = frozenset({ORGANIZATION_ADMIN, ORGANIZATION_TEMPLATE_ADMIN})


@dataclass(frozen=True)
class Actor:
    """A user with the API key of the request."""

    user: UserRow
    key: ApiKeyRow

    def _site(self, *roles: str) -> bool:
        return self._unrestricted() and any(role in self.user.roles for role in roles)

    def _in(self, organization_id: str, *roles: str) -> bool:
        held = self.user.organizations.get(organization_id, [])
        return self._unrestricted() and any(role in held for role in roles)

    def _unrestricted(self) -> bool:
        """Return whether the API key has the scope `coder:all`, which all checks here require."""
        return "coder:all" in self.key.scopes

    @property
    def is_owner(self) -> bool:
        """Return whether the user is an owner."""
        return self._site(OWNER)

    def may_read_user(self, other: UserRow) -> bool:
        """Return whether the actor may see an account."""
        if other.id == self.user.id:
            return self._unrestricted()
        return self._site(OWNER, TEMPLATE_ADMIN, USER_ADMIN, AUDITOR)

    def may_manage_users(self) -> bool:
        """Return whether the actor may create, suspend and activate accounts."""
        return self._site(OWNER, USER_ADMIN)

    def may_use_keys_of(self, user_id: str) -> bool:
        """Return whether the actor may see, create and delete API keys of a user."""
        return self._unrestricted() and (user_id == self.user.id or self.is_owner)

    def may_read_organization(self, organization_id: str) -> bool:
        """Return whether the actor is a member or has a site-wide role."""
        return self._unrestricted() and (
            organization_id in self.user.organizations
            or self._site(OWNER, TEMPLATE_ADMIN, USER_ADMIN, AUDITOR)
        )

    def may_manage_organization(self, organization_id: str) -> bool:
        """Return whether the actor may change or delete an organization."""
        return self.is_owner or self._in(organization_id, ORGANIZATION_ADMIN)

    def may_read_workspaces(self, organization_id: str) -> bool:
        """Return whether the actor may see all workspaces of an organization."""
        return self._site(OWNER, TEMPLATE_ADMIN) or self._in(
            organization_id, ORGANIZATION_ADMIN, ORGANIZATION_TEMPLATE_ADMIN
        )

    def may_manage_licenses(self) -> bool:
        """Return whether the actor may read, add and delete licenses."""
        return self.is_owner

    def may_read_provisioner_keys(self, organization_id: str) -> bool:
        """Return whether the actor may see names and tags of keys."""
        return self.may_manage_provisioner_keys(organization_id) or (
            self._unrestricted() and organization_id in self.user.organizations
        )

    def may_manage_provisioner_keys(self, organization_id: str) -> bool:
        """Return whether the actor may create and delete keys and connect daemons."""
        return self._site(OWNER, TEMPLATE_ADMIN) or self._in(
            organization_id, ORGANIZATION_ADMIN, ORGANIZATION_TEMPLATE_ADMIN
        )

    def may_read_provisioner_jobs(self, organization_id: str) -> bool:
        """Return whether the actor may list daemons; a site-wide template admin may not."""
        return self.is_owner or self._in(
            organization_id, ORGANIZATION_ADMIN, ORGANIZATION_TEMPLATE_ADMIN
        )

    def may_read_proxies(self) -> bool:
        """Return whether the actor may see workspace proxies."""
        return self._unrestricted()

    def may_manage_proxies(self) -> bool:
        """Return whether the actor may create, change and delete workspace proxies."""
        return self.is_owner

    def may_read_deployment_config(self) -> bool:
        """Return whether the actor gets license warnings in headers."""
        return self._site(OWNER, AUDITOR)
