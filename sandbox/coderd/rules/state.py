"""The state of a simulated coderd: records, clock, flags, and cached entitlements.

coderd refreshes its entitlements by a timer, which `refresh_if_due` simulates.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sandbox.coderd.rules import identifiers, versions
from sandbox.coderd.rules.clock import MovableClock
from sandbox.coderd.rules.entitlements import EntitlementSet, compute, nothing
from sandbox.coderd.rules.records import OrganizationRow, Records
from sandbox.coderd.rules.versions import Change

ENTITLEMENTS_INTERVAL = timedelta(minutes=10)
VERSION = "v2.30.0+simulated"


@dataclass
class ServerFlags:
    """Flags of the real server that the simulation has."""

    enterprise: bool = True
    version: str = VERSION
    telemetry: bool = False
    api_rate_limit: int = 512
    login_rate_limit: int = 60
    password_auth: bool = True
    session_expiry_refresh: bool = True
    replicas: int = 1
    provisioner_psk: str = ""


@dataclass
class CoderdState:
    """The state of one simulated coderd."""

    records: Records
    clock: MovableClock
    flags: ServerFlags = field(default_factory=ServerFlags)
    url: str = ""
    entitlements: EntitlementSet = field(default_factory=nothing)

    def now(self) -> datetime:
        """Return the simulation's time."""
        return self.clock.now()

    def has(self, change: Change) -> bool:
        """Return whether the reported version has a change."""
        return versions.has(self.flags.version, change)

    def refresh_entitlements(self) -> None:
        """Compute the entitlements from the stored licenses.

        If a license requires telemetry and it is off, only the error is reported, as in coderd.
        """
        users = sum(user.status == "active" for user in self.records.users.values())
        fresh = compute(
            list(self.records.licenses.values()),
            self.now(),
            active_users=users,
            replicas=self.flags.replicas,
        )
        if fresh.require_telemetry and not self.flags.telemetry:
            self.entitlements.errors = ["License requires telemetry but telemetry is disabled"]
        else:
            self.entitlements = fresh

    def refresh_if_due(self) -> None:
        """Refresh if the timer is due; changes by time, such as expiry, take effect only then."""
        since = self.now() - self.entitlements.refreshed_at
        if since >= ENTITLEMENTS_INTERVAL or since < timedelta():
            self.refresh_entitlements()

    def default_organization(self) -> OrganizationRow:
        """Return the default organization."""
        return next(o for o in self.records.organizations.values() if o.is_default)


def new_state(clock: MovableClock, flags: ServerFlags) -> CoderdState:
    """Return the state of a new deployment: a default organization, and no users."""
    records = Records(deployment_id=identifiers.new_uuid())
    now = clock.now()
    organization = OrganizationRow(
        id=identifiers.new_uuid(),
        name="coder",
        display_name="Coder",
        icon="",
        description="Builtin default organization.",
        created_at=now,
        updated_at=now,
        is_default=True,
    )
    records.organizations[organization.id] = organization
    state = CoderdState(records, clock, flags)
    state.refresh_entitlements()
    return state
