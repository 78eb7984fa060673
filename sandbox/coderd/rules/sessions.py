"""Create API keys, authenticate with them, and extend them when they are used.

Tokens (tokens.py) and password sessions (users.py) are both API keys.
"""

from datetime import timedelta

from sandbox.coderd.rules.go_text import ZERO_TIME, quoted, time_string
from sandbox.coderd.rules.identifiers import hashed, random_text
from sandbox.coderd.rules.permissions import Actor
from sandbox.coderd.rules.records import ApiKeyRow
from sandbox.coderd.rules.refusal import RefusalError
from sandbox.coderd.rules.state import CoderdState

SIGNED_OUT = "You are signed out or your session has expired. Please sign in again to continue."
SESSION_COOKIE = "coder_session_token"
SESSION_LIFETIME = timedelta(hours=24)
ID_LENGTH = 10
SECRET_LENGTH = 22
_HOUR = timedelta(hours=1)


def new_key(
    state: CoderdState,
    user_id: str,
    *,
    login_type: str,
    lifetime: timedelta,
    token_name: str = "",
    scopes: tuple[str, ...] = ("coder:all",),
    allow_list: tuple[dict[str, str], ...] = (),
) -> str:
    """Store a new API key, and return `<id>-<secret>`."""
    now = state.now()
    key_id, secret = random_text(ID_LENGTH), random_text(SECRET_LENGTH)
    state.records.api_keys[key_id] = ApiKeyRow(
        id=key_id,
        user_id=user_id,
        secret_hash=hashed(secret),
        login_type=login_type,
        scopes=list(scopes),
        token_name=token_name,
        lifetime_seconds=int(lifetime.total_seconds()),
        last_used=ZERO_TIME,
        expires_at=now + lifetime,
        created_at=now,
        updated_at=now,
        allow_list=list(allow_list) or [{"type": "*", "id": "*"}],
    )
    return f"{key_id}-{secret}"


def authenticate(state: CoderdState, token: str) -> Actor:
    """Return the actor of a token, or refuse with 401."""
    key = _key_of(state, token)
    now = state.now()
    if key.expires_at < now:
        raise _signed_out(f"API key expired at {quoted(time_string(key.expires_at))}.")
    _slide(state, key)
    user = state.records.users[key.user_id]
    if user.status == "dormant":
        user.status = "active"
    if user.status != "active":
        message = (
            f"User is not active (status = {quoted(user.status)}). "
            "Contact an admin to reactivate your account."
        )
        raise RefusalError(401, message)
    return Actor(user, key)


def _key_of(state: CoderdState, token: str) -> ApiKeyRow:
    if not token:
        raise _signed_out(f"Cookie {quoted(SESSION_COOKIE)} or query parameter must be provided.")
    fault, key_id, secret = _split(token)
    if fault:
        raise _signed_out(f"Invalid API key format: {fault}")
    key = state.records.api_keys.get(key_id)
    if key is None:
        raise _signed_out("API key is invalid.")
    if key.secret_hash != hashed(secret):
        raise _signed_out("API key secret is invalid.")
    return key


def _split(token: str) -> tuple[str, str, str]:
    parts = token.split("-")
    if len(parts) != 2:
        return f"incorrect amount of API key parts, expected 2 got {len(parts)}", "", ""
    key_id, secret = parts
    if len(key_id) != ID_LENGTH:
        return f"invalid API key ID length, expected {ID_LENGTH} got {len(key_id)}", "", ""
    if len(secret) != SECRET_LENGTH:
        return f"invalid API key secret length, expected {SECRET_LENGTH} got {len(secret)}", "", ""
    return "", key_id, secret


def _slide(state: CoderdState, key: ApiKeyRow) -> None:
    """Extend a key or token by its lifetime, if it was last extended over an hour ago."""
    now = state.now()
    if now - key.last_used > _HOUR:
        key.last_used = now
        state.records.users[key.user_id].last_seen_at = now
    lifetime = timedelta(seconds=key.lifetime_seconds)
    if state.flags.session_expiry_refresh and key.expires_at - now <= lifetime - _HOUR:
        key.expires_at = now + lifetime


def _signed_out(detail: str) -> RefusalError:
    return RefusalError(401, SIGNED_OUT, detail)
