"""Section 2: the first user, logging in and out, and accounts."""

from sandbox.coderd.answers import Answer, as_json, message
from sandbox.coderd.call import Call
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.rules import body, permissions, sessions, users
from sandbox.coderd.rules.go_text import timestamp
from sandbox.coderd.rules.records import User
from sandbox.coderd.rules.refusal import RefusalError

_COOKIE_ATTRIBUTES = "Path=/; HttpOnly; SameSite=Lax"


def add_routes(router: Router) -> None:
    """Routes under /users except the API keys."""
    router.mount("/users/{user}", auth.signed_in)
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


def first_user(call: Call) -> Answer:
    """GET /users/first."""
    if call.world.records.users:
        return message(200, "The initial user has already been created!")
    raise RefusalError(404, "The initial user has not been created!")


def create_first_user(call: Call) -> Answer:
    """POST /users/first."""
    user = users.create_first_user(call.world, body.read(call.body, users.FIRST_USER))
    organization = call.world.default_organization().id
    return as_json(201, {"user_id": user.id, "organization_id": organization})


def log_in(call: Call) -> Answer:
    """POST /users/login; sets the cookie that then beats every header."""
    token = users.log_in(call.world, body.read(call.body, users.LOGIN))
    answer = as_json(201, {"session_token": token})
    cookie = f"{sessions.SESSION_COOKIE}={token}; {_COOKIE_ATTRIBUTES}"
    answer.headers.append(("Set-Cookie", cookie))
    return answer


def log_out(call: Call) -> Answer:
    """POST /users/logout."""
    del call.world.records.api_keys[call.caller.key.id]
    answer = message(200, "Logged out!")
    answer.headers.append(("Set-Cookie", f"{sessions.SESSION_COOKIE}=; Path=/; Max-Age=0"))
    return answer


def create_user(call: Call) -> Answer:
    """POST /users."""
    request = body.read(call.body, users.NEW_USER)
    return as_json(201, shown(users.create_user(call.world, call.caller, request)))


def list_users(call: Call) -> Answer:
    """GET /users, without search or paging."""
    visible = [u for u in call.world.records.users.values() if call.caller.may_read_user(u)]
    return as_json(200, {"users": [shown(user) for user in visible], "count": len(visible)})


def show_user(call: Call) -> Answer:
    """GET /users/{user}."""
    return as_json(200, shown(call.user))


def suspend(call: Call) -> Answer:
    """PUT /users/{user}/status/suspend."""
    return as_json(200, shown(users.set_status(call.world, call.caller, call.user, "suspended")))


def activate(call: Call) -> Answer:
    """PUT /users/{user}/status/activate."""
    return as_json(200, shown(users.set_status(call.world, call.caller, call.user, "active")))


def shown(user: User) -> dict[str, object]:
    """A user as the API shows it; an empty name is left out."""
    name: dict[str, object] = {"name": user.name} if user.name else {}
    return {
        "id": user.id,
        "username": user.username,
        **name,
        "email": user.email,
        "created_at": timestamp(user.created_at),
        "updated_at": timestamp(user.updated_at),
        "last_seen_at": timestamp(user.last_seen_at),
        "status": user.status,
        "login_type": user.login_type,
        "organization_ids": list(user.organizations),
        "roles": [
            {"name": role, "display_name": permissions.SITE_ROLES.get(role, role)}
            for role in user.roles
        ],
    }
