"""`/_sim/*`: what only a simulation has: its log, faults, clock, played daemons, users.

These routes need no authentication, are not rate limited, cannot be hit by faults and do not appear
in the request log.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import cast

from sandbox.coderd.answers import Answer, as_json
from sandbox.coderd.call import Call
from sandbox.coderd.faults import FaultError, Faults
from sandbox.coderd.request_log import RequestLog
from sandbox.coderd.routes import auth
from sandbox.coderd.rules import (
    daemons,
    organizations,
    permissions,
    provisioner_keys,
    sessions,
    users,
)
from sandbox.coderd.rules.go_text import timestamp
from sandbox.coderd.rules.identifiers import new_uuid
from sandbox.coderd.rules.records import Workspace
from sandbox.coderd.rules.refusal import RefusalError

PREFIX = "/_sim"
_SETTINGS = (
    "telemetry",
    "api_rate_limit",
    "login_rate_limit",
    "password_auth",
    "session_expiry_refresh",
    "replicas",
    "provisioner_psk",
    "version",
)
_LONG = timedelta(days=3650)


class Controls:
    """The control routes, over the simulation's log and faults."""

    def __init__(self, log: RequestLog, faults: Faults) -> None:
        self._log = log
        self._faults = faults

    def serve(self, call: Call) -> Answer:
        """Dispatch on method and path."""
        handlers = {
            ("GET", "/requests"): self._requests,
            ("DELETE", "/requests"): self._forget,
            ("GET", "/faults"): self._show_faults,
            ("POST", "/faults"): self._add_faults,
            ("DELETE", "/faults"): self._clear_faults,
            ("GET", "/clock"): _clock,
            ("POST", "/clock"): _move_clock,
            ("POST", "/settings"): _set,
            ("POST", "/users"): _add_user,
            ("POST", "/sessions"): _session,
            ("POST", "/key-tags"): _rewrite_tags,
            ("POST", "/daemons"): _daemon_seen,
            ("DELETE", "/daemons"): _daemon_gone,
            ("POST", "/workspaces"): _add_workspace,
            ("DELETE", "/workspaces"): _remove_workspace,
            ("GET", "/state"): _state,
        }
        handler = handlers.get((call.method, call.path.removeprefix(PREFIX)))
        if handler is None:
            raise RefusalError(404, f"The simulation has no control {call.method} {call.path}.")
        return handler(call)

    def _requests(self, _call: Call) -> Answer:
        return as_json(200, self._log.shown())

    def _forget(self, _call: Call) -> Answer:
        self._log.clear()
        return Answer(204)

    def _show_faults(self, _call: Call) -> Answer:
        return as_json(200, self._faults.shown())

    def _add_faults(self, call: Call) -> Answer:
        try:
            self._faults.add(_json(call))
        except FaultError as error:
            raise RefusalError(400, "That is no fault.", str(error)) from error
        return as_json(201, self._faults.shown())

    def _clear_faults(self, _call: Call) -> Answer:
        self._faults.clear()
        return Answer(204)


def _clock(call: Call) -> Answer:
    offset = call.world.clock.offset.total_seconds()
    return as_json(200, {"now": timestamp(call.world.now()), "offset_seconds": offset})


