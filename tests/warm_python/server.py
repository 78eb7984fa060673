"""Fork a process for each client; see the package's docstring.

One thread, so that nothing is half done in a fork. Ends when its standard input closes.
"""

import atexit
import gc
import importlib
import io
import json
import os
import runpy
import selectors
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.warm_python import process_name

_MODULES = (
    "coder_stack.cli.operate",
    "coder_stack.cluster.kept_database",
    "coder_stack.cluster.preflight",
    "coder_stack.operate.fleet",
    "coder_stack.operate.reconcile",
    "coder_stack.operate.report.html",
    "coder_stack.operate.status",
    "coder_stack.outputs",
    "coder_stack.program",
    "coder_stack.stack",
    "grpc._channel",
    "grpc._server",
    "grpc.aio",
    "httpcore",
    "httpx",
    "jinja2",
    "jwt.algorithms",
    "kubernetes.client",
    "pulumi",
    "pulumi.automation",
    "pulumi.dynamic.dynamic",
    "pulumi_kubernetes.apps.v1",
    "pulumi_kubernetes.batch.v1",
    "pulumi_kubernetes.core.v1",
    "pulumi_kubernetes.meta.v1",
    "pulumi_kubernetes.networking.v1",
    "pulumi_kubernetes.policy.v1",
    "pulumi_kubernetes.rbac.v1",
    "pydantic",
    "rich.progress",
    "rich.table",
    "sandbox.kubernetes_plugin.bare_sdk",
    "sandbox.kubernetes_plugin.servicer",
    "typer",
    "yaml",
)
_STANDARD = 3


@dataclass
class Forked:
    """A process, and the connection of the client that waits for it."""

    pid: int
    pidfd: int
    client: socket.socket

    def pass_on(self) -> bool:
        """Pass the client's signals on; return False if the client is gone."""
        try:
            numbers = self.client.recv(16)
        except OSError:
            return False
        for number in numbers:
            self.send(number)
        return bool(numbers)

    def send(self, number: int) -> None:
        """Send a signal; the process may have ended already."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, number)

    def report(self) -> None:
        """Tell the client how the process ended, unless the client was killed."""
        _, status = os.waitpid(self.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        with suppress(OSError):
            self.client.sendall(bytes([-code, 0] if code < 0 else [0, code]))
        self.client.close()
        os.close(self.pidfd)


@dataclass(frozen=True)
class Request:
    """What a client asks for, with its standard files."""

    client: int
    words: list[str]
    folder: str
    environment: dict[str, str]
    files: list[int]

    @classmethod
    def read(cls, client: socket.socket) -> "Request":
        """Read it whole."""
        head, files, _, _ = socket.recv_fds(client, 8, _STANDARD)
        with client.makefile("rb") as stream:
            body: dict[str, Any] = json.loads(stream.read(int.from_bytes(head, "big")))
        return cls(**body, files=files)

    def run(self) -> None:
        """Become the process that a plain interpreter would be with these arguments."""
        os.setsid()
        Path("/proc/self/comm").write_text(process_name(self.client))
        for standard, file in enumerate(self.files):
            os.dup2(file, standard)
            os.close(file)
        os.chdir(self.folder)
        os.environ.clear()
        os.environ.update(self.environment)
        sys.stdin = os.fdopen(0, closefd=False)
        sys.stdout, sys.stderr = _unbuffered(1), _unbuffered(2)
        words = [each for each in self.words if each != "-u"]
        first = str(Path.cwd()) if words[0] == "-m" else str(Path(words[0]).resolve().parent)
        more = self.environment.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[0:1] = [first, *filter(None, more)]
        if words[0] == "-m":
            sys.argv = words[1:]
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = words
            runpy.run_path(words[0], run_name="__main__")


def serve(path: str) -> Request | None:
    """Serve until standard input closes; return only in a fork with what it is to run."""
    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as ready:
        listener.bind(path)
        listener.listen(64)
        ready.register(sys.stdin, selectors.EVENT_READ)
        ready.register(listener, selectors.EVENT_READ)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            for key, _ in ready.select():
                found: Forked | None = key.data
                if key.fileobj is sys.stdin:
                    _kill_all(ready)
                    return None
                if found is None:
                    if request := _fork(listener, ready):
                        return request
                elif key.fileobj == found.pidfd:
                    if found.client in ready.get_map():
                        ready.unregister(found.client)
                    ready.unregister(found.pidfd)
                    found.report()
                elif found.client.fileno() < 0:
                    continue  # its process has ended in this very round
                elif not found.pass_on():
                    ready.unregister(found.client)
                    found.send(signal.SIGKILL)  # as whoever killed the client wanted


def _fork(listener: socket.socket, ready: selectors.BaseSelector) -> Request | None:
    """Fork for the next client; return its request in the fork."""
    client, _ = listener.accept()
    try:
        request = Request.read(client)
    except (OSError, ValueError):  # killed before it had asked for anything
        client.close()
        return None
    pid = os.fork()
    if pid == 0:
        return request
    for each in request.files:
        os.close(each)
    found = Forked(pid, os.pidfd_open(pid), client)
    ready.register(found.pidfd, selectors.EVENT_READ, found)
    ready.register(client, selectors.EVENT_READ, found)
    return None


def _kill_all(ready: selectors.BaseSelector) -> None:
    for key in ready.get_map().values():
        if isinstance(key.data, Forked):
            key.data.send(signal.SIGKILL)


def _unbuffered(file: int) -> io.TextIOWrapper:
    """Return a file as `python -u` has it."""
    return io.TextIOWrapper(os.fdopen(file, "wb", buffering=0, closefd=False), write_through=True)


@dataclass
class Ending:
    """Ends a forked process without taking its memory apart.

    Python would touch every object of every module, and so copy all of the server's memory first.
    """

    code: int | None = None

    def after(self, request: Request) -> None:
        """Run what was asked for, and note the exit code that Python will end with."""
        try:
            request.run()
        except SystemExit as end:
            number = end.code or 0
            self.code = number & 0xFF if isinstance(number, int) else 1
            raise
        except KeyboardInterrupt:
            raise  # which ends the process by a signal
        except BaseException:
            self.code = 1
            raise
        self.code = 0

    def leave(self) -> None:
        """Leave at once, unless this is the server; everything else at exit has run before."""
        if self.code is not None:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(self.code)


if __name__ == "__main__":
    ending = Ending()
    atexit.register(ending.leave)  # the first one registered is the last one called
    for module in _MODULES:
        importlib.import_module(module)
    gc.freeze()
    if found := serve(sys.argv[1]):
        ending.after(found)
