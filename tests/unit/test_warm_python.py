"""tests/warm_python: a forked process behaves to its starter as a plain interpreter would."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import psutil
import pytest

from tests import warm_python
from tests.waiting import eventually


def started(program: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*warm_python.interpreter(), "-u", str(program), *words],
        cwd=program.parent,
        env={**os.environ, "GREETING": "hello"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return tmp_path / "program.py"


def test_arguments_environment_folder_output_and_exit_code_are_the_programs(program: Path) -> None:
    program.write_text(
        "import os, sys\n"
        "print(sys.argv[1:], os.environ['GREETING'], os.getcwd(), __name__)\n"
        "sys.exit(7)\n"
    )
    process = started(program, "one", "two")
    assert process.communicate()[0] == f"['one', 'two'] hello {program.parent} __main__\n"
    assert process.returncode == 7


def test_an_uncaught_exception_is_shown_and_fails(program: Path) -> None:
    program.write_text("raise ValueError('no')\n")
    process = started(program)
    assert "ValueError: no" in process.communicate()[1]
    assert process.returncode == 1


@pytest.mark.parametrize(
    ("last", "code"),
    [
        ("", 0),
        ("sys.exit()", 0),
        ("sys.exit('gone')", 1),
        ("sys.exit(-1)", 255),
        ("raise KeyboardInterrupt", -signal.SIGINT),
    ],
)
def test_a_program_ends_as_with_python_after_what_it_does_at_exit(
    program: Path, last: str, code: int
) -> None:
    program.write_text(
        "import atexit, sys, threading, time\n"
        "atexit.register(print, 'at exit', end='')\n"
        "threading.Thread(target=lambda: (time.sleep(0.2), print('thread,', end=' '))).start()\n"
        f"{last}\n"
    )
    process = started(program)
    assert process.communicate()[0] == "thread, at exit"
    assert process.returncode == code


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_the_program(program: Path, number: signal.Signals) -> None:
    program.write_text(
        "import signal, sys\n"
        f"signal.signal({int(number)}, lambda *_: sys.exit(9))\n"
        "print('waiting')\n"
        "signal.pause()\n"
    )
    with started(program) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(number)
        assert process.wait(10) == 9


def test_whoever_kills_the_client_kills_the_program(program: Path) -> None:
    program.write_text("import os, signal\nprint(os.getpid())\nsignal.pause()\n")
    with started(program) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
        assert eventually(lambda: not psutil.pid_exists(pid))


def test_the_forked_process_is_found_by_its_client(program: Path) -> None:
    """So a test that kills a provider kills it at once, not only when the server notices."""
    program.write_text("import os, signal\nprint(os.getpid())\nsignal.pause()\n")
    with started(program) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        client = psutil.Process(process.pid)
        found = [each.pid for each in warm_python.forked_for([client])]
        assert found == ([pid] if warm_python.available() else [])
        process.kill()
    assert warm_python.forked_for([]) == []


def test_a_process_and_its_client_that_end_at_once_leave_the_server_running(program: Path) -> None:
    program.write_text("import os, signal\nprint(os.getpid())\nsignal.pause()\n")
    with started(program) as process:
        assert process.stdout is not None
        process.stdout.readline()
        for forked in warm_python.forked_for([psutil.Process(process.pid)]):
            server = forked.parent()
            assert server is not None
            server.suspend()  # so it learns of both in one go
            forked.kill()
            assert eventually(lambda it=forked: it.status() == psutil.STATUS_ZOMBIE)
            process.kill()
            process.wait()
            server.resume()
        process.kill()
    assert_it_runs(program)


def test_a_client_that_is_killed_before_it_asks_leaves_the_server_running(program: Path) -> None:
    if warm_python.available():
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(warm_python.address())
    assert_it_runs(program)


def assert_it_runs(program: Path) -> None:
    program.write_text("print('still there')\n")
    assert started(program).communicate()[0] == "still there\n"
