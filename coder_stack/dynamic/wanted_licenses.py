"""Which licenses the program of this run asks for, so that no clean-up takes one away (L10).

The engine keeps a replaced license as a pending delete, also across failed runs. Coderd stores one
row per text: if the program has gone back to that text, the pending delete names the very row that
is in use. `check` runs for all that the program declares, before the engine deletes anything, and
not at all in a destroy. Leaves alone how a license is stored (stored_licenses.py).
"""

import threading

from coder_stack.dynamic.connection import ConnectionProps

__all__ = ["WANTED", "WantedLicenses"]


class WantedLicenses:
    """Hashes of license texts by the coderd they are for; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hashes: dict[str, set[str]] = {}

    def add(self, connection: ConnectionProps, sha256: str) -> None:
        """Record that the program asks for this text."""
        with self._lock:
            self._hashes.setdefault(connection.way, set()).add(sha256)

    def has(self, connection: ConnectionProps, sha256: str) -> bool:
        """Whether the program asks for this text at that coderd."""
        with self._lock:
            return sha256 in self._hashes.get(connection.way, set())


WANTED = WantedLicenses()
"""Of this process, which serves one command of Pulumi."""