def _move_clock(call: Call) -> Answer:
    """`{"set": "<RFC 3339>"}`, `{"advance_seconds": n}` or `{"reset": true}`."""
    wish = _object(call)
    try:
        if "set" in wish:
            moment = datetime.fromisoformat(str(wish["set"]))
            call.world.clock.set(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
        elif "advance_seconds" in wish:
            call.world.clock.advance(
                timedelta(seconds=float(cast("float", wish["advance_seconds"])))
            )
        elif wish.get("reset") is True:
            call.world.clock.offset = timedelta()
        else:
            raise RefusalError(400, "Give set, advance_seconds or reset.")
    except (ValueError, TypeError, OverflowError) as error:
        raise RefusalError(400, "The clock cannot be moved like that.", str(error)) from error
    return _clock(call)


def _set(call: Call) -> Answer:
    """Change settings that the real server takes as flags; only those given change."""
    wish = _object(call)
    settings = call.world.settings
    for name, value in wish.items():
        if name not in _SETTINGS or type(value) is not type(getattr(settings, name)):
            raise RefusalError(400, f"{name} is no setting, or its type is wrong.")
    for name, value in wish.items():
        setattr(settings, name, value)
    shown = {name: getattr(settings, name) for name in _SETTINGS if name != "provisioner_psk"}
    return as_json(200, shown)


def _add_user(call: Call) -> Answer:
    """`{"username", "password"?, "roles"?, "organizations"?: {"<id or name>": [roles]}}`.

    The answer holds a long-lived session token of the new user.
    """
    wish = _object(call)
    username = str(wish.get("username", "member"))
    if any(user.username == username for user in call.world.records.users.values()):
        raise RefusalError(409, "User already exists.")
    roles = tuple(cast("list[str]", wish.get("roles") or []))
    if set(roles) - set(permissions.SITE_ROLES):
        raise RefusalError(400, f"roles must be among {', '.join(permissions.SITE_ROLES)}.")
    default = call.world.default_organization()
    names = {o.name: o.id for o in call.world.records.organizations.values() if not o.deleted}
    wanted = cast("dict[str, list[str]]", wish.get("organizations") or {default.name: []})
    memberships = {
        names.get(reference, reference): list(held) for reference, held in wanted.items()
    }
    password = str(wish.get("password", "Simulated-Member-1!"))
    account = users.Account(f"{username}@example.com", username, password, roles=roles)
    user = users.add_user(call.world, account, memberships)
    token = sessions.new_key(call.world, user.id, login_type="password", lifetime=_LONG)
    return as_json(201, {"id": user.id, "email": user.email, "token": token})


def _session(call: Call) -> Answer:
    """A session token of the first owner, who exists once somebody has set coderd up."""
    records = call.world.records
    owner = next((u for u in records.users.values() if permissions.OWNER in u.roles), None)
    if owner is None:
        raise RefusalError(404, "Nobody has set this coderd up yet.")
    token = sessions.new_key(call.world, owner.id, login_type="password", lifetime=_LONG)
    return as_json(201, {"username": owner.username, "token": token})


def _rewrite_tags(call: Call) -> Answer:
    """`{"key_id", "tags"}`: write into the database what no request to coderd could change."""
    wish = _object(call)
    key = call.world.records.provisioner_keys.get(str(wish.get("key_id")))
    tags = wish.get("tags")
    if key is None or not isinstance(tags, dict):
        raise RefusalError(404, "Give key_id of a key that exists, and tags.")
    key.tags = {str(k): str(v) for k, v in cast("dict[str, object]", tags).items()}
    return as_json(200, {"name": key.name, "tags": key.tags})


def _daemon_seen(call: Call) -> Answer:
    """A daemon presents its key: `{"name", "version"?}`. Repeat it as the heartbeat.

    The same checks as on the real door: no license, no entry; an unknown key gets 401.
    """
    if not call.world.entitlements.enabled(daemons.FEATURE):
        raise RefusalError(
            403, "External provisioner daemons is an Enterprise feature. Contact sales!"
        )
    auth.key_presented(call)
    wish = _object(call)
    presence = daemons.Presence(
        name=str(wish.get("name", "daemon")),
        version=str(wish.get("version", call.world.settings.version)),
    )
    daemon = daemons.seen(call.world, daemons.admit_key(call.key, {}), presence)
    return as_json(200, {"id": daemon.id, "name": daemon.name, "key": call.key.name})


def _daemon_gone(call: Call) -> Answer:
    """A daemon says goodbye: `?name=…` with its key."""
    auth.key_presented(call)
    if not daemons.gone(call.world, call.key, call.query.get("name", "")):
        raise RefusalError(404, "No such daemon has this key.")
    return Answer(204)


def _add_workspace(call: Call) -> Answer:
    """`{"organization", "name"?}`: somebody has built one there."""
    wish = _object(call)
    organization = organizations.find_organization(
        call.world, None, str(wish.get("organization", "default"))
    )
    workspace = Workspace(new_uuid(), organization.id, str(wish.get("name", "workspace")))
    call.world.records.workspaces[workspace.id] = workspace
    return as_json(201, {"id": workspace.id, "organization_id": organization.id})


def _remove_workspace(call: Call) -> Answer:
    """The one with `?id=…` is no more."""
    if call.world.records.workspaces.pop(call.query.get("id", ""), None) is None:
        raise RefusalError(404, "No workspace has this id.")
    return Answer(204)


def _state(call: Call) -> Answer:
    """A summary without secrets."""
    world, records = call.world, call.world.records
    names = {o.id: o.name for o in records.organizations.values()}
    return as_json(
        200,
        {
            "deployment_id": records.deployment_id,
            "edition": "enterprise" if world.settings.enterprise else "agpl",
            "now": timestamp(world.now()),
            "users": [u.username for u in records.users.values()],
            "organizations": [o.name for o in records.organizations.values() if not o.deleted],
            "licenses": [{"id": s.id, "uuid": s.uuid} for s in records.licenses.values()],
            "tokens": [k.token_name for k in records.api_keys.values() if k.login_type == "token"],
            "provisioner_keys": [
                {"organization": names[k.organization_id], "name": k.name, "tags": k.tags}
                for k in records.provisioner_keys.values()
            ],
            "daemons": [
                {
                    "name": d.name,
                    "key": daemons.key_name(world, d),
                    "online": daemons.is_online(world, d),
                }
                for d in records.daemons.values()
            ],
            "proxies": [
                {"id": p.id, "name": p.name, "deleted": p.deleted} for p in records.proxies.values()
            ],
            "reserved_keys": sorted(provisioner_keys.RESERVED),
        },
    )


def _json(call: Call) -> object:
    try:
        return json.loads(call.body or b"{}")
    except ValueError as error:
        raise RefusalError(400, "Request body must be valid JSON.", str(error)) from error


def _object(call: Call) -> dict[str, object]:
    parsed = _json(call)
    if not isinstance(parsed, dict):
        raise RefusalError(400, "Request body must be a JSON object.")
    return cast("dict[str, object]", parsed)
