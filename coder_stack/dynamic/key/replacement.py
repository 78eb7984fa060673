"""Which key a new one replaces, remembered from one `check` to the next.

The engine checks a replacement twice: first with the old inputs, then without. Only the first call
knows the old key, and the second one decides on the new name, which depends on it (K9). Both get
the same inputs, in one process.
"""

import json
import threading

from coder_stack.dynamic.key.inputs import KeyInputs, was_made


class Replacements:
    """Old keys by what the program asks for; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._before: dict[str, KeyInputs | None] = {}
        self._names: dict[tuple[str, str], set[str]] = {}

    def predecessor(self, want: KeyInputs, old: KeyInputs | None) -> KeyInputs | None:
        """Return the existing key, from these old inputs or from those of the first `check`."""
        spec = _spec(want)
        with self._lock:
            if old is not None:
                self._before[spec] = old if was_made(old) else None
            return self._before.get(spec)

    def settle(self, want: KeyInputs, name: str, before: KeyInputs | None) -> None:
        """Record the name that the program asks for; `before` is the key that it replaces."""
        with self._lock:
            names = self._names.setdefault(_lineage(want), set())
            names.discard(before.name if before else "")
            names.add(name)

    def has_replaced(self, key: KeyInputs) -> bool:
        """Tell whether the program asks for another key in its place; in a destroy it does not."""
        with self._lock:
            names = self._names.get(_lineage(key), set())
        return bool(names) and key.name not in names


REPLACEMENTS = Replacements()
"""Of this process, which serves one command of Pulumi."""


def _lineage(key: KeyInputs) -> tuple[str, str]:
    """Return what a key has in common with those that it replaces."""
    return key.connection.target, key.base_name.lower()


def _spec(want: KeyInputs) -> str:
    """Serialize what the program asks for, without what `check` fills in."""
    where = [want.connection.identity, want.organization, want.owner, want.deployment_id]
    key = [want.base_name.lower(), want.exact_name, want.tags, want.trigger]
    return json.dumps([where, key], sort_keys=True)
