"""Section 7, daemons: the list that every build has, and the door where daemons connect.

The simulation goes through every check of `serve` but does not speak the protocol behind the
websocket; daemons are played through `/_sim/daemons`.
"""

from sandbox.coderd.answers import Answer, as_json, plain
from sandbox.coderd.call import Call
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.routes.daemon_query import read_filter
from sandbox.coderd.rules import daemons
from sandbox.coderd.rules.go_text import quoted, timestamp
from sandbox.coderd.rules.records import Daemon
from sandbox.coderd.rules.refusal import RefusalError, not_found

_DAEMONS = "/organizations/{organization}/provisionerdaemons"


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
    for daemon in daemons.list_daemons(world, organization, read_filter(call.query)):
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
