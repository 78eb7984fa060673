"""`/_sim/*`: control the simulation: request log, faults, clock, flags, users, daemons.

These routes need no authentication, and have no rate limits, faults or request log.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import cast

from sandbox.coderd.faults import FaultError, Faults
from sandbox.coderd.request_context import RequestContext
from sandbox.coderd.request_log import RequestLog
from sandbox.coderd.responses import HttpResponse, as_json
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
from sandbox.coderd.rules.records import WorkspaceRow
from sandbox.coderd.rules.refusal import RefusalError

PREFIX = "/_sim"
_CHANGEABLE_FLAGS = (
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
    """The control routes."""

    def __init__(self, log: RequestLog, faults: Faults) -> None:
        self._log = log
        self._faults = faults

    def serve(self, ctx: RequestContext) -> HttpResponse:
        """Handle a request by its method and path."""
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
        handler = handlers.get((ctx.method, ctx.path.removeprefix(PREFIX)))
        if handler is None:
            raise RefusalError(404, f"The simulation has no control {ctx.method} {ctx.path}.")
        return handler(ctx)

    def _requests(self, _ctx: RequestContext) -> HttpResponse:
        return as_json(200, self._log.to_json())

    def _forget(self, _ctx: RequestContext) -> HttpResponse:
        self._log.clear()
        return HttpResponse(204)

    def _show_faults(self, _ctx: RequestContext) -> HttpResponse:
        return as_json(200, self._faults.to_json())

    def _add_faults(self, ctx: RequestContext) -> HttpResponse:
        try:
            self._faults.add(_json(ctx))
        except FaultError as error:
            raise RefusalError(400, "That is no fault.", str(error)) from error
        return as_json(201, self._faults.to_json())

    def _clear_faults(self, _ctx: RequestContext) -> HttpResponse:
        self._faults.clear()
        return HttpResponse(204)


def _clock(ctx: RequestContext) -> HttpResponse:
    offset = ctx.state.clock.offset.total_seconds()
    return as_json(200, {"now": timestamp(ctx.state.now()), "offset_seconds": offset})


def _move_clock(ctx: RequestContext) -> HttpResponse:
    """Take `{"set": "<RFC 3339>"}`, `{"advance_seconds": n}` or `{"reset": true}`."""
    given = _object(ctx)
    try:
        if "set" in given:
            moment = datetime.fromisoformat(str(given["set"]))
            ctx.state.clock.set(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
        elif "advance_seconds" in given:
            ctx.state.clock.advance(
                timedelta(seconds=float(cast("float", given["advance_seconds"])))
            )
        elif given.get("reset") is True:
            ctx.state.clock.offset = timedelta()
        else:
            raise RefusalError(400, "Give set, advance_seconds or reset.")
    except (ValueError, TypeError, OverflowError) as error:
        raise RefusalError(400, "The clock cannot be moved like that.", str(error)) from error
    return _clock(ctx)


def _set(ctx: RequestContext) -> HttpResponse:
    """Change the given server flags."""
    given = _object(ctx)
    flags = ctx.state.flags
    for name, value in given.items():
        if name not in _CHANGEABLE_FLAGS or type(value) is not type(getattr(flags, name)):
            raise RefusalError(400, f"{name} is no setting, or its type is wrong.")
    for name, value in given.items():
        setattr(flags, name, value)
    names = [name for name in _CHANGEABLE_FLAGS if name != "provisioner_psk"]
    return as_json(200, {name: getattr(flags, name) for name in names})


def _add_user(ctx: RequestContext) -> HttpResponse:
    """Take `{"username", "password"?, "roles"?, "organizations"?: {"<id or name>": [roles]}}`.

    The response contains a long-lived session token of the new user.
    """
    given = _object(ctx)
    username = str(given.get("username", "member"))
    if any(user.username == username for user in ctx.state.records.users.values()):
        raise RefusalError(409, "User already exists.")
    roles = tuple(cast("list[str]", given.get("roles") or []))
    if set(roles) - set(permissions.SITE_ROLES):
        raise RefusalError(400, f"roles must be among {', '.join(permissions.SITE_ROLES)}.")
    default = ctx.state.default_organization()
    names = {o.name: o.id for o in ctx.state.records.organizations.values() if not o.deleted}
    wanted = cast("dict[str, list[str]]", given.get("organizations") or {default.name: []})
    memberships = {
        names.get(reference, reference): list(held) for reference, held in wanted.items()
    }
    password = str(given.get("password", "Simulated-Member-1!"))
    account = users.NewAccount(f"{username}@example.com", username, password, roles=roles)
    user = users.add_user(ctx.state, account, memberships)
    token = sessions.new_key(ctx.state, user.id, login_type="password", lifetime=_LONG)
    return as_json(201, {"id": user.id, "email": user.email, "token": token})


def _session(ctx: RequestContext) -> HttpResponse:
    """Create a session of the first owner."""
    records = ctx.state.records
    owner = next((u for u in records.users.values() if permissions.OWNER in u.roles), None)
    if owner is None:
        raise RefusalError(404, "Nobody has set this coderd up yet.")
    token = sessions.new_key(ctx.state, owner.id, login_type="password", lifetime=_LONG)
    return as_json(201, {"username": owner.username, "token": token})


def _rewrite_tags(ctx: RequestContext) -> HttpResponse:
    """Take `{"key_id", "tags"}`, and edit the database: coderd has no such request."""
    given = _object(ctx)
    key = ctx.state.records.provisioner_keys.get(str(given.get("key_id")))
    tags = given.get("tags")
    if key is None or not isinstance(tags, dict):
        raise RefusalError(404, "Give key_id of a key that exists, and tags.")
    key.tags = {str(k): str(v) for k, v in cast("dict[str, object]", tags).items()}
    return as_json(200, {"name": key.name, "tags": key.tags})


def _daemon_seen(ctx: RequestContext) -> HttpResponse:
    """Take `{"name", "version"?}` with a provisioner key: connect a daemon, or send its heartbeat.

    The checks are those of `serve` in routes/daemons.py.
    """
    if not ctx.state.entitlements.enabled(daemons.FEATURE):
        raise RefusalError(
            403, "External provisioner daemons is an Enterprise feature. Contact sales!"
        )
    auth.key_presented(ctx)
    given = _object(ctx)
    presence = daemons.Presence(
        name=str(given.get("name", "daemon")),
        version=str(given.get("version", ctx.state.flags.version)),
    )
    daemon = daemons.seen(ctx.state, daemons.admit_key(ctx.key, {}), presence)
    return as_json(200, {"id": daemon.id, "name": daemon.name, "key": ctx.key.name})


def _daemon_gone(ctx: RequestContext) -> HttpResponse:
    """Disconnect the daemon `?name=…` with this key."""
    auth.key_presented(ctx)
    if not daemons.gone(ctx.state, ctx.key, ctx.query.get("name", "")):
        raise RefusalError(404, "No such daemon has this key.")
    return HttpResponse(204)


def _add_workspace(ctx: RequestContext) -> HttpResponse:
    """Take `{"organization", "name"?}`, and create a workspace there."""
    given = _object(ctx)
    organization = organizations.find_organization(
        ctx.state, None, str(given.get("organization", "default"))
    )
    workspace = WorkspaceRow(new_uuid(), organization.id, str(given.get("name", "workspace")))
    ctx.state.records.workspaces[workspace.id] = workspace
    return as_json(201, {"id": workspace.id, "organization_id": organization.id})


def _remove_workspace(ctx: RequestContext) -> HttpResponse:
    """Delete the workspace `?id=…`."""
    if ctx.state.records.workspaces.pop(ctx.query.get("id", ""), None) is None:
        raise RefusalError(404, "No workspace has this id.")
    return HttpResponse(204)


def _state(ctx: RequestContext) -> HttpResponse:
    """Summarize the state without secrets."""
    state, records = ctx.state, ctx.state.records
    names = {o.id: o.name for o in records.organizations.values()}
    return as_json(
        200,
        {
            "deployment_id": records.deployment_id,
            "edition": "enterprise" if state.flags.enterprise else "agpl",
            "now": timestamp(state.now()),
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
                    "key": daemons.key_name(state, d),
                    "online": daemons.is_online(state, d),
                }
                for d in records.daemons.values()
            ],
            "proxies": [
                {"id": p.id, "name": p.name, "deleted": p.deleted} for p in records.proxies.values()
            ],
            "reserved_keys": sorted(provisioner_keys.RESERVED),
        },
    )


def _json(ctx: RequestContext) -> object:
    try:
        return json.loads(ctx.body or b"{}")
    except ValueError as error:
        raise RefusalError(400, "Request body must be valid JSON.", str(error)) from error


def _object(ctx: RequestContext) -> dict[str, object]:
    parsed = _json(ctx)
    if not isinstance(parsed, dict):
        raise RefusalError(400, "Request body must be a JSON object.")
    return cast("dict[str, object]", parsed)
