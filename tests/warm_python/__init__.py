"""Python processes that start warm: forked from one that has imported what they need already.

Each engine operation starts Python three times: for the program, for its dynamic providers and for
the Kubernetes plugin's stand-in. Most of its time would go into the same imports, and so it is with
`coder-stack` itself. client.py is started instead, which passes its arguments, environment and open
files to server.py and lives as long as the forked process: signals are passed on, and whoever kills
the client kills both. Tests that kill processes, the newcomer's and the benches use a plain Python.
"""

import atexit
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

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


@cache
def address() -> str:
    """Start this test process's server once; it ends with this process."""
    path = Path(os.environ[RUN_FOLDER]) / f"python-{os.getpid()}.sock"
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.warm_python.server", str(path)],
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
    return str(path)
