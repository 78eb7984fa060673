"""The keys of an organization, from the same list as their daemons."""

from collections.abc import Sequence

from coder_stack.coderd.models import KeyRecord
from coder_stack.coderd.names import RESERVED_KEY_NAMES
from coder_stack.dynamic.runtime import answers
from coder_stack.dynamic.runtime.session import Session


def listed_keys(session: Session, organization: str) -> Sequence[KeyRecord]:
    """Return the keys, oldest first, without those of coderd itself."""
    keys = (each.key for each in session.cached(answers.daemons_in(organization)))
    others = (key for key in keys if key.name not in RESERVED_KEY_NAMES)
    return sorted(others, key=lambda key: (key.created_at, key.id))
