"""API keys and tokens."""

from sandbox.coderd.request_context import RequestContext
from sandbox.coderd.responses import HttpResponse, as_json
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.rules import body, scopes, sessions, tokens
from sandbox.coderd.rules.go_text import parse_bool, timestamp
from sandbox.coderd.rules.records import ApiKeyRow
from sandbox.coderd.rules.refusal import RBAC_FORBIDDEN, RefusalError
from sandbox.coderd.rules.state import CoderdState
from sandbox.coderd.rules.versions import SCOPE_LIST


def add_routes(router: Router) -> None:
    """Add the routes below /users/{user}/keys."""
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


def create_session(ctx: RequestContext) -> HttpResponse:
    """Handle POST …/keys: create a session key, as the CLI's login does."""
    if not ctx.actor.may_use_keys_of(ctx.user.id):
        raise RefusalError(500, "Failed to create API key.", f"insert API key: {RBAC_FORBIDDEN}")
    lifetime = tokens.DEFAULT_LIFETIME
    key = sessions.new_key(ctx.state, ctx.user.id, login_type="password", lifetime=lifetime)
    return as_json(201, {"key": key})


def create_token(ctx: RequestContext) -> HttpResponse:
    """Handle POST …/keys/tokens."""
    request = body.read(ctx.body, tokens.NEW_TOKEN)
    return as_json(201, {"key": tokens.create_token(ctx.state, ctx.actor, ctx.user, request)})


def list_tokens(ctx: RequestContext) -> HttpResponse:
    """Handle GET …/keys/tokens: `null` if there is none."""
    try:
        everybody = parse_bool(ctx.query.get("include_all", ""))
    except ValueError:
        everybody = False
    found = tokens.list_tokens(ctx.state, ctx.actor, ctx.user, everybody=everybody)
    users = ctx.state.records.users
    items = [to_json(ctx.state, key) | {"username": users[key.user_id].username} for key in found]
    return as_json(200, items or None)


def token_config(ctx: RequestContext) -> HttpResponse:
    """Handle GET …/keys/tokens/tokenconfig, in nanoseconds."""
    longest = tokens.longest_lifetime(ctx.state, ctx.user)
    return as_json(200, {"max_token_lifetime": int(longest.total_seconds()) * 10**9})


def token_by_name(ctx: RequestContext) -> HttpResponse:
    """Handle GET …/keys/tokens/{name}."""
    found = tokens.token_by_name(ctx.state, ctx.actor, ctx.user, ctx.params["name"])
    return as_json(200, to_json(ctx.state, found))


def key_by_id(ctx: RequestContext) -> HttpResponse:
    """Handle GET …/keys/{id}."""
    found = tokens.key_by_id(ctx.state, ctx.actor, ctx.params["keyid"])
    return as_json(200, to_json(ctx.state, found))


def delete_key(ctx: RequestContext) -> HttpResponse:
    """Handle DELETE …/keys/{id}."""
    tokens.delete_key(ctx.state, ctx.actor, ctx.params["keyid"])
    return HttpResponse(204)


def to_json(state: CoderdState, key: ApiKeyRow) -> dict[str, object]:
    """Return an API key as the API does, without its secret."""
    lists = state.has(SCOPE_LIST)
    return {
        "id": key.id,
        "user_id": key.user_id,
        "last_used": timestamp(key.last_used),
        "expires_at": timestamp(key.expires_at),
        "created_at": timestamp(key.created_at),
        "updated_at": timestamp(key.updated_at),
        "login_type": key.login_type,
        "scope": scopes.legacy_name(key.scopes),
        **({"scopes": list(key.scopes)} if lists else {}),
        "token_name": key.token_name,
        "lifetime_seconds": key.lifetime_seconds,
        **({"allow_list": [dict(entry) for entry in key.allow_list]} if lists else {}),
    }
