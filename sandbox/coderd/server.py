"""Start the simulated coderd: prepare its state, open the socket, serve."""

import asyncio
import contextlib
import json
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import uvicorn

from sandbox.coderd import storage
from sandbox.coderd.application import Application
from sandbox.coderd.faults import FaultError
from sandbox.coderd.rules import license_key, permissions, sessions, users
from sandbox.coderd.rules.body import Body
from sandbox.coderd.rules.clock import MovableClock
from sandbox.coderd.rules.identifiers import new_uuid
from sandbox.coderd.rules.licenses import add_license
from sandbox.coderd.rules.state import CoderdState, ServerFlags, new_state
from sandbox.errors import SandboxError

# Not a secret: these credentials work in simulations only.
FIRST_USER = users.NewAccount(
    email="admin@example.com",
    username="admin",
    password="Simulated-Admin-1!",  # noqa: S106
    name="Sandbox Admin",
    roles=(permissions.OWNER,),
)
# Long enough for tests that advance the clock.
READY_TOKEN_LIFETIME = timedelta(days=3650)


@dataclass(frozen=True)
class Options:
    """The options of the command line."""

    host: str = "127.0.0.1"
    port: int = 0
    flags: ServerFlags = field(default_factory=ServerFlags)
    licensed: bool = True
    fresh: bool = False
    faults: Path | None = None
    state: Path | None = None


@dataclass(frozen=True)
class ServerInfo:
    """The server's URL, and an owner's token if there is an owner."""

    url: str
    token: str | None


def prepare(options: Options) -> tuple[CoderdState, str | None]:
    """Return the initial state, and an owner's token if there is an owner."""
    state = storage.load(options.state, options.flags) if options.state else None
    if state is None:
        state = new_state(MovableClock(), options.flags)
        if options.licensed and options.flags.enterprise:
            # With an id, so that no license of the same second and terms has the same text.
            text = license_key.issue(license_key.LicenseTerms(jti=new_uuid()), state.now())
            add_license(state, Body({"license": text}, frozenset({"license"})))
        if not options.fresh:
            users.add_user(state, FIRST_USER, {state.default_organization().id: []})
            state.refresh_entitlements()
    owner = next((u for u in state.records.users.values() if permissions.OWNER in u.roles), None)
    if owner is None:
        return state, None
    lifetime = READY_TOKEN_LIFETIME
    return state, sessions.new_key(state, owner.id, login_type="password", lifetime=lifetime)


def run(options: Options) -> None:
    """Serve until a signal; the first line on stdout is the URL and the token as JSON."""
    server, listener, info = ready(options)
    sys.stdout.write(json.dumps({"url": info.url, "token": info.token}) + "\n")
    sys.stdout.flush()
    asyncio.run(server.serve(sockets=[listener]))


@contextlib.contextmanager
def serving(options: Options | None = None) -> Generator[ServerInfo]:
    """Serve in a thread of this process until the block ends."""
    server, listener, info = ready(options or Options())
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()
    try:
        yield info
    finally:
        server.should_exit = True
        thread.join()


class _Server(uvicorn.Server):
    """A server that exits with 0 after a signal; uvicorn would raise the signal again."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        if threading.current_thread() is threading.main_thread():
            loop = asyncio.get_running_loop()
            for given in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(given, self.handle_exit, given, None)
        yield


def ready(options: Options) -> tuple[uvicorn.Server, socket.socket, ServerInfo]:
    """Return a server and its open socket: clients can connect before it serves."""
    state, token = prepare(options)
    listener = _listen(options.host, options.port)
    state.url = f"http://{options.host}:{listener.getsockname()[1]}"
    application = Application(state, changed=_saver(options.state))
    if options.faults:
        _load_faults(application, options.faults)
    if options.state:
        storage.save(options.state, state)
    config = uvicorn.Config(
        application,
        log_level="error",
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    return _Server(config), listener, ServerInfo(state.url, token)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With an explicit protocol, asyncio disables Nagle's delay of 40 ms per response.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise SandboxError(f"Cannot listen on {host}:{port}: {error.strerror}.") from error
    listener.listen(128)
    return listener


def _saver(path: Path | None) -> Callable[[CoderdState], None]:
    def save(state: CoderdState) -> None:
        if path:
            storage.save(path, state)

    return save


def _load_faults(application: Application, path: Path) -> None:
    try:
        application.faults.add(json.loads(path.read_text()))
    except (OSError, ValueError, FaultError) as error:
        raise SandboxError(f"Cannot read faults from {path}: {error}.") from error
