"""Workspace proxies: managed by owners, registered by the proxies themselves.

A deleted proxy keeps its row, but not its name. The primary proxy is coderd itself, without a row.
"""

from datetime import timedelta
from typing import NamedTuple

from sandbox.coderd.rules.body import BOOL, UUID, Body, Field, RequestType
from sandbox.coderd.rules.go_text import quoted
from sandbox.coderd.rules.identifiers import NIL_UUID, as_uuid, hashed, new_uuid, random_text
from sandbox.coderd.rules.permissions import Actor
from sandbox.coderd.rules.records import ProxyRow, ReplicaRow
from sandbox.coderd.rules.refusal import (
    RBAC_FORBIDDEN,
    FieldFault,
    RefusalError,
    internal,
    not_found,
)
from sandbox.coderd.rules.state import CoderdState

NEW_PROXY = RequestType(
    "CreateWorkspaceProxyRequest",
    (Field("name", tags=("required",)), Field("display_name"), Field("icon")),
)
CHANGED_PROXY = RequestType(
    "PatchWorkspaceProxy",
    (
        Field("id", UUID, ("required",)),
        Field("name", tags=("required",)),
        Field("display_name", tags=("required",)),
        Field("icon", tags=("required",)),
        Field("regenerate_token", BOOL),
    ),
)
REGISTRATION = RequestType(
    "RegisterWorkspaceProxyRequest",
    (
        Field("access_url"),
        Field("wildcard_hostname"),
        Field("derp_enabled", BOOL),
        Field("derp_only", BOOL),
        Field("replica_id", UUID),
        Field("hostname"),
        Field("version"),
    ),
)
DEREGISTRATION = RequestType("DeregisterWorkspaceProxyRequest", (Field("replica_id", UUID),))
FEATURE = "workspace_proxy"
SECRET_LENGTH = 64
# coderd checks each proxy once a minute; here, a proxy without a recent registration fails.
SILENT_AFTER = timedelta(minutes=1)
_UNIQUE = 'pq: duplicate key value violates unique constraint "workspace_proxies_lower_name_idx"'


def primary(state: CoderdState) -> ProxyRow:
    """Return the primary proxy, whose id is the deployment id."""
    now = state.now()
    return ProxyRow(
        id=state.records.deployment_id,
        name="primary",
        display_name=state.records.primary_display_name,
        icon=state.records.primary_icon,
        token_hash="",
        region_id=0,
        created_at=now,
        updated_at=now,
        url=state.url,
        derp_enabled=False,
    )


def is_primary(state: CoderdState, proxy: ProxyRow) -> bool:
    """Return whether it is the primary proxy."""
    return proxy.id == state.records.deployment_id


def find_proxy(state: CoderdState, actor: Actor, reference: str) -> ProxyRow:
    """Find by id (also deleted ones), exact name, or a name of the primary."""
    if not actor.may_read_proxies():
        raise not_found()
    if reference in {"primary", state.records.deployment_id}:
        return primary(state)
    identifier = as_uuid(reference)
    if identifier:
        found = state.records.proxies.get(identifier)
    else:
        found = next((p for p in _living(state) if p.name == reference), None)
    if found is None:
        raise not_found()
    return found


def list_proxies(state: CoderdState) -> list[ProxyRow]:
    """List the primary, then the proxies that are not deleted."""
    return [primary(state), *_living(state)]


def create_proxy(state: CoderdState, actor: Actor, body: Body) -> tuple[ProxyRow, str]:
    """Create a proxy, and return it with its token."""
    name = body.text("name")
    if name.lower() == "primary":
        raise RefusalError(
            400,
            'The name "primary" is reserved for the primary region.',
            "Cannot name a workspace proxy 'primary'.",
            (FieldFault("name", "Reserved name"),),
        )
    if not actor.may_manage_proxies():
        raise internal(RBAC_FORBIDDEN)
    if _namesake(state, name):
        raise RefusalError(409, f"Workspace proxy with name {quoted(name)} already exists.")
    now = state.now()
    proxy = ProxyRow(
        id=new_uuid(),
        name=name,
        display_name=body.text("display_name"),
        icon=body.text("icon"),
        token_hash="",
        region_id=state.records.next_region_id,
        created_at=now,
        updated_at=now,
    )
    state.records.next_region_id += 1
    state.records.proxies[proxy.id] = proxy
    return proxy, _new_token(proxy)


def change_proxy(
    state: CoderdState, actor: Actor, proxy: ProxyRow, body: Body
) -> tuple[ProxyRow, str]:
    """Replace all fields; `regenerate_token` invalidates the old token."""
    if is_primary(state, proxy):
        return _change_primary(state, actor, proxy, body)
    if not actor.may_manage_proxies():
        raise not_found()
    namesake = _namesake(state, body.text("name"))
    if namesake and namesake.id != proxy.id and not proxy.deleted:
        raise internal(_UNIQUE)
    proxy.name = body.text("name")
    proxy.display_name = body.text("display_name")
    proxy.icon = body.text("icon")
    proxy.updated_at = state.now()
    token = _new_token(proxy) if body.flag("regenerate_token") else ""
    return proxy, token


