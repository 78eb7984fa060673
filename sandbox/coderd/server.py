"""Starting the simulated coderd: its world, the socket, and the one line that says where it is."""

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
from sandbox.coderd.rules import license_key, organizations, permissions, sessions, users
from sandbox.coderd.rules.body import Body, read
from sandbox.coderd.rules.clock import Clock
from sandbox.coderd.rules.licenses import add_license
from sandbox.coderd.rules.world import Settings, World, new_world
from sandbox.errors import SandboxError

# Known to everybody: these open a simulation and nothing else.
FIRST_USER = users.Account(
    email="admin@example.com",
    username="admin",
    password="Simulated-Admin-1!",  # noqa: S106
    name="Sandbox Admin",
    roles=(permissions.OWNER,),
)
# The token on the first line outlives any journey in time that a test makes.
READY_TOKEN_LIFETIME = timedelta(days=3650)


@dataclass(frozen=True)
class Options:
    """What the command line decides."""

    host: str = "127.0.0.1"
    port: int = 0
    settings: Settings = field(default_factory=Settings)
    licensed: bool = True
    fresh: bool = False
    faults: Path | None = None
    state: Path | None = None
    organizations: tuple[str, ...] = ()
    """There from the start besides the default one, as if somebody had made them."""


@dataclass(frozen=True)
class Hello:
    """Where it is, and a ready owner token unless nobody was created yet."""

    url: str
    token: str | None


def prepare(options: Options) -> tuple[World, str | None]:
    """The world to serve and a ready owner token, unless nobody was created yet."""
    world = storage.load(options.state, options.settings) if options.state else None
    if world is None:
        world = new_world(Clock(), options.settings)
        if options.licensed and options.settings.enterprise:
            text = license_key.issue(license_key.LicenseTerms(), world.now())
            add_license(world, Body({"license": text}, frozenset({"license"})))
        for name in options.organizations:
            wish = read(json.dumps({"name": name}).encode(), organizations.NEW_ORGANIZATION)
            organizations.add_organization(world, wish)
        if not options.fresh:
            users.add_user(world, FIRST_USER, {world.default_organization().id: []})
            world.refresh_entitlements()
    owner = next((u for u in world.records.users.values() if permissions.OWNER in u.roles), None)
    if owner is None:
        return world, None
    lifetime = READY_TOKEN_LIFETIME
    return world, sessions.new_key(world, owner.id, login_type="password", lifetime=lifetime)


def run(options: Options) -> None:
    """Serve until a signal says stop; the first line on stdout says where, and with what token."""
    server, listener, hello = ready(options)
    sys.stdout.write(json.dumps({"url": hello.url, "token": hello.token}) + "\n")
    sys.stdout.flush()
    asyncio.run(server.serve(sockets=[listener]))


@contextlib.contextmanager
def serving(options: Options | None = None) -> Generator[Hello]:
    """The same in a thread of this process: a test can have its own within milliseconds."""
    server, listener, hello = ready(options or Options())
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()
    try:
        yield hello
    finally:
        server.should_exit = True
        thread.join()


class _Server(uvicorn.Server):
    """uvicorn raises a caught signal again after a clean stop; a stop that was asked for ends 0."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        if threading.current_thread() is threading.main_thread():
            loop = asyncio.get_running_loop()
            for wish in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(wish, self.handle_exit, wish, None)
        yield


def ready(options: Options) -> tuple[uvicorn.Server, socket.socket, Hello]:
    """Everything but serving: from now on clients can connect, and are answered a moment later."""
    world, token = prepare(options)
    listener = _listen(options.host, options.port)
    world.url = f"http://{options.host}:{listener.getsockname()[1]}"
    application = Application(world, changed=_saver(options.state))
    if options.faults:
        _load_faults(application, options.faults)
    if options.state:
        storage.save(options.state, world)
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
    return _Server(config), listener, Hello(world.url, token)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only with the protocol spelled out does asyncio switch off Nagle's delay: 40 ms an answer.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise SandboxError(f"Cannot listen on {host}:{port}: {error.strerror}.") from error
    listener.listen(128)
    return listener


def _saver(path: Path | None) -> Callable[[World], None]:
    def save(world: World) -> None:
        if path:
            storage.save(path, world)

    return save


def _load_faults(application: Application, path: Path) -> None:
    try:
        application.faults.add(json.loads(path.read_text()))
    except (OSError, ValueError, FaultError) as error:
        raise SandboxError(f"Cannot read faults from {path}: {error}.") from error
