"""Killed, interrupted, run twice at once: a tool is there whole or not at all."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from sandbox.toolchain.platforms import this_platform
from tests.unit.toolchain.machines import (
    LINUX,
    Machine,
    clean_environment,
    executable,
    real_go,
    tiny_tool,
)
from tests.unit.toolchain.vendor_site import SCRIPT, Site, serving, sums, tar_gz, zipped

CHECKOUT = Path(__file__).parents[3]
ETCD = "/github.com/etcd-io/etcd/releases/download/v3.6.8"
ENSURE_ETCD = "from sandbox.toolchain import ensure; print(ensure(['etcd'])['etcd'].path)"


@contextmanager
def etcd_published() -> Generator[Site]:
    """Etcd for the machine that runs the tests, on a site that stops half-way."""
    here = this_platform()
    pack, suffix = (zipped, ".zip") if here.os == "darwin" else (tar_gz, ".tar.gz")
    name = f"etcd-v3.6.8-{here}{suffix}"
    content = pack({f"etcd-v3.6.8-{here}/etcd": SCRIPT})
    with serving() as site:
        site.files[f"{ETCD}/{name}"] = content
        site.files[f"{ETCD}/SHA256SUMS"] = sums(**{name: content})
        site.held.add(f"{ETCD}/{name}")
        yield site


def ensure_etcd(machine: Machine, site: Site) -> subprocess.Popen[str]:
    """Start a process that installs etcd from the site."""
    return subprocess.Popen(
        [sys.executable, "-c", ENSURE_ETCD],
        cwd=CHECKOUT,
        env=clean_environment(
            CODER_STACK_CACHE=str(machine.cache),
            CODER_STACK_RELEASES=site.url,
            PATH=str(machine.bin),
        ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_kill_in_mid_download_leaves_no_tool_and_the_next_run_works(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    with etcd_published() as site:
        first = ensure_etcd(machine, site)
        assert site.half_sent.wait(30)
        first.kill()
        first.communicate()

        assert list((machine.cache / "staging").iterdir()), "the kill came in the middle"
        assert machine.toolchain().find("etcd") is None

        site.release()
        out, err = ensure_etcd(machine, site).communicate(timeout=60)

    assert Path(out.strip()).read_bytes() == SCRIPT, err
    assert list((machine.cache / "staging").iterdir()) == []


def test_two_runs_at_once_do_the_work_once_and_the_second_says_whom_it_waits_for(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path)
    with etcd_published() as site:
        first = ensure_etcd(machine, site)
        assert site.half_sent.wait(30)
        second = ensure_etcd(machine, site)
        assert second.stderr is not None
        waiting = second.stderr.readline()
        site.release()
        answers = [run.communicate(timeout=60)[0] for run in (first, second)]

    assert waiting == (
        f"toolchain: waiting for process {first.pid} (-c), which installs tools into "
        f"{machine.cache}\n"
    )
    assert answers[0] == answers[1]
    assert sum("SHA256SUMS" not in path for path in site.asked) == 1


@pytest.mark.parametrize("damage", ["manifest", "file", "executable"])
def test_a_tool_that_lost_a_part_is_installed_anew(damage: str, tmp_path: Path) -> None:
    """What a power failure or a careless hand may leave; a kill of the installer never does."""
    machine = Machine(tmp_path, platform=LINUX)
    stem = "etcd-v3.6.8-linux-amd64"
    content = tar_gz({f"{stem}/etcd": SCRIPT})
    with serving() as site:
        machine.releases_root = site.url
        site.files[f"{ETCD}/{stem}.tar.gz"] = content
        site.files[f"{ETCD}/SHA256SUMS"] = sums(**{f"{stem}.tar.gz": content})
        installed = machine.toolchain().ensure(["etcd"])["etcd"]
        match damage:
            case "manifest":
                (installed.path.parents[1] / "manifest.json").write_text("{")
            case "file":
                installed.path.write_bytes(b"")
            case _:
                installed.path.unlink()

        assert machine.toolchain().find("etcd") is None
        assert machine.toolchain().ensure(["etcd"])["etcd"] == installed

    assert installed.path.read_bytes() == SCRIPT


class MidBuild:
    """A build that hangs in `go build`, in a process of its own."""

    def __init__(self, root: Path) -> None:
        self.machine = Machine(root)
        self.machine.modules = root / "modules"
        self.machine.catalogue = {"tiny": tiny_tool(self.machine.modules)}
        told = root / "told"
        os.mkfifo(told)
        hanging = executable(
            root / "hanging-go",
            f"""[ "$1" = build ] || exec {real_go()} "$@"
            trap '' TERM
            sleep 600 & echo "$$ $!" > {told}; wait; wait""",
        )
        (self.machine.bin / "go").symlink_to(hanging)
        self.run = subprocess.Popen(
            [sys.executable, "-m", "tests.unit.toolchain.install_tiny", str(root)],
            cwd=CHECKOUT,
            env=clean_environment(PATH=f"{self.machine.bin}:{os.environ['PATH']}"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        # Opening the pipe waits until the build has begun and hangs.
        self.children = [psutil.Process(int(pid)) for pid in told.read_text().split()]

    def __enter__(self) -> "MidBuild":
        return self

    def __exit__(self, *_: object) -> None:
        for process in (self.run, *self.children):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.run.communicate()

    def with_another_go(self) -> Machine:
        """The same machine, with a Go that builds."""
        (self.machine.bin / "go").unlink()
        self.machine.has_scripted_go()
        return self.machine


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, -2)]
)
def test_an_interrupted_run_takes_its_build_along(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    with MidBuild(tmp_path) as build:
        build.run.send_signal(number)
        build.run.wait(timeout=60)

        assert build.run.returncode == code
        gone, alive = psutil.wait_procs(build.children, timeout=10)
        assert (len(gone), alive) == (2, [])
    assert list((build.machine.cache / "staging").iterdir()) == []
    assert build.with_another_go().toolchain().ensure(["tiny"])["tiny"].source == "build"


def test_after_a_kill_in_mid_build_the_next_run_works_and_cleans_up(tmp_path: Path) -> None:
    with MidBuild(tmp_path) as build:
        build.run.kill()
        build.run.wait()
        machine = build.machine
        (machine.bin / "go").unlink()
        machine.has_go()
        assert (machine.cache / "go").exists(), "the kill came in the middle"
        assert all(child.is_running() for child in build.children), "the orphans go on"

        installed = machine.toolchain().ensure(["tiny"])["tiny"]

    assert installed.source == "build"
    assert not (machine.cache / "go").exists()
    assert list((machine.cache / "staging").iterdir()) == []


def test_go_caches_of_a_killed_run_are_removed_by_the_next_although_all_is_installed(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path)
    machine.modules = tmp_path / "modules"
    machine.catalogue = {"tiny": tiny_tool(machine.modules)}
    machine.has_scripted_go()
    machine.toolchain().ensure(["tiny"])
    module = machine.cache / "go" / "mod" / "example.test@v1"
    module.mkdir(parents=True)
    (module / "go.mod").write_text("module example.test\n")
    module.chmod(0o500)

    machine.toolchain().ensure(["tiny"])

    assert not (machine.cache / "go").exists()
    assert list((machine.cache / "staging").iterdir()) == []


def test_nothing_is_said_when_everything_is_there(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.modules = tmp_path / "modules"
    machine.catalogue = {"tiny": tiny_tool(machine.modules)}
    machine.has_scripted_go()
    machine.toolchain().ensure(["tiny"])
    machine.log.truncate(0)
    machine.log.seek(0)

    machine.toolchain().ensure(["tiny"])

    assert machine.log.getvalue() == ""
