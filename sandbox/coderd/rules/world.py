"""The simulation's whole state: records, clock, settings, and the entitlements held in memory.

coderd answers entitlements from memory and looks again only now and then; `refresh_if_due` plays
that timer. Nothing here knows about requests or files.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sandbox.coderd.rules import identifiers
from sandbox.coderd.rules.clock import Clock
from sandbox.coderd.rules.entitlements import Entitlements, compute, nothing
from sandbox.coderd.rules.records import Organization, Records

ENTITLEMENTS_INTERVAL = timedelta(minutes=10)
VERSION = "v2.30.0+simulated"


@dataclass
class Settings:
    """What an operator sets on the real server by flags."""

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
class World:
    """Everything one simulated deployment knows."""

    records: Records
    clock: Clock
    settings: Settings = field(default_factory=Settings)
    url: str = ""
    entitlements: Entitlements = field(default_factory=nothing)

    def now(self) -> datetime:
        """The simulation's time."""
        return self.clock.now()

    def refresh_entitlements(self) -> None:
        """Work the entitlements out anew from the stored licenses.

        A license that demands telemetry while it is off leaves everything as it was and only
        reports the error, so that the license can still be removed.
        """
        users = sum(user.status == "active" for user in self.records.users.values())
        fresh = compute(
            list(self.records.licenses.values()),
            self.now(),
            active_users=users,
            replicas=self.settings.replicas,
        )
        if fresh.require_telemetry and not self.settings.telemetry:
            self.entitlements.errors = ["License requires telemetry but telemetry is disabled"]
        else:
            self.entitlements = fresh

    def refresh_if_due(self) -> None:
        """The timer: grace, expiry and start of a license are noticed here, never earlier."""
        since = self.now() - self.entitlements.refreshed_at
        if since >= ENTITLEMENTS_INTERVAL or since < timedelta():
            self.refresh_entitlements()

    def default_organization(self) -> Organization:
        """The organization that every deployment starts with."""
        return next(o for o in self.records.organizations.values() if o.is_default)


def new_world(clock: Clock, settings: Settings) -> World:
    """An empty deployment: a default organization named `coder`, nobody in it."""
    records = Records(deployment_id=identifiers.new_uuid())
    now = clock.now()
    organization = Organization(
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
    world = World(records, clock, settings)
    world.refresh_entitlements()
    return world