def delete_proxy(state: CoderdState, actor: Actor, proxy: ProxyRow) -> None:
    """Mark as deleted; repeatable."""
    if is_primary(state, proxy):
        raise RefusalError(400, "Cannot delete primary proxy")
    if not actor.may_manage_proxies():
        raise not_found()
    proxy.deleted = True
    proxy.updated_at = state.now()


def authenticate(state: CoderdState, token: str) -> ProxyRow:
    """Return the proxy of a `Coder-External-Proxy-Token`."""
    if not token:
        raise RefusalError(401, "Missing required external proxy token")
    invalid = "Invalid external proxy token"
    identifier, separator, secret = token.partition(":")
    proxy_id = as_uuid(identifier)
    if not separator or ":" in secret or proxy_id is None or len(secret) != SECRET_LENGTH:
        raise RefusalError(401, invalid)
    proxy = state.records.proxies.get(proxy_id)
    if proxy is None:
        raise RefusalError(401, invalid, "Proxy not found.")
    if proxy.deleted:
        raise RefusalError(401, invalid, "Proxy has been deleted.")
    if proxy.token_hash != hashed(secret):
        raise RefusalError(401, invalid, "Invalid proxy token secret.")
    return proxy


def register(state: CoderdState, proxy: ProxyRow, body: Body) -> ReplicaRow:
    """Record the registration of a replica; the proxy is healthy while one is registered."""
    url = body.text("access_url")
    if fault := _url_fault(url):
        raise RefusalError(400, "URL is invalid.", fault)
    if body.text("replica_id") == NIL_UUID:
        raise RefusalError(400, "Replica ID is invalid.")
    if body.flag("derp_only") and not body.flag("derp_enabled"):
        raise RefusalError(400, "DerpOnly cannot be true when DerpEnabled is false.")
    replica = state.records.replicas.get(body.text("replica_id"))
    if replica and replica.stopped:
        raise internal(f"replica {replica.id} is marked stopped")
    replica = ReplicaRow(body.text("replica_id"), proxy.id, body.text("hostname"), state.now())
    state.records.replicas[replica.id] = replica
    proxy.url = url
    proxy.wildcard_hostname = body.text("wildcard_hostname")
    proxy.derp_enabled = body.flag("derp_enabled")
    proxy.derp_only = body.flag("derp_only")
    proxy.version = body.text("version")
    proxy.updated_at = state.now()
    return replica


def deregister(state: CoderdState, body: Body) -> None:
    """Deregister a replica; its id cannot be registered again."""
    replica = state.records.replicas.get(body.text("replica_id"))
    if replica is None:
        raise not_found()
    if replica.stopped:
        raise internal(f"replica {replica.id} is already marked stopped")
    replica.stopped = True


class Health(NamedTuple):
    """What coderd's check of a proxy finds."""

    status: str
    errors: tuple[str, ...] = ()


def health(state: CoderdState, proxy: ProxyRow) -> Health:
    """Return the proxy's health from its last registration; the simulation sends no requests.

    The row may say that coderd cannot reach the proxy's URL, or what the proxy would report.
    """
    if is_primary(state, proxy):
        return Health("ok")
    if not proxy.url:
        return Health("unregistered")
    since = state.now() - SILENT_AFTER
    running = any(
        r.proxy_id == proxy.id and not r.stopped and r.updated_at >= since
        for r in state.records.replicas.values()
    )
    if proxy.unreachable or not running:
        why = proxy.unreachable or "connect: connection refused"
        report = f"{proxy.url.removesuffix('/')}/healthz-report"
        return Health("unreachable", (f'request to proxy failed: Get "{report}": {why}',))
    return Health("unhealthy", tuple(proxy.errors)) if proxy.errors else Health("ok")


def _change_primary(
    state: CoderdState, actor: Actor, proxy: ProxyRow, body: Body
) -> tuple[ProxyRow, str]:
    if body.text("name") != proxy.name:
        fault = "Cannot update name of default primary proxy"
        message = f"{fault}, did you mean to update the 'display name'?"
        raise RefusalError(400, message, faults=(FieldFault("name", fault),))
    if not actor.may_manage_proxies():
        raise internal(RBAC_FORBIDDEN)
    state.records.primary_display_name = body.text("display_name")
    state.records.primary_icon = body.text("icon")
    # The returned token is useless: the primary has no row to store its hash.
    token = _new_token(proxy) if body.flag("regenerate_token") else ""
    return primary(state), token


def _new_token(proxy: ProxyRow) -> str:
    secret = random_text(SECRET_LENGTH)
    proxy.token_hash = hashed(secret)
    return f"{proxy.id}:{secret}"


def _living(state: CoderdState) -> list[ProxyRow]:
    return [proxy for proxy in state.records.proxies.values() if not proxy.deleted]


def _namesake(state: CoderdState, name: str) -> ProxyRow | None:
    return next((p for p in _living(state) if p.name.lower() == name.lower()), None)


def _url_fault(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in {"http", "https"}:
        return "scheme must be http or https"
    _, _, path = rest.partition("/")
    return "path must be empty or /" if path else ""
