"""Provisioner daemons as coderd lists them: who was seen lately, with which key.

Also the checks before one may connect. Nothing here talks to a daemon.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from sandbox.coderd.rules.go_text import quoted
from sandbox.coderd.rules.identifiers import NIL_UUID, new_uuid
from sandbox.coderd.rules.permissions import Caller
from sandbox.coderd.rules.provisioner_keys import PSK_ID, RESERVED, USER_AUTH_ID
from sandbox.coderd.rules.records import Daemon, Organization, ProvisionerKey
from sandbox.coderd.rules.refusal import RefusalError
from sandbox.coderd.rules.world import World

STALE_AFTER = timedelta(seconds=90)
LISTED_WITH_KEYS = timedelta(minutes=3)
PURGED_AFTER = timedelta(days=7)
API_VERSION = "1.11"
FEATURE = "external_provisioner_daemons"


@dataclass(frozen=True)
class Filter:
    """The query of the daemon list."""

    limit: int = 50
    ids: tuple[str, ...] = ()
    tags: Mapping[str, str] | None = None
    offline: bool | None = None
    statuses: tuple[str, ...] = ()
    max_age: timedelta = timedelta()


@dataclass(frozen=True)
class Presence:
    """What a daemon says about itself when it connects."""

    name: str
    version: str = ""
    api_version: str = API_VERSION
    provisioners: tuple[str, ...] = ("terraform",)
    tags: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Admission:
    """Under which key, in which organization and with which tags a daemon joins."""

    key_id: str
    organization_id: str
    tags: dict[str, str]


def admit_key(key: ProvisionerKey, sent_tags: Mapping[str, str]) -> Admission:
    """A key decides organization and tags; a daemon may not bring its own."""
    if sent_tags:
        raise _not_allowed(sent_tags, "tags are not allowed when using a provisioner key")
    return Admission(key.id, key.organization_id, effective_tags(key.tags))


def admit_psk(organization: Organization, sent_tags: Mapping[str, str]) -> Admission:
    """The shared key works in the default organization only."""
    if not organization.is_default:
        detail = f"PSK auth is only allowed for the default organization '{organization.name}'"
        raise _not_allowed(sent_tags, detail)
    return Admission(PSK_ID, organization.id, effective_tags(sent_tags))


def admit_user(
    caller: Caller, organization: Organization, sent_tags: Mapping[str, str]
) -> Admission:
    """Anybody may serve their own jobs; for the organization it takes the permission."""
    tags = effective_tags(sent_tags, owner=caller.user.id)
    if tags["scope"] != "user" and not caller.may_manage_provisioner_keys(organization.id):
        raise _not_allowed(sent_tags, "user unauthorized")
    return Admission(USER_AUTH_ID, organization.id, tags)


def effective_tags(tags: Mapping[str, str], owner: str = NIL_UUID) -> dict[str, str]:
    """Empty values are dropped, and the scope is always one of the two that exist."""
    kept = {name: value for name, value in tags.items() if value}
    if kept.get("scope") == "user":
        return kept | {"owner": owner}
    return kept | {"scope": "organization", "owner": ""}


def seen(world: World, admission: Admission, presence: Presence) -> Daemon:
    """Connect or beat: one row per organization, name and owner, whoever the replica is."""
    now = world.now()
    for daemon in world.records.daemons.values():
        same_place = daemon.organization_id == admission.organization_id
        same_owner = daemon.tags.get("owner", "") == admission.tags.get("owner", "")
        if same_place and same_owner and daemon.name == presence.name:
            break
    else:
        daemon = Daemon(
            id=new_uuid(),
            organization_id=admission.organization_id,
            key_id=admission.key_id,
            name=presence.name,
            version=presence.version,
            api_version=presence.api_version,
            provisioners=[],
            tags={},
            created_at=now,
            last_seen_at=now,
        )
        world.records.daemons[daemon.id] = daemon
    daemon.key_id = admission.key_id
    daemon.version = presence.version
    daemon.api_version = presence.api_version
    daemon.provisioners = list(presence.provisioners)
    daemon.tags = dict(admission.tags)
    daemon.last_seen_at = now
    return daemon


def gone(world: World, key: ProvisionerKey, name: str) -> bool:
    """A daemon says goodbye: its row stays, as coderd's does, but it is no longer seen."""
    for daemon in world.records.daemons.values():
        if daemon.key_id == key.id and daemon.name == name:
            daemon.last_seen_at = world.now() - LISTED_WITH_KEYS - timedelta(seconds=1)
            return True
    return False


def purge(world: World) -> None:
    """Rows unseen for a week disappear."""
    oldest = world.now() - PURGED_AFTER
    daemons = world.records.daemons
    for daemon in [d for d in daemons.values() if d.last_seen_at < oldest]:
        del daemons[daemon.id]


def list_daemons(world: World, organization: Organization, wanted: Filter) -> list[Daemon]:
    """Newest first; those not seen for 90 seconds only when asked for."""
    purge(world)
    want_offline = wanted.offline is True or "offline" in wanted.statuses
    found: list[Daemon] = []
    for daemon in _of(world, organization):
        if not is_online(world, daemon) and not want_offline:
            continue
        if wanted.ids and daemon.id not in wanted.ids:
            continue
        if wanted.tags and not wanted.tags.items() <= daemon.tags.items():
            continue
        if wanted.max_age and world.now() - daemon.last_seen_at > wanted.max_age:
            continue
        if wanted.statuses and status(world, daemon) not in wanted.statuses:
            continue
        found.append(daemon)
    found.sort(key=lambda daemon: daemon.created_at, reverse=True)
    return found[: wanted.limit] if wanted.limit else found


def recent_of_key(world: World, organization: Organization, key_id: str) -> list[Daemon]:
    """The daemons shown under a key: seen within three minutes."""
    oldest = world.now() - LISTED_WITH_KEYS
    return [d for d in _of(world, organization) if d.key_id == key_id and d.last_seen_at >= oldest]


def is_online(world: World, daemon: Daemon) -> bool:
    """Seen within the last 90 seconds."""
    return world.now() - daemon.last_seen_at <= STALE_AFTER


def status(world: World, daemon: Daemon) -> str:
    """The simulation runs no jobs, so nobody is busy."""
    return "idle" if is_online(world, daemon) else "offline"


def key_name(world: World, daemon: Daemon) -> str:
    """The name of the key a daemon came with."""
    stored = world.records.provisioner_keys.get(daemon.key_id)
    if stored:
        return stored.name
    return next(name for name, identifier in RESERVED.items() if identifier == daemon.key_id)


def _of(world: World, organization: Organization) -> list[Daemon]:
    return [d for d in world.records.daemons.values() if d.organization_id == organization.id]


def _not_allowed(tags: Mapping[str, str], detail: str) -> RefusalError:
    scope = quoted(tags.get("scope", ""))
    message = f"You aren't allowed to create provisioner daemons with scope {scope}"
    return RefusalError(403, message, detail)
