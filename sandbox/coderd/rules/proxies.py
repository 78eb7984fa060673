"""Workspace proxies: the rows an owner manages, and what each running proxy writes.

Deleting is soft: the name is free at once, the id stays. A change is never partial. The primary
proxy is the deployment itself and has no row.
"""

from datetime import timedelta

from sandbox.coderd.rules.body import BOOL, UUID, Body, Field, Shape
from sandbox.coderd.rules.go_text import quoted
from sandbox.coderd.rules.identifiers import NIL_UUID, as_uuid, hashed, new_uuid, random_text
from sandbox.coderd.rules.permissions import Caller
from sandbox.coderd.rules.records import Proxy, Replica
from sandbox.coderd.rules.refusal import (
    RBAC_FORBIDDEN,
    FieldFault,
    RefusalError,
    internal,
    not_found,
)
from sandbox.coderd.rules.world import World

NEW_PROXY = Shape(
    "CreateWorkspaceProxyRequest",
    (Field("name", tags=("required",)), Field("display_name"), Field("icon")),
)
CHANGED_PROXY = Shape(
    "PatchWorkspaceProxy",
    (
        Field("id", UUID, ("required",)),
        Field("name", tags=("required",)),
        Field("display_name", tags=("required",)),
        Field("icon", tags=("required",)),
        Field("regenerate_token", BOOL),
    ),
)
REGISTRATION = Shape(
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
DEREGISTRATION = Shape("DeregisterWorkspaceProxyRequest", (Field("replica_id", UUID),))
FEATURE = "workspace_proxy"
SECRET_LENGTH = 64
# coderd asks each proxy how it is once a minute; here a proxy that was not heard of fails that.
SILENT_AFTER = timedelta(minutes=1)
_UNIQUE = 'pq: duplicate key value violates unique constraint "workspace_proxies_lower_name_idx"'


def primary(world: World) -> Proxy:
    """The deployment itself, under its deployment id."""
    now = world.now()
    return Proxy(
        id=world.records.deployment_id,
        name="primary",
        display_name=world.records.primary_display_name,
        icon=world.records.primary_icon,
        token_hash="",
        region_id=0,
        created_at=now,
        updated_at=now,
        url=world.url,
        derp_enabled=False,
    )


def is_primary(world: World, proxy: Proxy) -> bool:
    """Whether this is the deployment itself."""
    return proxy.id == world.records.deployment_id


def find_proxy(world: World, caller: Caller, reference: str) -> Proxy:
    """By id (deleted ones too), exact name, or the words for the primary."""
    if not caller.may_read_proxies():
        raise not_found()
    if reference in {"primary", world.records.deployment_id}:
        return primary(world)
    identifier = as_uuid(reference)
    if identifier:
        found = world.records.proxies.get(identifier)
    else:
        found = next((p for p in _living(world) if p.name == reference), None)
    if found is None:
        raise not_found()
    return found


def list_proxies(world: World) -> list[Proxy]:
    """The primary first, then those not deleted."""
    return [primary(world), *_living(world)]


def create_proxy(world: World, caller: Caller, body: Body) -> tuple[Proxy, str]:
    """A new proxy and its token, the only time the secret is known."""
    name = body.text("name")
    if name.lower() == "primary":
        raise RefusalError(
            400,
            'The name "primary" is reserved for the primary region.',
            "Cannot name a workspace proxy 'primary'.",
            (FieldFault("name", "Reserved name"),),
        )
    if not caller.may_manage_proxies():
        raise internal(RBAC_FORBIDDEN)
    if _namesake(world, name):
        raise RefusalError(409, f"Workspace proxy with name {quoted(name)} already exists.")
    now = world.now()
    proxy = Proxy(
        id=new_uuid(),
        name=name,
        display_name=body.text("display_name"),
        icon=body.text("icon"),
        token_hash="",
        region_id=world.records.next_region_id,
        created_at=now,
        updated_at=now,
    )
    world.records.next_region_id += 1
    world.records.proxies[proxy.id] = proxy
    return proxy, _new_token(proxy)


def change_proxy(world: World, caller: Caller, proxy: Proxy, body: Body) -> tuple[Proxy, str]:
    """Write all four fields; with `regenerate_token` the old token is dead from now on."""
    if is_primary(world, proxy):
        return _change_primary(world, caller, proxy, body)
    if not caller.may_manage_proxies():
        raise not_found()
    namesake = _namesake(world, body.text("name"))
    if namesake and namesake.id != proxy.id and not proxy.deleted:
        raise internal(_UNIQUE)
    proxy.name = body.text("name")
    proxy.display_name = body.text("display_name")
    proxy.icon = body.text("icon")
    proxy.updated_at = world.now()
    token = _new_token(proxy) if body.flag("regenerate_token") else ""
    return proxy, token


def delete_proxy(world: World, caller: Caller, proxy: Proxy) -> None:
    """Soft delete, again and again if need be."""
    if is_primary(world, proxy):
        raise RefusalError(400, "Cannot delete primary proxy")
    if not caller.may_manage_proxies():
        raise not_found()
    proxy.deleted = True
    proxy.updated_at = world.now()


def authenticate(world: World, token: str) -> Proxy:
    """The proxy behind a `Coder-External-Proxy-Token`."""
    if not token:
        raise RefusalError(401, "Missing required external proxy token")
    invalid = "Invalid external proxy token"
    identifier, separator, secret = token.partition(":")
    proxy_id = as_uuid(identifier)
    if not separator or ":" in secret or proxy_id is None or len(secret) != SECRET_LENGTH:
        raise RefusalError(401, invalid)
    proxy = world.records.proxies.get(proxy_id)
    if proxy is None:
        raise RefusalError(401, invalid, "Proxy not found.")
    if proxy.deleted:
        raise RefusalError(401, invalid, "Proxy has been deleted.")
    if proxy.token_hash != hashed(secret):
        raise RefusalError(401, invalid, "Invalid proxy token secret.")
    return proxy


def register(world: World, proxy: Proxy, body: Body) -> Replica:
    """A running proxy announces itself; from then on it counts as healthy while a replica runs."""
    url = body.text("access_url")
    if fault := _url_fault(url):
        raise RefusalError(400, "URL is invalid.", fault)
    if body.text("replica_id") == NIL_UUID:
        raise RefusalError(400, "Replica ID is invalid.")
    if body.flag("derp_only") and not body.flag("derp_enabled"):
        raise RefusalError(400, "DerpOnly cannot be true when DerpEnabled is false.")
    replica = world.records.replicas.get(body.text("replica_id"))
    if replica and replica.stopped:
        raise internal(f"replica {replica.id} is marked stopped")
    replica = Replica(body.text("replica_id"), proxy.id, body.text("hostname"), world.now())
    world.records.replicas[replica.id] = replica
    proxy.url = url
    proxy.wildcard_hostname = body.text("wildcard_hostname")
    proxy.derp_enabled = body.flag("derp_enabled")
    proxy.derp_only = body.flag("derp_only")
    proxy.version = body.text("version")
    proxy.updated_at = world.now()
    return replica


def deregister(world: World, body: Body) -> None:
    """A replica says goodbye; it cannot come back under the same id."""
    replica = world.records.replicas.get(body.text("replica_id"))
    if replica is None:
        raise not_found()
    if replica.stopped:
        raise internal(f"replica {replica.id} is already marked stopped")
    replica.stopped = True


def health(world: World, proxy: Proxy) -> str:
    """`ok` while a replica is heard of. The simulation takes a proxy's word and polls nobody."""
    if is_primary(world, proxy):
        return "ok"
    if not proxy.url:
        return "unregistered"
    since = world.now() - SILENT_AFTER
    running = any(
        r.proxy_id == proxy.id and not r.stopped and r.updated_at >= since
        for r in world.records.replicas.values()
    )
    return "ok" if running else "unreachable"


def _change_primary(world: World, caller: Caller, proxy: Proxy, body: Body) -> tuple[Proxy, str]:
    if body.text("name") != proxy.name:
        fault = "Cannot update name of default primary proxy"
        message = f"{fault}, did you mean to update the 'display name'?"
        raise RefusalError(400, message, faults=(FieldFault("name", fault),))
    if not caller.may_manage_proxies():
        raise internal(RBAC_FORBIDDEN)
    world.records.primary_display_name = body.text("display_name")
    world.records.primary_icon = body.text("icon")
    # The token it hands out opens nothing: the primary has no row to keep its hash in.
    token = _new_token(proxy) if body.flag("regenerate_token") else ""
    return primary(world), token


def _new_token(proxy: Proxy) -> str:
    secret = random_text(SECRET_LENGTH)
    proxy.token_hash = hashed(secret)
    return f"{proxy.id}:{secret}"


def _living(world: World) -> list[Proxy]:
    return [proxy for proxy in world.records.proxies.values() if not proxy.deleted]


def _namesake(world: World, name: str) -> Proxy | None:
    return next((p for p in _living(world) if p.name.lower() == name.lower()), None)


def _url_fault(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in {"http", "https"}:
        return "scheme must be http or https"
    _, _, path = rest.partition("/")
    return "path must be empty or /" if path else ""
