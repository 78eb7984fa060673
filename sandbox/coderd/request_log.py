"""What was asked of the simulation: method, path, status, time and a name, never a credential.

Upstream's own client puts a provisioner key's secret into the path, and tokens may come as query
parameters, so the path is logged as the pattern where it could hold a secret, and the query without
its token values.
"""

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
    """The newest requests, oldest first."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=KEPT)

    def add(self, entry: Entry) -> None:
        """Remember a request."""
        self._entries.append(entry)

    def clear(self) -> None:
        """Forget them."""
        self._entries.clear()

    def shown(self) -> list[dict[str, object]]:
        """As JSON."""
        return [asdict(entry) for entry in self._entries]


def safe_path(path: str, route: str) -> str:
    """The path, unless it holds a key."""
    return route if route == _KEY_IN_PATH else path


def safe_query(query: QueryParams) -> str:
    """The query with token values masked."""
    pairs = query.multi_items()
    return urlencode([(n, "***" if n in _SECRET_PARAMETERS else v) for n, v in pairs])
