"""What the program of this run asks for, so that a delete does not remove it (L10).

The engine keeps a replaced resource as a pending delete, also across failed runs. Where coderd has
one object per text or name (a license, a proxy, a token), the new resource uses the very object
that the pending delete names. `check` records it: it runs for all that the program declares before
the engine deletes anything, and not at all in a destroy.
"""

import threading

from coder_stack.dynamic.runtime.session import ConnectionProps


class Declared:
    """Declared names of one kind of object, by target; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: dict[str, set[str]] = {}

    def add(self, connection: ConnectionProps, name: str) -> None:
        """Record a name."""
        with self._lock:
            self._names.setdefault(connection.target, set()).add(name)

    def any(self, connection: ConnectionProps) -> bool:
        """Tell whether any name is declared for that coderd."""
        with self._lock:
            return bool(self._names.get(connection.target))

    def has(self, connection: ConnectionProps, name: str) -> bool:
        """Tell whether this name is declared for that coderd."""
        with self._lock:
            return name in self._names.get(connection.target, set())
