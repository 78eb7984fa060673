"""Provisioner daemons: the checks before one may connect, heartbeats, the list."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from sandbox.coderd.rules.go_text import quoted
from sandbox.coderd.rules.identifiers import NIL_UUID, new_uuid
from sandbox.coderd.rules.permissions import Actor
from sandbox.coderd.rules.provisioner_keys import PSK_ID, RESERVED, USER_AUTH_ID
from sandbox.coderd.rules.records import DaemonRow, OrganizationRow, ProvisionerKeyRow
from sandbox.coderd.rules.refusal import RefusalError
from sandbox.coderd.rules.state import CoderdState

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
    """What a daemon sends when it connects."""

    name: str
    version: str = ""
    api_version: str = API_VERSION
    provisioners: tuple[str, ...] = ("terraform",)
    tags: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Admission:
    """The key, organization and tags of a daemon that may connect."""

    key_id: str
    organization_id: str
    tags: dict[str, str]


def admit_key(key: ProvisionerKeyRow, sent_tags: Mapping[str, str]) -> Admission:
    """Admit a daemon with a key, which determines organization and tags."""
    if sent_tags:
        raise _not_allowed(sent_tags, "tags are not allowed when using a provisioner key")
    return Admission(key.id, key.organization_id, effective_tags(key.tags))


def admit_psk(organization: OrganizationRow, sent_tags: Mapping[str, str]) -> Admission:
    """Admit a daemon with the pre-shared key, to the default organization only."""
    if not organization.is_default:
        detail = f"PSK auth is only allowed for the default organization '{organization.name}'"
        raise _not_allowed(sent_tags, detail)
    return Admission(PSK_ID, organization.id, effective_tags(sent_tags))


def admit_user(
    actor: Actor, organization: OrganizationRow, sent_tags: Mapping[str, str]
) -> Admission:
    """Admit a user's daemon; jobs of other users require a permission."""
    tags = effective_tags(sent_tags, owner=actor.user.id)
    if tags["scope"] != "user" and not actor.may_manage_provisioner_keys(organization.id):
        raise _not_allowed(sent_tags, "user unauthorized")
    return Admission(USER_AUTH_ID, organization.id, tags)


def effective_tags(tags: Mapping[str, str], owner: str = NIL_UUID) -> dict[str, str]:
    """Return the tags without empty values, and with a valid scope and owner."""
    kept = {name: value for name, value in tags.items() if value}
    if kept.get("scope") == "user":
        return kept | {"owner": owner}
    return kept | {"scope": "organization", "owner": ""}


def seen(state: CoderdState, admission: Admission, presence: Presence) -> DaemonRow:
    """Record a connection or heartbeat; there is one row per organization, name and owner."""
    now = state.now()
    for daemon in state.records.daemons.values():
        same_organization = daemon.organization_id == admission.organization_id
        same_owner = daemon.tags.get("owner", "") == admission.tags.get("owner", "")
        if same_organization and same_owner and daemon.name == presence.name:
            break
    else:
        daemon = DaemonRow(
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
        state.records.daemons[daemon.id] = daemon
    daemon.key_id = admission.key_id
    daemon.version = presence.version
    daemon.api_version = presence.api_version
    daemon.provisioners = list(presence.provisioners)
    daemon.tags = dict(admission.tags)
    daemon.last_seen_at = now
    return daemon


def gone(state: CoderdState, key: ProvisionerKeyRow, name: str) -> bool:
    """Disconnect a daemon; its row stays, as in coderd."""
    for daemon in state.records.daemons.values():
        if daemon.key_id == key.id and daemon.name == name:
            daemon.last_seen_at = state.now() - LISTED_WITH_KEYS - timedelta(seconds=1)
            return True
    return False


def purge(state: CoderdState) -> None:
    """Delete daemons that were not seen for a week."""
    oldest = state.now() - PURGED_AFTER
    daemons = state.records.daemons
    for daemon in [d for d in daemons.values() if d.last_seen_at < oldest]:
        del daemons[daemon.id]


def list_daemons(
    state: CoderdState, organization: OrganizationRow, wanted: Filter
) -> list[DaemonRow]:
    """List daemons, newest first; offline ones only on request."""
    purge(state)
    want_offline = wanted.offline is True or "offline" in wanted.statuses
    found: list[DaemonRow] = []
    for daemon in _of(state, organization):
        if not is_online(state, daemon) and not want_offline:
            continue
        if wanted.ids and daemon.id not in wanted.ids:
            continue
        if wanted.tags and not wanted.tags.items() <= daemon.tags.items():
            continue
        if wanted.max_age and state.now() - daemon.last_seen_at > wanted.max_age:
            continue
        if wanted.statuses and status(state, daemon) not in wanted.statuses:
            continue
        found.append(daemon)
    found.sort(key=lambda daemon: daemon.created_at, reverse=True)
    return found[: wanted.limit] if wanted.limit else found


def recent_of_key(
    state: CoderdState, organization: OrganizationRow, key_id: str
) -> list[DaemonRow]:
    """Return the daemons of a key that were seen within three minutes."""
    oldest = state.now() - LISTED_WITH_KEYS
    return [d for d in _of(state, organization) if d.key_id == key_id and d.last_seen_at >= oldest]


def is_online(state: CoderdState, daemon: DaemonRow) -> bool:
    """Return whether the daemon was seen within the last 90 seconds."""
    return state.now() - daemon.last_seen_at <= STALE_AFTER


def status(state: CoderdState, daemon: DaemonRow) -> str:
    """Return the daemon's status; never `busy`, because there are no jobs."""
    return "idle" if is_online(state, daemon) else "offline"


def key_name(state: CoderdState, daemon: DaemonRow) -> str:
    """Return the name of the daemon's key."""
    stored = state.records.provisioner_keys.get(daemon.key_id)
    if stored:
        return stored.name
    return next(name for name, identifier in RESERVED.items() if identifier == daemon.key_id)


def _of(state: CoderdState, organization: OrganizationRow) -> list[DaemonRow]:
    return [d for d in state.records.daemons.values() if d.organization_id == organization.id]


def _not_allowed(tags: Mapping[str, str], detail: str) -> RefusalError:
    scope = quoted(tags.get("scope", ""))
    message = f"You aren't allowed to create provisioner daemons with scope {scope}"
    return RefusalError(403, message, detail)
