"""One server of each kind per run, started when the first test asks for it.

The simulation answers as the version of the real servers does (sandbox/coderd/rules/versions.py).
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from sandbox.toolchain.chosen import chosen_catalogue, servers_of
from tests.contract import postgres, servers
from tests.contract.servers import Server

SIMULATED, REAL = "simulated", "real"
SIMULATED_AGPL, REAL_AGPL = "simulated-agpl", "real-agpl"
ENTERPRISE = (SIMULATED, REAL)
AGPL = (SIMULATED_AGPL, REAL_AGPL)

# What a parameter of these fixtures needs: a server, or a pair of them (test_same_answers.py).
FIXTURES = ("server", "enterprise", "agpl", "real_enterprise", "real_agpl", "pair")
NEEDS = {REAL: "coder", "enterprise": "coder", REAL_AGPL: "coder-agpl", "agpl": "coder-agpl"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what runs on a server that the chosen version of Coder does not have (V3).

    The default version has them all, so `make test` leaves out nothing.
    """
    left_out = [item for item in items if _needed(item) - {*servers_of(os.environ)}]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def _needed(item: pytest.Item) -> set[str]:
    call = getattr(item, "callspec", None)
    params = [call.params[each] for each in FIXTURES if each in call.params] if call else []
    return {NEEDS[each] for each in params if each in NEEDS}


class Pool:
    """Servers by name; a started one is handed out again."""

    def __init__(self, stack: contextlib.ExitStack, home: pytest.TempPathFactory) -> None:
        self._stack = stack
        self._home = home
        self._running: dict[str, Server] = {}
        self._postgres: postgres.Postgres | None = None

    def get(self, name: str) -> Server:
        """The server of that name."""
        if name not in self._running:
            self._running[name] = self._stack.enter_context(self._starters()[name]())
        return self._running[name]

    def _starters(self) -> dict[str, Callable[[], AbstractContextManager[Server]]]:
        version = chosen_catalogue(os.environ)["coder-agpl"].version
        bare = ("--fresh", "--unlicensed", "--version", f"v{version}+simulated")
        return {
            SIMULATED: lambda: servers.simulated(*bare),
            SIMULATED_AGPL: lambda: servers.simulated(
                *bare, "--edition", "agpl", name=SIMULATED_AGPL
            ),
            REAL: lambda: self._real("enterprise", REAL),
            REAL_AGPL: lambda: self._real("agpl", REAL_AGPL),
        }

    def _real(self, edition: str, name: str) -> AbstractContextManager[Server]:
        if self._postgres is None:
            self._postgres = self._stack.enter_context(postgres.running())
        home = self._home.mktemp("coderd") / edition
        return servers.real(edition, self._postgres, home, name)


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    with contextlib.ExitStack() as stack:
        yield Pool(stack, tmp_path_factory)


@pytest.fixture(params=[*ENTERPRISE, *AGPL])
def server(request: pytest.FixtureRequest, pool: Pool) -> Server:
    """Every server in turn: what holds in both editions."""
    return pool.get(request.param)


@pytest.fixture(params=ENTERPRISE)
def enterprise(request: pytest.FixtureRequest, pool: Pool) -> Server:
    """The enterprise build without a license."""
    return pool.get(request.param)


@pytest.fixture(params=AGPL)
def agpl(request: pytest.FixtureRequest, pool: Pool) -> Server:
    """The AGPL build."""
    return pool.get(request.param)


@pytest.fixture(params=[REAL])
def real_enterprise(request: pytest.FixtureRequest, pool: Pool) -> Server:
    """The real enterprise build, for what needs its other commands."""
    return pool.get(request.param)


@pytest.fixture(params=[REAL_AGPL])
def real_agpl(request: pytest.FixtureRequest, pool: Pool) -> Server:
    """The real AGPL build, for what is written into its database."""
    return pool.get(request.param)


@pytest.fixture(params=["simulation-only"])
def licensed() -> Iterator[Server]:
    """A licensed simulation of its own: these tests change its license and its clock."""
    with servers.licensed() as fresh:
        yield fresh
