"""Accounts: the first user, login, and administration."""

from dataclasses import dataclass

from sandbox.coderd.rules import names, permissions, sessions
from sandbox.coderd.rules.body import BOOL, STRINGS, Body, Field, RequestType
from sandbox.coderd.rules.go_text import ZERO_TIME, quoted
from sandbox.coderd.rules.identifiers import (
    NIL_UUID,
    as_uuid,
    hashed_password,
    new_uuid,
    random_text,
)
from sandbox.coderd.rules.permissions import Actor
from sandbox.coderd.rules.records import UserRow
from sandbox.coderd.rules.refusal import FieldFault, RefusalError
from sandbox.coderd.rules.state import CoderdState
from sandbox.coderd.rules.versions import PASSWORD_MESSAGE

FIRST_USER = RequestType(
    "CreateFirstUserRequest",
    (
        Field("email", tags=("required", "email")),
        Field("username", tags=("required", "username")),
        Field("name", tags=("user_real_name",)),
        Field("password", tags=("required",)),
        Field("trial", BOOL),
    ),
)
LOGIN = RequestType(
    "LoginWithPasswordRequest",
    (Field("email", tags=("required", "email")), Field("password", tags=("required",))),
)
NEW_USER = RequestType(
    "CreateUserRequestWithOrgs",
    (
        Field("email", tags=("required", "email")),
        Field("username", tags=("required", "username")),
        Field("name", tags=("user_real_name",)),
        Field("password"),
        Field("login_type"),
        Field("user_status"),
        Field("organization_ids", STRINGS),
    ),
)


@dataclass(frozen=True)
class NewAccount:
    """The properties of a new user."""

    email: str
    username: str
    password: str
    name: str = ""
    roles: tuple[str, ...] = ()
    status: str = "active"


def add_user(
    state: CoderdState, account: NewAccount, organizations: dict[str, list[str]]
) -> UserRow:
    """Store a user without checks."""
    now = state.now()
    salt = random_text(16)
    user = UserRow(
        id=new_uuid(),
        email=account.email,
        username=account.username,
        name=account.name,
        password_salt=salt,
        password_hash=hashed_password(account.password, salt),
        roles=list(account.roles),
        organizations=organizations,
        created_at=now,
        updated_at=now,
        last_seen_at=ZERO_TIME,
        status=account.status,
    )
    state.records.users[user.id] = user
    return user


def create_first_user(state: CoderdState, body: Body) -> UserRow:
    """Create the owner, once, and refresh entitlements."""
    if state.records.users:
        raise RefusalError(409, "The initial user has already been created.")
    _require_good_password(state, body.text("password"))
    if body.flag("trial") and state.flags.enterprise:
        detail = "the simulated coderd does not ask for trial licenses"
        raise RefusalError(500, "Failed to generate trial", detail)
    account = NewAccount(
        body.text("email"),
        body.text("username"),
        body.text("password"),
        body.text("name"),
        (permissions.OWNER,),
    )
    user = add_user(state, account, {state.default_organization().id: []})
    state.refresh_entitlements()
    return user


def log_in(state: CoderdState, body: Body) -> str:
    """Return a session token; the password is checked first."""
    email = body.text("email").lower()
    user = next((u for u in state.records.users.values() if u.email.lower() == email), None)
    if user is None or user.password_hash != hashed_password(
        body.text("password"), user.password_salt
    ):
        raise RefusalError(401, "Incorrect email or password.")
    if not state.flags.password_auth:
        raise RefusalError(403, "Password authentication is disabled.")
    if user.login_type != "password":
        message = (
            'Incorrect login type, attempting to use "password" but user is of login type '
            f"{quoted(user.login_type)}"
        )
        raise RefusalError(403, message)
    if user.status == "dormant":
        user.status = "active"
    if user.status != "active":
        message = f"Your account is {user.status}. Contact an admin to reactivate your account."
        raise RefusalError(401, message)
    return sessions.new_key(
        state, user.id, login_type="password", lifetime=sessions.SESSION_LIFETIME
    )


def create_user(state: CoderdState, actor: Actor, body: Body) -> UserRow:
    """Create an account, which is dormant until it is used."""
    if body.text("login_type") not in {"", "password"}:
        detail = body.text("login_type")
        message = f"Unsupported login type {quoted(detail)} for manually creating new users."
        raise RefusalError(400, message)
    organizations = _organizations_of(state, body)
    taken = {u.username.lower() for u in state.records.users.values()}
    taken |= {u.email.lower() for u in state.records.users.values()}
    if {body.text("username").lower(), body.text("email").lower()} & taken:
        raise RefusalError(409, "User already exists.")
    _require_good_password(state, body.text("password"))
    if not actor.may_manage_users():
        raise RefusalError(403, "You are not authorized to create users.")
    account = NewAccount(
        body.text("email"),
        body.text("username"),
        body.text("password"),
        body.text("name"),
        status=body.text("user_status") or "dormant",
    )
    return add_user(state, account, {organization: [] for organization in organizations})


def set_status(state: CoderdState, actor: Actor, user: UserRow, status: str) -> UserRow:
    """Suspend or activate a user; actors cannot suspend themselves or an owner."""
    if status == "suspended" and user.id == actor.user.id:
        raise RefusalError(400, "You cannot suspend yourself.")
    if status == "suspended" and permissions.OWNER in user.roles:
        message = 'You cannot suspend a user with the "owner" role. You must remove the role first.'
        raise RefusalError(400, message)
    if not actor.may_manage_users():
        message = f"Internal error updating user's status to {quoted(status)}."
        raise RefusalError(500, message, "unauthorized: rbac: forbidden")
    user.status = status
    user.updated_at = state.now()
    return user


def find_user(state: CoderdState, actor: Actor, reference: str) -> UserRow:
    """Find a visible user by `me`, id or name."""
    if reference == "me":
        return actor.user
    wanted_id = as_uuid(reference)
    for user in state.records.users.values():
        found = user.id == wanted_id if wanted_id else user.username.lower() == reference.lower()
        if found and actor.may_read_user(user):
            return user
    message = '"user" must be an existing uuid or username.'
    raise RefusalError(400, message, f"queried user={quoted(reference)}")


def _organizations_of(state: CoderdState, body: Body) -> list[str]:
    wanted = body.texts("organization_ids")
    if not wanted:
        raise RefusalError(
            400,
            "No organization specified to place the user as a member of. It is required to specify "
            "at least one organization id to place the user in.",
            "required at least 1 value for the array 'organization_ids'",
            (FieldFault("organization_ids", "Missing values, this cannot be empty"),),
        )
    default = state.default_organization().id
    ids = [default if identifier == NIL_UUID else identifier for identifier in wanted]
    for identifier in ids:
        if identifier not in state.records.organizations:
            message = f"Organization does not exist with the provided id {quoted(identifier)}."
            raise RefusalError(404, message)
    return ids


def _require_good_password(state: CoderdState, password: str) -> None:
    if fault := names.password_fault(password):
        new = state.has(PASSWORD_MESSAGE)
        message = "Password is invalid" if new else "Password not strong enough!"
        raise RefusalError(400, message, faults=(FieldFault("password", fault),))
