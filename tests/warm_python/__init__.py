"""Python processes that start warm: forked from one that has imported what they need already.

Each engine operation starts Python three times: for the program, for its dynamic providers and for
the Kubernetes plugin's stand-in. Most of its time would go into the same imports, and so it is with
`coder-stack` itself. client.py is started instead, which passes its arguments, environment and open
files to server.py and lives as long as the forked process: signals are passed on, and whoever kills
the client kills both. The newcomer's test and the benches use a plain Python.
"""

import atexit
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil

from sandbox.paths import CHECKOUT
from tests.reports import RUN_FOLDER

CLIENT = Path(__file__).with_name("client.py")


def available() -> bool:
    """Tell whether this system can wait for a process and a connection at once."""
    return hasattr(os, "pidfd_open")


def interpreter() -> list[str]:
    """Return the words that start a Python program, warm if that is possible here."""
    if not available():
        return [sys.executable]
    return [sys.executable, "-I", "-S", str(CLIENT), address()]


def address() -> str:
    """Return where this test process's server listens."""
    _server()
    return str(_socket())


def forked_for(clients: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return the processes that were forked for these clients.

    Who kills only a client lets the other one live until the server has noticed.
    """
    if not available():
        return []
    names = {process_name(client.pid) for client in clients}
    found: list[psutil.Process] = []
    for each in psutil.Process(_server().pid).children():
        with suppress(psutil.NoSuchProcess):
            found += [each] if each.name() in names else []
    return found


def process_name(client: int) -> str:
    """Return the name of the process that is forked for a client."""
    return f"for {client}"


def _socket() -> Path:
    return Path(os.environ[RUN_FOLDER]) / f"python-{os.getpid()}.sock"


@cache
def _server() -> subprocess.Popen[str]:
    """Start this test process's server once; it ends with this process."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.warm_python.server", str(_socket())],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    atexit.register(server.wait)
    atexit.register(server.stdin.close)
    assert server.stdout.readline() == "ready\n"
    server.stdout.close()
    return server
