"""One cluster and one engine for a whole test run, shared by its workers.

Both are made ready when first needed. The cluster lives in a temporary folder of its own; it is
stopped when the run ends, and by a guard process if the run is killed.
"""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from sandbox import cluster as sandbox_cluster
from sandbox.engine import Engine
from sandbox.paths import SandboxPaths
from sandbox.toolchain import CLUSTER, ensure
from tests.cluster_access import Cluster, OwnCluster
from tests.custom_kinds import install
from tests.engine_project import Project
from tests.reports import RUN_FOLDER, kept
from tests.simulation import simulated

_FOLDER = RUN_FOLDER
_OWNER = "CODER_STACK_TEST_RUN_PID"
# Minutes each, on one worker: whatever begins last is waited for by all others.
_LONGEST = ("tests/engine/test_crashes.py", "tests/contract/", "tests/engine/test_clusters.py")


# The same examples on every run, however slow the machine. To look further:
# --hypothesis-profile=explore
settings.register_profile(
    "steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile("steady")


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts what it runs in the background deaf to interrupts, and so are its children.
    # Pulumi ends each of its plugins with an interrupt, and waits five seconds for a deaf one.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # The engine and most servers end before tidying up their memory pays. The limit bounds those
    # that live long.
    os.environ.setdefault("GOGC", "400")
    os.environ.setdefault("GOMEMLIMIT", "1GiB")
    if not _is_worker(config):
        os.environ[_FOLDER] = tempfile.mkdtemp(prefix="coder-stack-test-")
        os.environ[_OWNER] = str(os.getpid())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, then with what stays on one worker."""
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    turns = (turn for turn, path in enumerate(_LONGEST) if item.nodeid.startswith(path))
    return next(turns, len(_LONGEST) + (item.get_closest_marker("xdist_group") is None))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for title, text in kept().items():
        terminalreporter.write_sep("=", title)
        terminalreporter.write_line(text)


def pytest_unconfigure(config: pytest.Config) -> None:
    if not _is_worker(config):
        folder = Path(os.environ.pop(_FOLDER))
        sandbox_cluster.down(SandboxPaths(folder))
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """The real API server of this test run."""
    home = SandboxPaths(Path(os.environ[_FOLDER]))
    programs = {name: tool.path for name, tool in ensure(CLUSTER).items()}
    sandbox_cluster.stop_after_process(home, int(os.environ[_OWNER]))
    return Cluster(sandbox_cluster.up(home, programs, say=lambda _: None))


@pytest.fixture(scope="session")
def extended_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """An API server that knows HTTPRoute, ServiceMonitor and Cluster; xdist_group("extended").

    One of its own, since what the other one does not know is part of other tests.
    """
    with _own_cluster(tmp_path_factory.mktemp("extended")) as extended:
        install(extended)
        yield extended


@pytest.fixture(scope="session")
def mortal_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCluster]:
    """One whose API server may be killed; one for each worker, so a file's tests are a group."""
    with _own_cluster(tmp_path_factory.mktemp("mortal")) as mortal:
        yield mortal


@contextmanager
def _own_cluster(folder: Path) -> Iterator[OwnCluster]:
    home = SandboxPaths(folder)
    programs = {name: tool.path for name, tool in ensure(CLUSTER).items()}
    sandbox_cluster.stop_after_process(home, int(os.environ[_OWNER]))
    kubeconfig = sandbox_cluster.up(home, programs, say=lambda _: None)
    yield OwnCluster(kubeconfig, home, programs)
    sandbox_cluster.down(home)


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The Pulumi engine; also put on this process's PATH, where the Automation API looks for it."""
    engine = Engine.ready()
    os.environ["PATH"] = engine.path(os.environ["PATH"])
    return engine


@pytest.fixture
def project(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Project]:
    """The program as one stack of its own: own backend, own namespace, and a fresh coderd."""
    with simulated(fresh=True) as coderd:
        project = Project.create(engine, cluster, tmp_path, coderd_url=coderd.url)
        yield project
        project.clean_up()
