"""Log the requests to the simulation without credentials.

Coder's own client sends a provisioner key's secret in the path: such a path is logged as its route.
Tokens in the query are masked.
"""

import threading
from collections import deque
from dataclasses import asdict, dataclass
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

KEPT = 20_000
_KEY_IN_PATH = "/api/v2/provisionerkeys/{provisionerkey}"
_SECRET_PARAMETERS = frozenset({"coder_session_token", "access_token"})


@dataclass(frozen=True)
class Entry:
    """One request."""

    method: str
    path: str
    query: str
    route: str
    status: int | None
    time: str
    who: str | None
    fault: str | None


class RequestLog:
    """The latest requests, oldest first; tests read it while the server adds to it."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=KEPT)
        self._lock = threading.Lock()

    def add(self, entry: Entry) -> None:
        """Add a request."""
        with self._lock:
            self._entries.append(entry)

    def clear(self) -> None:
        """Delete all entries."""
        with self._lock:
            self._entries.clear()

    def to_json(self) -> list[dict[str, object]]:
        """Return all entries."""
        with self._lock:
            entries = list(self._entries)
        return [asdict(entry) for entry in entries]


def safe_path(path: str, route: str) -> str:
    """Return the path; the route instead if the path contains a key."""
    return route if route == _KEY_IN_PATH else path


def safe_query(query: QueryParams) -> str:
    """Return the query with token values masked."""
    pairs = query.multi_items()
    return urlencode([(n, "***" if n in _SECRET_PARAMETERS else v) for n, v in pairs])
