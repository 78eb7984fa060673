"""Who may do what: the part of Coder's role table that the simulated routes ask about.

Site roles: owner, template-admin, user-admin, auditor; in an organization: organization-admin and
organization-template-admin. Every account is also a plain member.
"""

from dataclasses import dataclass

from sandbox.coderd.rules.records import ApiKey, User

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
class Caller:
    """Somebody who presented a valid API key."""

    user: User
    key: ApiKey

    def _site(self, *roles: str) -> bool:
        return self._unrestricted() and any(role in self.user.roles for role in roles)

    def _in(self, organization_id: str, *roles: str) -> bool:
        held = self.user.organizations.get(organization_id, [])
        return self._unrestricted() and any(role in held for role in roles)

    def _unrestricted(self) -> bool:
        """No scope but `coder:all` reaches licenses, keys or proxies."""
        return "coder:all" in self.key.scopes

    @property
    def is_owner(self) -> bool:
        """Holds the role that may do everything."""
        return self._site(OWNER)

    def may_read_user(self, other: User) -> bool:
        """See another account."""
        if other.id == self.user.id:
            return self._unrestricted()
        return self._site(OWNER, TEMPLATE_ADMIN, USER_ADMIN, AUDITOR)

    def may_manage_users(self) -> bool:
        """Create, suspend and activate accounts."""
        return self._site(OWNER, USER_ADMIN)

    def may_use_keys_of(self, user_id: str) -> bool:
        """See, create and delete API keys: one's own, or anybody's as owner."""
        return self._unrestricted() and (user_id == self.user.id or self.is_owner)

    def may_read_organization(self, organization_id: str) -> bool:
        """Members, and those site roles that see every organization."""
        return self._unrestricted() and (
            organization_id in self.user.organizations
            or self._site(OWNER, TEMPLATE_ADMIN, USER_ADMIN, AUDITOR)
        )

    def may_manage_organization(self, organization_id: str) -> bool:
        """Change or delete it."""
        return self.is_owner or self._in(organization_id, ORGANIZATION_ADMIN)

    def may_read_workspaces(self, organization_id: str) -> bool:
        """Those of everybody in the organization."""
        return self._site(OWNER, TEMPLATE_ADMIN) or self._in(
            organization_id, ORGANIZATION_ADMIN, ORGANIZATION_TEMPLATE_ADMIN
        )

    def may_manage_licenses(self) -> bool:
        """Read, add and delete licenses."""
        return self.is_owner

    def may_read_provisioner_keys(self, organization_id: str) -> bool:
        """Names and tags are open to every member."""
        return self.may_manage_provisioner_keys(organization_id) or (
            self._unrestricted() and organization_id in self.user.organizations
        )

    def may_manage_provisioner_keys(self, organization_id: str) -> bool:
        """Create and delete keys, connect daemons for the organization."""
        return self._site(OWNER, TEMPLATE_ADMIN) or self._in(
            organization_id, ORGANIZATION_ADMIN, ORGANIZATION_TEMPLATE_ADMIN
        )

    def may_read_provisioner_jobs(self, organization_id: str) -> bool:
        """Needed to list daemons; a site-wide template admin does not hold it."""
        return self.is_owner or self._in(
            organization_id, ORGANIZATION_ADMIN, ORGANIZATION_TEMPLATE_ADMIN
        )

    def may_read_proxies(self) -> bool:
        """Everybody."""
        return self._unrestricted()

    def may_manage_proxies(self) -> bool:
        """Create, change and delete workspace proxies."""
        return self.is_owner

    def may_read_deployment_config(self) -> bool:
        """Those also see the license warnings as headers."""
        return self._site(OWNER, AUDITOR)
