"""The first user, login and logout, accounts."""

from sandbox.coderd.request_context import RequestContext
from sandbox.coderd.responses import HttpResponse, as_json, message
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.rules import body, permissions, sessions, users
from sandbox.coderd.rules.go_text import timestamp
from sandbox.coderd.rules.records import UserRow
from sandbox.coderd.rules.refusal import RefusalError
from sandbox.coderd.rules.state import CoderdState
from sandbox.coderd.rules.versions import EMPTY_FIELDS_LEFT_OUT

_COOKIE_ATTRIBUTES = "Path=/; HttpOnly; SameSite=Lax"


def add_routes(router: Router) -> None:
    """Add the routes below /users, except API keys."""
    router.mount("/users/{user}", auth.signed_in, auth.user_before_route)
    router.add("GET", "/users/first", first_user)
    router.add("POST", "/users/first", create_first_user)
    router.add("POST", "/users/login", log_in)
    router.add("POST", "/users/logout", log_out, auth.signed_in)
    router.add("POST", "/users", create_user, auth.signed_in)
    router.add("GET", "/users", list_users, auth.signed_in)
    account = (auth.signed_in, auth.user_of_path)
    router.add("GET", "/users/{user}", show_user, *account)
    router.add("PUT", "/users/{user}/status/suspend", suspend, *account)
    router.add("PUT", "/users/{user}/status/activate", activate, *account)


def first_user(ctx: RequestContext) -> HttpResponse:
    """Handle GET /users/first."""
    if ctx.state.records.users:
        return message(200, "The initial user has already been created!")
    raise RefusalError(404, "The initial user has not been created!")


def create_first_user(ctx: RequestContext) -> HttpResponse:
    """Handle POST /users/first."""
    user = users.create_first_user(ctx.state, body.read(ctx.body, users.FIRST_USER))
    organization = ctx.state.default_organization().id
    return as_json(201, {"user_id": user.id, "organization_id": organization})


def log_in(ctx: RequestContext) -> HttpResponse:
    """Handle POST /users/login; set the cookie, which takes precedence over headers."""
    token = users.log_in(ctx.state, body.read(ctx.body, users.LOGIN))
    response = as_json(201, {"session_token": token})
    cookie = f"{sessions.SESSION_COOKIE}={token}; {_COOKIE_ATTRIBUTES}"
    response.headers.append(("Set-Cookie", cookie))
    return response


def log_out(ctx: RequestContext) -> HttpResponse:
    """Handle POST /users/logout."""
    del ctx.state.records.api_keys[ctx.actor.key.id]
    response = message(200, "Logged out!")
    response.headers.append(("Set-Cookie", f"{sessions.SESSION_COOKIE}=; Path=/; Max-Age=0"))
    return response


def create_user(ctx: RequestContext) -> HttpResponse:
    """Handle POST /users."""
    request = body.read(ctx.body, users.NEW_USER)
    return as_json(201, to_json(ctx.state, users.create_user(ctx.state, ctx.actor, request)))


def list_users(ctx: RequestContext) -> HttpResponse:
    """Handle GET /users, without search or paging."""
    visible = [u for u in ctx.state.records.users.values() if ctx.actor.may_read_user(u)]
    return as_json(
        200, {"users": [to_json(ctx.state, user) for user in visible], "count": len(visible)}
    )


def show_user(ctx: RequestContext) -> HttpResponse:
    """Handle GET /users/{user}."""
    return as_json(200, to_json(ctx.state, ctx.user))


def suspend(ctx: RequestContext) -> HttpResponse:
    """Handle PUT /users/{user}/status/suspend."""
    changed = users.set_status(ctx.state, ctx.actor, ctx.user, "suspended")
    return as_json(200, to_json(ctx.state, changed))


def activate(ctx: RequestContext) -> HttpResponse:
    """Handle PUT /users/{user}/status/activate."""
    changed = users.set_status(ctx.state, ctx.actor, ctx.user, "active")
    return as_json(200, to_json(ctx.state, changed))


def to_json(state: CoderdState, user: UserRow) -> dict[str, object]:
    """Return a user as the API does; nobody has a picture or a theme."""
    complete = not state.has(EMPTY_FIELDS_LEFT_OUT)
    return {
        "id": user.id,
        "username": user.username,
        **({"avatar_url": ""} if complete else {}),
        **({"name": user.name} if complete or user.name else {}),
        "email": user.email,
        "created_at": timestamp(user.created_at),
        "updated_at": timestamp(user.updated_at),
        "last_seen_at": timestamp(user.last_seen_at),
        "status": user.status,
        "login_type": user.login_type,
        **({"theme_preference": ""} if complete else {}),
        "organization_ids": list(user.organizations),
        "roles": [
            {"name": role, "display_name": permissions.SITE_ROLES.get(role, role)}
            for role in user.roles
        ],
    }
