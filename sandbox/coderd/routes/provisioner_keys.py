"""Section 7, keys: managed by users, and looked up by the key itself."""

from sandbox.coderd.answers import Answer, as_json
from sandbox.coderd.call import Call
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.routes.daemons import shown as shown_daemon
from sandbox.coderd.rules import body, daemons, provisioner_keys
from sandbox.coderd.rules.go_text import ZERO_TIME, timestamp
from sandbox.coderd.rules.records import ProvisionerKey

_KEYS = "/organizations/{organization}/provisionerkeys"


def add_routes(router: Router) -> None:
    """Routes of the enterprise build: session, then organization, then license."""
    guards = (auth.signed_in, auth.organization_of_path, auth.licensed(daemons.FEATURE))
    router.mount("/provisionerkeys", auth.key_presented)
    router.mount(_KEYS, *guards)
    router.add("GET", "/provisionerkeys/{provisionerkey}", own_key, auth.key_presented)
    router.add("GET", _KEYS, list_keys, *guards)
    router.add("POST", _KEYS, create_key, *guards)
    router.add("GET", f"{_KEYS}/daemons", keys_with_daemons, *guards)
    router.mount(f"{_KEYS}/{{provisionerkey}}", *guards, key_of_path)
    router.add("DELETE", f"{_KEYS}/{{provisionerkey}}", delete_key, *guards, key_of_path)


def key_of_path(call: Call) -> None:
    """Guard: the `{provisionerkey}` in the path exists, by name."""
    name = call.params["provisionerkey"]
    found = provisioner_keys.find_key(call.world, call.caller, call.organization, name)
    call.known_key = found


def own_key(call: Call) -> Answer:
    """GET /provisionerkeys/{anything}: the path is not looked at."""
    return as_json(200, shown(call.key))


def list_keys(call: Call) -> Answer:
    """GET …/provisionerkeys."""
    found = provisioner_keys.list_keys(call.world, call.caller, call.organization)
    return as_json(200, [shown(key) for key in found])


def create_key(call: Call) -> Answer:
    """POST …/provisionerkeys: the secret and nothing else."""
    request = body.read(call.body, provisioner_keys.NEW_KEY)
    secret = provisioner_keys.create_key(call.world, call.caller, call.organization, request)
    return as_json(201, {"key": secret})


def keys_with_daemons(call: Call) -> Answer:
    """GET …/provisionerkeys/daemons, reserved keys included."""
    world, organization = call.world, call.organization
    reserved = provisioner_keys.reserved_keys(world, organization)
    rows: list[object] = []
    for key in [*reserved, *provisioner_keys.list_keys(world, call.caller, organization)]:
        item = shown(key)
        if key in reserved and not organization.is_default:
            item["created_at"] = timestamp(ZERO_TIME)
        found = daemons.recent_of_key(world, organization, key.id)
        rows.append({"key": item, "daemons": [shown_daemon(daemon) for daemon in found]})
    return as_json(200, rows)


def delete_key(call: Call) -> Answer:
    """DELETE …/provisionerkeys/{name}."""
    provisioner_keys.delete_key(call.world, call.caller, call.key)
    return Answer(204)


def shown(key: ProvisionerKey) -> dict[str, object]:
    """A key as the API shows it; the organization's field has no `_id` in its name."""
    return {
        "id": key.id,
        "created_at": timestamp(key.created_at),
        "organization": key.organization_id,
        "name": key.name,
        "tags": {name: key.tags[name] for name in sorted(key.tags)},
    }
