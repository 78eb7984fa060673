"""Provisioner daemons: the list, and the endpoint where daemons connect.

`serve` makes every check but has no websocket; simulated daemons use `/_sim/daemons`.
"""

from sandbox.coderd.request_context import RequestContext
from sandbox.coderd.responses import HttpResponse, as_json, plain
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.routes.daemon_query import read_filter
from sandbox.coderd.rules import daemons
from sandbox.coderd.rules.go_text import quoted, timestamp
from sandbox.coderd.rules.records import DaemonRow
from sandbox.coderd.rules.refusal import RefusalError, not_found
from sandbox.coderd.rules.versions import DAEMON_STATUS_FILTER

_DAEMONS = "/organizations/{organization}/provisionerdaemons"


def add_routes(router: Router) -> None:
    """Add the routes of every build."""
    guards = (auth.signed_in, auth.organization_of_path)
    router.mount(_DAEMONS, *guards)
    router.add("GET", _DAEMONS, list_daemons, *guards)


def add_enterprise_routes(router: Router) -> None:
    """Add the endpoint for daemons: checks license, credential, organization, in that order."""
    guards = (
        daemons_licensed,
        auth.maybe_signed_in,
        daemon_presented,
        auth.organization_of_path,
    )
    router.mount(f"{_DAEMONS}/serve", *guards)
    router.add("GET", f"{_DAEMONS}/serve", serve, *guards)


def list_daemons(ctx: RequestContext) -> HttpResponse:
    """Handle GET …/provisionerdaemons."""
    state, organization = ctx.state, ctx.organization
    if not ctx.actor.may_read_provisioner_jobs(organization.id):
        raise not_found()
    rows: list[object] = []
    by_status = state.has(DAEMON_STATUS_FILTER)
    for daemon in daemons.list_daemons(
        state, organization, read_filter(ctx.query, by_status=by_status)
    ):
        known = {
            "key_name": daemons.key_name(state, daemon),
            "status": daemons.status(state, daemon),
        }
        rows.append(to_json(daemon) | known)
    return as_json(200, rows)


def daemons_licensed(ctx: RequestContext) -> None:
    """Require the feature, with another message than other routes."""
    if not ctx.state.entitlements.enabled(daemons.FEATURE):
        message = "External provisioner daemons is an Enterprise feature. Contact sales!"
        raise RefusalError(403, message)


def daemon_presented(ctx: RequestContext) -> None:
    """Require either a user session or a daemon's credential."""
    psk = ctx.headers.get(auth.PSK_HEADER, "")
    ctx.psk_accepted = bool(psk) and psk == ctx.state.flags.provisioner_psk
    if ctx.headers.get(auth.KEY_HEADER) or not ctx.psk_accepted:
        try:
            auth.key_presented(ctx)
        except RefusalError:
            ctx.known_key = None
    is_daemon = ctx.known_key is not None or ctx.psk_accepted
    if ctx.known_actor and is_daemon:
        message = (
            "API key and external provisioner authentication provided, but only one is allowed"
        )
        raise RefusalError(400, message)
    if not ctx.known_actor and not is_daemon:
        message = "API key or external provisioner authentication required, but none provided"
        raise RefusalError(401, message)


def serve(ctx: RequestContext) -> HttpResponse:
    """Handle GET …/provisionerdaemons/serve, up to the upgrade."""
    sent_tags = _sent_tags(ctx)
    kinds = ctx.query.getlist("provisioner")
    if not kinds:
        raise RefusalError(400, "The provisioner query parameter must be specified.")
    for kind in kinds:
        if kind not in {"echo", "terraform"}:
            raise RefusalError(400, f"Unknown provisioner type {quoted(kind)}")
    if ctx.known_key:
        admission = daemons.admit_key(ctx.key, sent_tags)
    elif ctx.psk_accepted:
        admission = daemons.admit_psk(ctx.organization, sent_tags)
    else:
        admission = daemons.admit_user(ctx.actor, ctx.organization, sent_tags)
    presence = daemons.Presence(
        name=ctx.query.get("name", "unnamed"),
        version=ctx.headers.get("X-Coder-Build-Version", ""),
        api_version=ctx.query.get("version", "1.0"),
        provisioners=tuple(sorted(set(kinds))),
    )
    daemons.seen(ctx.state, admission, presence)
    return plain(426, "WebSocket protocol violation: the simulation ends here\n")


def to_json(daemon: DaemonRow) -> dict[str, object]:
    """Return a daemon as the API does; the list adds key name and status."""
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


def _sent_tags(ctx: RequestContext) -> dict[str, str]:
    tags: dict[str, str] = {}
    for tag in ctx.query.getlist("tag"):
        name, separator, value = tag.partition("=")
        if not separator:
            message = (
                f"Invalid format for tag {quoted(tag)}. Key and value must be separated with =."
            )
            raise RefusalError(400, message)
        tags[name] = value
    return tags
