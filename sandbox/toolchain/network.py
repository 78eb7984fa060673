"""Find out within a few seconds whether a host, or the proxy for it, accepts connections.

A connect timeout does not limit a name lookup, so both run in a thread that may be abandoned.
"""

import queue
import socket
import threading
import urllib.request
from urllib.parse import urlsplit

CONNECT_SECONDS = 3.0


def unreachable(url: str, *, seconds: float = CONNECT_SECONDS) -> str | None:
    """Return why no connection can be made to an address; None if one can."""
    host, port = _endpoint(url)
    outcome: queue.Queue[str | None] = queue.Queue()

    def connect() -> None:
        try:
            socket.create_connection((host, port), timeout=seconds).close()
        except TimeoutError:
            outcome.put(f"no connection within {seconds:g} s")
        except socket.gaierror:
            outcome.put("its name cannot be resolved")
        except OSError as error:
            outcome.put((error.strerror or str(error)).lower())
        else:
            outcome.put(None)

    threading.Thread(target=connect, daemon=True).start()
    try:
        return outcome.get(timeout=seconds + 0.2)
    except queue.Empty:
        return f"no connection within {seconds:g} s"


def _endpoint(url: str) -> tuple[str, int]:
    target = urlsplit(url)
    proxy = urllib.request.getproxies().get(target.scheme)
    if proxy and not urllib.request.proxy_bypass(target.hostname or ""):
        target = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    return target.hostname or "", target.port or (443 if target.scheme == "https" else 80)
