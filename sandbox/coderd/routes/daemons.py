"""Section 7, daemons: the list that every build has, and the door where daemons connect.

The simulation goes through every check of `serve` but does not speak the protocol behind the
websocket; daemons are played through `/_sim/daemons`.
"""

import json
from datetime import timedelta
from typing import cast

from sandbox.coderd.answers import Answer, as_json, plain
from sandbox.coderd.call import Call
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.rules import daemons
from sandbox.coderd.rules.go_text import parse_bool, parse_duration, parse_int32, quoted, timestamp
from sandbox.coderd.rules.identifiers import as_uuid
from sandbox.coderd.rules.records import Daemon
from sandbox.coderd.rules.refusal import FieldFault, RefusalError, not_found

_DAEMONS = "/organizations/{organization}/provisionerdaemons"
_PARAMETERS = ("limit", "ids", "tags", "offline", "status", "max_age")


def add_routes(router: Router) -> None:
    """What every build has."""
    guards = (auth.signed_in, auth.organization_of_path)
    router.mount(_DAEMONS, *guards)
    router.add("GET", _DAEMONS, list_daemons, *guards)


def add_enterprise_routes(router: Router) -> None:
    """Where daemons connect: license first, then either credential, then the organization."""
    guards = (
        daemons_licensed,
        auth.maybe_signed_in,
        daemon_presented,
        auth.organization_of_path,
    )
    router.mount(f"{_DAEMONS}/serve", *guards)
    router.add("GET", f"{_DAEMONS}/serve", serve, *guards)


def list_daemons(call: Call) -> Answer:
    """GET …/provisionerdaemons."""
    world, organization = call.world, call.organization
    if not call.caller.may_read_provisioner_jobs(organization.id):
        raise not_found()
    rows: list[object] = []
    for daemon in daemons.list_daemons(world, organization, _filter(call)):
        known = {
            "key_name": daemons.key_name(world, daemon),
            "status": daemons.status(world, daemon),
        }
        rows.append(shown(daemon) | known)
    return as_json(200, rows)


def daemons_licensed(call: Call) -> None:
    """Guard: this route words the missing license differently."""
    if not call.world.entitlements.enabled(daemons.FEATURE):
        message = "External provisioner daemons is an Enterprise feature. Contact sales!"
        raise RefusalError(403, message)


def daemon_presented(call: Call) -> None:
    """Guard: a user session or a daemon's credential, not both."""
    psk = call.headers.get(auth.PSK_HEADER, "")
    call.psk_accepted = bool(psk) and psk == call.world.settings.provisioner_psk
    if call.headers.get(auth.KEY_HEADER) or not call.psk_accepted:
        try:
            auth.key_presented(call)
        except RefusalError:
            call.known_key = None
    is_daemon = call.known_key is not None or call.psk_accepted
    if call.known_caller and is_daemon:
        message = (
            "API key and external provisioner authentication provided, but only one is allowed"
        )
        raise RefusalError(400, message)
    if not call.known_caller and not is_daemon:
        message = "API key or external provisioner authentication required, but none provided"
        raise RefusalError(401, message)


def serve(call: Call) -> Answer:
    """GET …/provisionerdaemons/serve, up to the upgrade."""
    sent_tags = _sent_tags(call)
    kinds = call.query.getlist("provisioner")
    if not kinds:
        raise RefusalError(400, "The provisioner query parameter must be specified.")
    for kind in kinds:
        if kind not in {"echo", "terraform"}:
            raise RefusalError(400, f"Unknown provisioner type {quoted(kind)}")
    if call.known_key:
        admission = daemons.admit_key(call.key, sent_tags)
    elif call.psk_accepted:
        admission = daemons.admit_psk(call.organization, sent_tags)
    else:
        admission = daemons.admit_user(call.caller, call.organization, sent_tags)
    presence = daemons.Presence(
        name=call.query.get("name", "unnamed"),
        version=call.headers.get("X-Coder-Build-Version", ""),
        api_version=call.query.get("version", "1.0"),
        provisioners=tuple(sorted(set(kinds))),
    )
    daemons.seen(call.world, admission, presence)
    return plain(426, "WebSocket protocol violation: the simulation ends here\n")


def shown(daemon: Daemon) -> dict[str, object]:
    """A daemon as the API shows it; the list fills in key name and status."""
    return {
        "id": daemon.id,
        "organization_id": daemon.organization_id,
        "key_id": daemon.key_id,
        "created_at": timestamp(daemon.created_at),
        "last_seen_at": timestamp(daemon.last_seen_at),
        "name": daemon.name,
        "version": daemon.version,
        "api_version": daemon.api_version,
        "provisioners": list(daemon.provisioners),
        "tags": {name: daemon.tags[name] for name in sorted(daemon.tags)},
        "key_name": None,
        "status": None,
        "current_job": None,
        "previous_job": None,
    }


def _sent_tags(call: Call) -> dict[str, str]:
    tags: dict[str, str] = {}
    for tag in call.query.getlist("tag"):
        name, separator, value = tag.partition("=")
        if not separator:
            message = (
                f"Invalid format for tag {quoted(tag)}. Key and value must be separated with =."
            )
            raise RefusalError(400, message)
        tags[name] = value
    return tags


def _filter(call: Call) -> daemons.Filter:
    """Read the query; everything that is wrong with it is said at once."""
    faults: list[FieldFault] = []
    query = call.query

    def fault(name: str, what: str, error: object = "") -> None:
        ending = f": {error}" if error else ""
        faults.append(
            FieldFault(name, f"Query param {quoted(name)} must be a valid {what}{ending}")
        )

    limit = 50
    if text := query.get("limit"):
        try:
            limit = parse_int32(text)
        except ValueError as error:
            fault("limit", "32-bit positive integer", error)
        if limit < 0:
            fault("limit", "32-bit positive integer", "value is negative")
    ids: list[str] = []
    for text in filter(None, query.get("ids", "").split(",")):
        identifier = as_uuid(text.strip())
        if identifier is None:
            detail = (
                f"invalid UUID length: {len(text)}" if len(text) != 36 else "invalid UUID format"
            )
            faults.append(FieldFault("ids", f'Query param "ids" has invalid values: {detail}'))
            break
        ids.append(identifier)
    tags: dict[str, str] | None = None
    if text := query.get("tags"):
        tags = _tags(text)
        if tags is None:
            fault(
                "tags",
                "JSON object",
                f"invalid character {text[0]!r} looking for beginning of value",
            )
    offline: bool | None = None
    if text := query.get("offline"):
        try:
            offline = parse_bool(text)
        except ValueError as error:
            fault("offline", "boolean", error)
    max_age = timedelta()
    if text := query.get("max_age"):
        try:
            max_age = timedelta(seconds=parse_duration(text))
        except ValueError as error:
            fault("max_age", "duration (e.g., '24h', '30m', '1h30m')", error)
    faults.extend(
        FieldFault(name, f"{quoted(name)} is not a valid query param")
        for name in query
        if name not in _PARAMETERS
    )
    if faults:
        raise RefusalError(400, "Invalid query parameters.", faults=tuple(faults))
    statuses = tuple(filter(None, query.get("status", "").split(",")))
    return daemons.Filter(limit, tuple(ids), tags, offline, statuses, max_age)


def _tags(text: str) -> dict[str, str] | None:
    try:
        parsed: object = json.loads(text)
    except ValueError:
        return None
    if not isinstance(parsed, dict):
        return None
    tags = cast("dict[str, object]", parsed)
    return {n: v for n, v in tags.items() if isinstance(v, str)} if tags else {}
