"""The keys of an organization with their daemons: one list for keys and for their daemons."""

from collections.abc import Sequence

from coder_stack.coderd.models import KeyDaemons, KeyRecord
from coder_stack.coderd.names import RESERVED_KEY_NAMES
from coder_stack.dynamic.runtime.session import Session


def listed_daemons(session: Session, organization: str) -> tuple[KeyDaemons, ...]:
    """Return all keys, each with the daemons that use it; concurrent reads share the request."""
    return session.cached(f"daemons/{organization}", lambda c: c.daemons_by_key(organization))


def listed_keys(session: Session, organization: str) -> Sequence[KeyRecord]:
    """Return the keys, oldest first, without those of coderd itself."""
    keys = (each.key for each in listed_daemons(session, organization))
    others = (key for key in keys if key.name not in RESERVED_KEY_NAMES)
    return sorted(others, key=lambda key: (key.created_at, key.id))
