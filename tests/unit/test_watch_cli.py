"""`coder-stack watch`: what is refused at once, in one sentence each (N1)."""

import json
import socket
import stat
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from coder_stack.cli import command
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.watch.lease import Lease
from coder_stack.operate.watch.watcher import Watcher
from sandbox.paths import CHECKOUT
from tests.waiting import eventually

EXPORTED = CHECKOUT / "tests/engine/earlier_stack/state.json"
URL = "https://hooks.example.com/services/never-to-be-seen"
PULUMI = """#!/bin/sh
case "$*" in
  *version*) echo v3.220.0 ;;
  *whoami*) echo '{"url": "s3://states"}' ;;
  *"stack ls"*) echo '[{"name": "dev", "current": true}]' ;;
  *"config get acme:notifyUrl"*) cat url.json ;;
  *"config --json --stack slow"*) until [ -f answer ]; do sleep 0.05; done; echo '{}' ;;
  *"config --json --stack"*) cat config.json ;;
  *"stack export --stack dev"*) cat exported.json ;;
  *"stack export --stack slow"*) echo '{"version": 3, "deployment": null}' ;;
  *"stack export --stack nobody"*) echo "error: no stack named 'nobody' found" >&2; exit 1 ;;
  *) echo "unexpected: $*" >&2; exit 1 ;;
esac
"""
app = command()


class Folder:
    """A project `acme` with a stack `dev`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def configure(self, *secrets: str, **settings: Any) -> None:
        plain = {f"acme:{k}": {"value": json.dumps(v)} for k, v in settings.items()}
        encrypted = {f"acme:{key}": {"secret": True} for key in secrets}
        (self.path / "config.json").write_text(json.dumps({**plain, **encrypted}))

    def watch(self, *words: str) -> Result:
        return CliRunner().invoke(app, ["watch", "--cwd", str(self.path), *words])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    program = tmp_path / "bin" / "pulumi"
    program.parent.mkdir()
    program.write_text(PULUMI)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    (tmp_path / "Pulumi.yaml").write_text("name: acme\nruntime: python\n")
    (tmp_path / "exported.json").write_text(EXPORTED.read_text())
    (tmp_path / "url.json").write_text(json.dumps({"value": URL, "secret": True}))
    found = Folder(tmp_path)
    found.configure()
    return found


def refused(result: Result) -> str:
    """Return the first line on stderr of a command that failed."""
    assert result.exit_code == 1
    first, *rest = result.stderr.rstrip().splitlines()
    assert all(each.startswith("  next: ") for each in rest)
    return first


@pytest.mark.parametrize("interval", ["4", "0", "-1"])
def test_N1_an_interval_below_five_seconds_is_one_sentence(folder: Folder, interval: str) -> None:
    sentence = refused(folder.watch("--interval", interval))
    assert sentence == f"error: --interval is {interval}; it must be at least 5 seconds."


@pytest.mark.parametrize(
    "option", [("--interval", "99999"), ("--full-look-every", "6"), ("--full-look-every", "0h")]
)
def test_N1_other_bad_options_are_one_sentence(folder: Folder, option: tuple[str, str]) -> None:
    sentence = refused(folder.watch(*option))
    assert sentence.startswith("error: --interval or --full-look-every is wrong (")


def test_N1_a_bad_interval_in_the_config_is_a_mistake_with_its_path(folder: Folder) -> None:
    folder.configure(watch={"interval": 3})
    result = folder.watch()
    assert result.exit_code == 1
    assert "watch.interval" in result.stderr


def test_N1_a_stack_that_does_not_exist_is_one_sentence(folder: Folder) -> None:
    sentence = refused(folder.watch("--stack", "nobody"))
    assert sentence == (
        "error: There is no stack `nobody` in this backend. Stacks of this project: `dev`."
    )


def test_N1_a_stack_without_outputs_is_one_sentence(folder: Folder) -> None:
    (folder.path / "exported.json").write_text('{"version": 3, "deployment": {}}')
    result = folder.watch("--stack", "dev")
    assert refused(result) == (
        "error: The stack `dev` has no outputs, so there is nothing to watch yet."
    )
    assert "pulumi up --stack dev" in result.stderr


def test_N3_pages_are_served_before_the_backend_answers(folder: Folder) -> None:
    """A pod that is killed for its silence starts again and tells nobody."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    pages = dict[str, int]()

    def look() -> None:
        def status(path: str) -> int:
            return httpx.get(f"http://127.0.0.1:{port}{path}", trust_env=False).status_code

        def is_served() -> bool:
            try:
                pages.update({path: status(path) for path in ("/healthz", "/readyz", "/metrics")})
            except httpx.TransportError:
                return False
            return True

        try:
            eventually(is_served)
        finally:
            (folder.path / "answer").touch()

    looking = threading.Thread(target=look)
    looking.start()
    result = folder.watch("--stack", "slow", "--listen", f"127.0.0.1:{port}")
    looking.join()
    assert pages == {"/healthz": 200, "/readyz": 503, "/metrics": 200}
    assert "error: The stack `slow` has no outputs" in result.stderr


@pytest.fixture
def leases(monkeypatch: pytest.MonkeyPatch) -> list[Lease]:
    """The Leases that a watcher asks for, before it ends at once."""
    found = list[Lease]()

    def acquire(lease: Lease, *_: object) -> bool:
        found.append(lease)
        return True

    def start(*_: object) -> None:
        raise OperationError("enough")

    monkeypatch.setattr(Lease, "acquire", acquire)
    monkeypatch.setattr(Watcher, "start", start)
    return found


def test_N1_a_stack_in_other_clusters_only_has_its_lease_there(
    folder: Folder, leases: list[Lease]
) -> None:
    text = EXPORTED.read_text()
    (folder.path / "exported.json").write_text(text.replace("::coder-cluster", "::x@us"))
    folder.watch("--stack", "dev")
    (lease,) = leases
    assert lease.namespace == "earlier"
    assert Path(lease.cluster.kubeconfig or "").is_absolute()


def test_N1_a_stack_without_objects_says_that_it_has_no_lease(
    folder: Folder, leases: list[Lease]
) -> None:
    exported = json.loads(EXPORTED.read_text())
    deployment = exported["deployment"]
    deployment["resources"] = [
        each for each in deployment["resources"] if "kubernetes:" not in each["type"]
    ]
    (folder.path / "exported.json").write_text(json.dumps(exported))
    result = folder.watch("--stack", "dev")
    assert leases == []
    assert (
        "==> no Lease, as the stack has no Kubernetes objects: start one watcher only"
        in result.stderr
    )


def test_N3_a_bad_address_is_one_sentence(folder: Folder) -> None:
    assert "--listen is `nowhere`" in refused(folder.watch("--listen", "nowhere"))


def test_N2_a_bad_webhook_is_one_sentence_without_it(folder: Folder) -> None:
    folder.configure("notifyUrl", notify={"format": "slack"})
    (folder.path / "url.json").write_text(json.dumps({"value": "hush-hush", "secret": True}))
    result = folder.watch()
    assert refused(result).startswith("error: The secret config `notifyUrl` must be an https URL")
    assert "hush-hush" not in result.output


def test_N2_a_webhook_without_a_url_is_a_mistake_with_the_command(folder: Folder) -> None:
    folder.configure(notify={"format": "slack"})
    result = folder.watch()
    assert refused(result) == "error: The config has `notify`, but no `notifyUrl`."
    assert "pulumi config set --secret notifyUrl --stack dev" in result.stderr
