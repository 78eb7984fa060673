"""Create, find and delete API tokens. Tokens of owners are limited to a week."""

from datetime import timedelta

from sandbox.coderd.rules import permissions, scopes, sessions
from sandbox.coderd.rules.body import DURATION, MAPPINGS, STRINGS, Body, Field, RequestType
from sandbox.coderd.rules.go_text import duration_string, quoted
from sandbox.coderd.rules.identifiers import random_text
from sandbox.coderd.rules.permissions import Actor
from sandbox.coderd.rules.records import ApiKeyRow, UserRow
from sandbox.coderd.rules.refusal import RBAC_FORBIDDEN, FieldFault, RefusalError, not_found
from sandbox.coderd.rules.state import CoderdState
from sandbox.coderd.rules.versions import OWNER_LIFETIME, SCOPE_LIST

NEW_TOKEN = RequestType(
    "CreateTokenRequest",
    (
        Field("lifetime", DURATION),
        Field("scope"),
        Field("scopes", STRINGS),
        Field("token_name"),
        Field("allow_list", MAPPINGS),
    ),
)
DEFAULT_LIFETIME = timedelta(hours=168)
LONGEST_FOR_OWNERS = timedelta(days=7)
LONGEST = timedelta(hours=876600)
_NANOSECONDS = 1_000_000_000


def longest_lifetime(state: CoderdState, user: UserRow) -> timedelta:
    """Return the maximum lifetime of a user's token."""
    limited = permissions.OWNER in user.roles and state.has(OWNER_LIFETIME)
    return LONGEST_FOR_OWNERS if limited else LONGEST


def create_token(state: CoderdState, actor: Actor, user: UserRow, body: Body) -> str:
    """Create a token for `user`, and return its secret."""
    lifetime = _lifetime(state, user, body.number("lifetime"))
    wanted = _scopes(body) if state.has(SCOPE_LIST) else _single_scope(body)
    name = body.text("token_name") or f"token-{random_text(8).lower()}"
    if not actor.may_use_keys_of(user.id):
        raise RefusalError(500, "Failed to create API key.", f"insert API key: {RBAC_FORBIDDEN}")
    if any(key.token_name == name for key in tokens_of(state, user)):
        raise RefusalError(
            409,
            f"A token with name {quoted(name)} already exists.",
            faults=(FieldFault("name", "This value is already in use and should be unique."),),
        )
    return sessions.new_key(
        state,
        user.id,
        login_type="token",
        lifetime=lifetime,
        token_name=name,
        scopes=tuple(wanted),
        allow_list=tuple(body.mappings("allow_list")),
    )


def tokens_of(state: CoderdState, user: UserRow | None) -> list[ApiKeyRow]:
    """Return the tokens of one user or of all."""
    return [
        key
        for key in state.records.api_keys.values()
        if key.login_type == "token" and (user is None or key.user_id == user.id)
    ]


def list_tokens(
    state: CoderdState, actor: Actor, user: UserRow, *, everybody: bool
) -> list[ApiKeyRow]:
    """List the tokens that the actor may see."""
    found = tokens_of(state, None if everybody else user)
    return [key for key in found if actor.may_use_keys_of(key.user_id)]


def token_by_name(state: CoderdState, actor: Actor, user: UserRow, name: str) -> ApiKeyRow:
    """Find a user's token by name."""
    for key in tokens_of(state, user):
        if key.token_name == name and actor.may_use_keys_of(user.id):
            return key
    raise not_found()


def key_by_id(state: CoderdState, actor: Actor, key_id: str) -> ApiKeyRow:
    """Find an API key by id; coderd does not compare it with the user in the path."""
    key = state.records.api_keys.get(key_id)
    if key is None or not actor.may_use_keys_of(key.user_id):
        raise not_found()
    return key


def delete_key(state: CoderdState, actor: Actor, key_id: str) -> None:
    """Revoke an API key."""
    del state.records.api_keys[key_by_id(state, actor, key_id).id]


def _lifetime(state: CoderdState, user: UserRow, nanoseconds: int) -> timedelta:
    """Return the lifetime; the default is not checked against the maximum."""
    if nanoseconds == 0:
        return DEFAULT_LIFETIME
    longest = longest_lifetime(state, user)
    if nanoseconds < 0:
        raise _bad_lifetime("lifetime must be positive number greater than 0")
    seconds = int(longest.total_seconds())
    if nanoseconds > seconds * _NANOSECONDS:
        new = state.has(OWNER_LIFETIME)
        limit = duration_string(seconds) if new else str(seconds * _NANOSECONDS)
        raise _bad_lifetime(f"lifetime must be less than {limit}")
    return timedelta(microseconds=nanoseconds / 1000)


def _scopes(body: Body) -> list[str]:
    wanted = body.texts("scopes")
    if not wanted:
        single = body.text("scope") or "all"
        wanted = [scopes.LEGACY.get(single, single)]
    elif "all" in wanted or "application_connect" in wanted:
        detail = 'insert API key: pq: invalid input value for enum api_key_scope: "all"'
        raise RefusalError(500, "Failed to create API key.", detail)
    for scope in wanted:
        if scope not in scopes.EXTERNAL:
            detail = f"invalid or unsupported API key scope: {quoted(scope)}"
            raise RefusalError(400, "Failed to create API key.", detail)
    for entry in body.mappings("allow_list"):
        if not entry.get("type") or not entry.get("id"):
            raise RefusalError(400, "Failed to create API key.", "invalid allow_list entry")
    return wanted


def _single_scope(body: Body) -> list[str]:
    """Return the scope of a version that knows two of them, and no list."""
    single = body.text("scope") or "all"
    if single not in scopes.LEGACY:
        detail = f"invalid API key scope: {quoted(single)}"
        raise RefusalError(500, "Failed to create API key.", detail)
    return [scopes.LEGACY[single]]


def _bad_lifetime(detail: str) -> RefusalError:
    return RefusalError(400, "Failed to validate create API key request.", detail)
