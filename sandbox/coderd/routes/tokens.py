"""Section 3: API keys and tokens."""

from sandbox.coderd.answers import Answer, as_json
from sandbox.coderd.call import Call
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.rules import body, scopes, sessions, tokens
from sandbox.coderd.rules.go_text import parse_bool, timestamp
from sandbox.coderd.rules.records import ApiKey
from sandbox.coderd.rules.refusal import RBAC_FORBIDDEN, RefusalError


def add_routes(router: Router) -> None:
    """Routes under /users/{user}/keys."""
    account = (auth.signed_in, auth.user_of_path)
    for root in ("/users/{user}/keys", "/users/{user}/keys/tokens"):
        router.mount(root, *account)
    router.add("POST", "/users/{user}/keys", create_session, *account)
    router.add("POST", "/users/{user}/keys/tokens", create_token, *account)
    router.add("GET", "/users/{user}/keys/tokens", list_tokens, *account)
    router.add("GET", "/users/{user}/keys/tokens/tokenconfig", token_config, *account)
    router.add("GET", "/users/{user}/keys/tokens/{name}", token_by_name, *account)
    router.add("GET", "/users/{user}/keys/{keyid}", key_by_id, *account)
    router.add("DELETE", "/users/{user}/keys/{keyid}", delete_key, *account)


def create_session(call: Call) -> Answer:
    """POST …/keys: a session key, as the CLI's login makes it."""
    if not call.caller.may_use_keys_of(call.user.id):
        raise RefusalError(500, "Failed to create API key.", f"insert API key: {RBAC_FORBIDDEN}")
    lifetime = tokens.DEFAULT_LIFETIME
    key = sessions.new_key(call.world, call.user.id, login_type="password", lifetime=lifetime)
    return as_json(201, {"key": key})


def create_token(call: Call) -> Answer:
    """POST …/keys/tokens."""
    request = body.read(call.body, tokens.NEW_TOKEN)
    return as_json(201, {"key": tokens.create_token(call.world, call.caller, call.user, request)})


def list_tokens(call: Call) -> Answer:
    """GET …/keys/tokens: `null` when there is none."""
    try:
        everybody = parse_bool(call.query.get("include_all", ""))
    except ValueError:
        everybody = False
    found = tokens.list_tokens(call.world, call.caller, call.user, everybody=everybody)
    users = call.world.records.users
    items = [shown(key) | {"username": users[key.user_id].username} for key in found]
    return as_json(200, items or None)


def token_config(call: Call) -> Answer:
    """GET …/keys/tokens/tokenconfig, in nanoseconds."""
    longest = tokens.longest_lifetime(call.user)
    return as_json(200, {"max_token_lifetime": int(longest.total_seconds()) * 10**9})


def token_by_name(call: Call) -> Answer:
    """GET …/keys/tokens/{name}."""
    found = tokens.token_by_name(call.world, call.caller, call.user, call.params["name"])
    return as_json(200, shown(found))


def key_by_id(call: Call) -> Answer:
    """GET …/keys/{id}."""
    return as_json(200, shown(tokens.key_by_id(call.world, call.caller, call.params["keyid"])))


def delete_key(call: Call) -> Answer:
    """DELETE …/keys/{id}."""
    tokens.delete_key(call.world, call.caller, call.params["keyid"])
    return Answer(204)


def shown(key: ApiKey) -> dict[str, object]:
    """An API key as the API shows it, never with its secret."""
    return {
        "id": key.id,
        "user_id": key.user_id,
        "last_used": timestamp(key.last_used),
        "expires_at": timestamp(key.expires_at),
        "created_at": timestamp(key.created_at),
        "updated_at": timestamp(key.updated_at),
        "login_type": key.login_type,
        "scope": scopes.legacy_name(key.scopes),
        "scopes": list(key.scopes),
        "token_name": key.token_name,
        "lifetime_seconds": key.lifetime_seconds,
        "allow_list": [dict(entry) for entry in key.allow_list],
    }
