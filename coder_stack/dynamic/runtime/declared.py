"""What the program of this run asks for, so that a delete does not remove it (L10).

The engine keeps a replaced resource as a pending delete, also across failed runs. Where coderd has
one object per text or name (a license, a proxy, a token), the new resource uses the very object
that the pending delete names. `check` records it: it runs for all that the program declares before
the engine deletes anything, and not at all in a destroy.
"""

import threading


class Declared:
    """Declared names of one kind of object, by the target of a session; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: dict[str, set[str]] = {}

    def add(self, target: str, name: str) -> None:
        """Record a name."""
        with self._lock:
            self._names.setdefault(target, set()).add(name)

    def any(self, target: str) -> bool:
        """Tell whether any name is declared for that coderd."""
        with self._lock:
            return bool(self._names.get(target))

    def has(self, target: str, name: str) -> bool:
        """Tell whether this name is declared for that coderd."""
        with self._lock:
            return name in self._names.get(target, set())
