"""A test run that is killed leaves no server behind."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from sandbox.paths import CHECKOUT
from tests.waiting import eventually

pytestmark = [pytest.mark.contract, pytest.mark.xdist_group("contract")]
RUN = """
import time
from tests.contract import postgres, servers

with postgres.running() as database, servers.simulated("--fresh", "--unlicensed"):
    print(database.sockets, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_run_leaves_no_server_and_no_database(how: signal.Signals) -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", RUN], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert run.stdout
        folder = Path(run.stdout.readline().strip())
        servers = [p for p in psutil.Process(run.pid).children() if p.is_running()]
        assert len(servers) == 2, "PostgreSQL and the simulated coderd"
    finally:
        run.send_signal(how)
        run.wait()
        if run.stdout:
            run.stdout.close()
    assert eventually(lambda: not any(server.is_running() for server in servers), 60)
    assert eventually(lambda: not folder.exists(), 60)
