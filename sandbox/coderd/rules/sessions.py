"""API keys as credentials: making them, checking them, and the expiry that slides with use.

Tokens (tokens.py) and password sessions (users.py) are both API keys; they differ in who asks for
them.
"""

from datetime import timedelta

from sandbox.coderd.rules.go_text import ZERO_TIME, quoted, time_string
from sandbox.coderd.rules.identifiers import hashed, random_text
from sandbox.coderd.rules.permissions import Caller
from sandbox.coderd.rules.records import ApiKey
from sandbox.coderd.rules.refusal import RefusalError
from sandbox.coderd.rules.world import World

SIGNED_OUT = "You are signed out or your session has expired. Please sign in again to continue."
SESSION_COOKIE = "coder_session_token"
SESSION_LIFETIME = timedelta(hours=24)
ID_LENGTH = 10
SECRET_LENGTH = 22
_HOUR = timedelta(hours=1)


def new_key(
    world: World,
    user_id: str,
    *,
    login_type: str,
    lifetime: timedelta,
    token_name: str = "",
    scopes: tuple[str, ...] = ("coder:all",),
    allow_list: tuple[dict[str, str], ...] = (),
) -> str:
    """Store a new API key and return `<id>-<secret>`, the only time the secret is known."""
    now = world.now()
    key_id, secret = random_text(ID_LENGTH), random_text(SECRET_LENGTH)
    world.records.api_keys[key_id] = ApiKey(
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


def authenticate(world: World, token: str) -> Caller:
    """Who presents this token; refuses with the 401 that says what is wrong with it."""
    key = _key_of(world, token)
    now = world.now()
    if key.expires_at < now:
        raise _signed_out(f"API key expired at {quoted(time_string(key.expires_at))}.")
    _slide(world, key)
    user = world.records.users[key.user_id]
    if user.status == "dormant":
        user.status = "active"
    if user.status != "active":
        message = (
            f"User is not active (status = {quoted(user.status)}). "
            "Contact an admin to reactivate your account."
        )
        raise RefusalError(401, message)
    return Caller(user, key)


def _key_of(world: World, token: str) -> ApiKey:
    if not token:
        raise _signed_out(f"Cookie {quoted(SESSION_COOKIE)} or query parameter must be provided.")
    fault, key_id, secret = _split(token)
    if fault:
        raise _signed_out(f"Invalid API key format: {fault}")
    key = world.records.api_keys.get(key_id)
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


def _slide(world: World, key: ApiKey) -> None:
    """Use extends the life of a key once an hour of it is gone, tokens included."""
    now = world.now()
    if now - key.last_used > _HOUR:
        key.last_used = now
        world.records.users[key.user_id].last_seen_at = now
    lifetime = timedelta(seconds=key.lifetime_seconds)
    if world.settings.session_expiry_refresh and key.expires_at - now <= lifetime - _HOUR:
        key.expires_at = now + lifetime


def _signed_out(detail: str) -> RefusalError:
    return RefusalError(401, SIGNED_OUT, detail)
