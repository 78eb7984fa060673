"""Which key a new one takes the place of, remembered from one `check` to the next.

The engine checks a replacement twice: first against what is there, then as if nothing had been
there. Only the first look knows the old key, and the second one settles the new key's name, which
depends on it (K9). Both are given the same inputs, in one process.
"""

import json
import threading

from coder_stack.coderd.key_identity import canonical_tags
from coder_stack.dynamic.key.inputs import KeyInputs, was_made

__all__ = ["SUCCESSION", "Succession"]


class Succession:
    """Old keys by the wish for the new one; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._before: dict[str, KeyInputs | None] = {}
        self._names: dict[tuple[str, str], set[str]] = {}

    def predecessor(self, want: KeyInputs, old: KeyInputs | None) -> KeyInputs | None:
        """The key that is there, by what `check` was given or by what it was given before."""
        wish = _wish(want)
        with self._lock:
            if old is not None:
                self._before[wish] = old if was_made(old) else None
            return self._before.get(wish)

    def settle(self, want: KeyInputs, name: str, before: KeyInputs | None) -> None:
        """Record under which name the program asks for a key; `before` is what it replaces."""
        with self._lock:
            names = self._names.setdefault(_line(want), set())
            names.discard(before.name if before else "")
            names.add(name)

    def has_replaced(self, key: KeyInputs) -> bool:
        """Whether the program asks for another key in its place. Nobody asks in a destroy."""
        with self._lock:
            names = self._names.get(_line(key), set())
        return bool(names) and key.name not in names


SUCCESSION = Succession()
"""Of this process, which serves one command of Pulumi."""


def _line(key: KeyInputs) -> tuple[str, str]:
    """What a key has in common with those that it replaces."""
    return key.connection.way, key.base_name.lower()


def _wish(want: KeyInputs) -> str:
    """What the program asks for, and nothing that `check` settles."""
    place = [want.connection.identity, want.organization, want.owner, want.deployment_id]
    key = [want.base_name.lower(), want.exact_name, canonical_tags(want.tags), want.trigger]
    return json.dumps([place, key])
