"""`coder-stack sandbox coderd` and `sandbox license`, as a user types them."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import jwt
import pytest

COMMAND = [sys.executable, "-m", "coder_stack.cli", "sandbox"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("wish", [signal.SIGTERM, signal.SIGINT])
def test_the_first_line_says_where_and_a_signal_ends_it_cleanly(wish: signal.Signals) -> None:
    command = [*COMMAND, "coderd", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        hello = json.loads(process.stdout.readline())
        assert set(hello) == {"url", "token"}
        headers = {"Coder-Session-Token": hello["token"]}
        licenses = httpx.get(f"{hello['url']}/api/v2/licenses", headers=headers).json()
        assert licenses[0]["claims"]["feature_set"] == "premium"
        process.send_signal(wish)
        assert process.wait(timeout=30) == 0
        assert process.stderr.read() == b""


def test_a_fresh_one_has_nobody_and_no_token() -> None:
    command = [*COMMAND, "coderd", "--port", "0", "--fresh", "--edition", "agpl"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        hello = json.loads(process.stdout.readline())
        assert hello["token"] is None
        assert httpx.get(f"{hello['url']}/api/v2/users/first").status_code == 404
        assert httpx.get(f"{hello['url']}/api/v2/entitlements").status_code == 404
        process.terminate()


def test_a_taken_port_is_one_clear_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run("coderd", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert done.stderr.startswith("error: Cannot listen on 127.0.0.1:")
    assert len(done.stderr.splitlines()) == 1


def test_faults_can_come_from_a_file(tmp_path: Path) -> None:
    faults = tmp_path / "faults.json"
    faults.write_text('[{"kind": "status", "status": 503, "path": "*/buildinfo"}]')
    command = [*COMMAND, "coderd", "--port", "0", "--faults", str(faults)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        url = json.loads(process.stdout.readline())["url"]
        statuses = [httpx.get(f"{url}/api/v2/buildinfo").status_code for _ in range(2)]
        process.terminate()
    assert statuses == [503, 200]


def test_a_faults_file_that_makes_no_sense_is_one_clear_sentence(tmp_path: Path) -> None:
    faults = tmp_path / "faults.json"
    faults.write_text('[{"kind": "flood"}]')
    done = run("coderd", "--port", "0", "--faults", str(faults))
    assert done.returncode == 1
    assert "Cannot read faults from" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_license_is_printed_with_what_was_asked_for() -> None:
    options = ["--days", "10", "--grace", "5", "--features", "user_limit=7,scim"]
    options += ["--set", "none", "--trial"]
    done = run("license", *options, "--jti", "0a0b0c0d-0000-4000-8000-000000000001")
    assert done.returncode == 0
    claims = jwt.decode(done.stdout.strip(), options={"verify_signature": False})
    assert claims["features"] == {"user_limit": 7, "scim": 1}
    assert (claims["feature_set"], claims["trial"]) == ("", True)
    assert claims["exp"] - claims["license_expires"] == 5 * 86400
    assert claims["jti"].startswith("0a0b0c0d")
