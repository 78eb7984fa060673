"""What the program of this run asks for at a coderd, so that no clean-up takes it away (L10).

The engine keeps a replaced resource as a pending delete, also across failed runs. Where coderd has
one object per text or name, the new resource has taken over the very object that the pending delete
names: a license with the same text, a proxy or a token under the same name. `check` runs for all
that the program declares, before the engine deletes anything, and not at all in a destroy.
"""

import threading

from coder_stack.dynamic.runtime.session import ConnectionProps

__all__ = ["Declared"]


class Declared:
    """Names of one kind of object by the coderd they are for; thread-safe.

    One for each kind in a process, which serves one command of Pulumi.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: dict[str, set[str]] = {}

    def add(self, connection: ConnectionProps, name: str) -> None:
        """Record that the program asks for it."""
        with self._lock:
            self._names.setdefault(connection.way, set()).add(name)

    def any(self, connection: ConnectionProps) -> bool:
        """Whether the program asks for something of this kind at that coderd."""
        with self._lock:
            return bool(self._names.get(connection.way))

    def has(self, connection: ConnectionProps, name: str) -> bool:
        """Whether the program asks for it at that coderd."""
        with self._lock:
            return name in self._names.get(connection.way, set())
