"""`coder-stack watch` of a test's stack; what it says is searched for secrets later."""

import base64
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import psutil

from sandbox.watcher.process import WatchProcess
from sandbox.watcher.process import watching as watching_in
from tests import warm_python
from tests.engine.operated import Operated
from tests.engine_project import PROJECT
from tests.http_server import QuietHandler, serve

KEYS = "/api/v2/organizations/coder/provisionerkeys"
SECONDS = 240
"""More than any engine run takes on a busy machine."""


@contextmanager
def watching(stack: Operated, *options: str) -> Iterator[WatchProcess]:
    """Run a watcher until the block ends."""
    project = stack.project
    words = ("--stack", project.stack.name, *options)
    environment = {**os.environ, **project.environment}
    python = warm_python.interpreter()
    with watching_in(
        words, folder=project.folder, environment=environment, python=python
    ) as watcher:
        try:
            yield watcher
        finally:
            if watcher.process.poll() is None:
                watcher.terminate()
            stack.said.append(watcher.text)


def port_of(watcher: WatchProcess) -> int:
    """Return where it serves its pages."""
    return int(watcher.said("serving on port", seconds=30).text.rpartition(" ")[2])


def page(port: int, path: str) -> httpx.Response:
    """Return what a watcher serves."""
    return httpx.get(f"http://127.0.0.1:{port}{path}", trust_env=False)


def is_watching(watcher: WatchProcess) -> None:
    """Wait for the end of a check that found nothing, or has repaired it."""
    watcher.said("checked: clean", seconds=SECONDS)


@contextmanager
def hearing(stack: Operated) -> Iterator[list[dict[str, Any]]]:
    """Give the stack a webhook, and yield what it is told."""
    heard: list[dict[str, Any]] = []

    class Webhook(QuietHandler):
        def do_POST(self) -> None:
            heard.append(json.loads(self.read_body()))
            self.reply(204, b"")

    with serve(Webhook) as port:
        stack.give("notifyUrl", f"http://127.0.0.1:{port}/hooks/never-to-be-seen")
        yield heard
        stack.project.stack.remove_config(f"{PROJECT}:notifyUrl")


def family(watcher: WatchProcess) -> list[psutil.Process]:
    """Return the watcher and everything that runs for it, parents first."""
    found = [psutil.Process(watcher.process.pid)]
    for each in found:
        with suppress(psutil.NoSuchProcess):
            found += [*warm_python.forked_for([each]), *each.children()]
    return found


def kill(processes: list[psutil.Process]) -> None:
    """End them as the kernel does, the first one first."""
    for each in processes:
        with suppress(psutil.NoSuchProcess):
            each.send_signal(signal.SIGKILL)


def scale(stack: Operated, replicas: int) -> None:
    """Change the Deployment, as somebody with kubectl would."""
    path = stack.project.path("deployments", "coder")
    stack.project.cluster.patch(path, {"spec": {"replicas": replicas}})


def replicas(stack: Operated) -> int:
    """Return how many the Deployment asks for."""
    found = stack.project.cluster.get(stack.project.path("deployments", "coder"))
    assert found is not None
    return found["spec"]["replicas"]


def backend(stack: Operated) -> Path:
    """Return the folder that keeps the state."""
    return Path(stack.project.environment["PULUMI_BACKEND_URL"].removeprefix("file://"))


def locks(stack: Operated) -> list[Path]:
    """Return the lock files in the backend."""
    return [*(backend(stack) / ".pulumi" / "locks").rglob("*.json")]


def has_a_working_key(stack: Operated, name: str = "eu") -> bool:
    """Tell whether coderd knows the key in the Secret of that provisioner."""
    path = stack.project.path("secrets", f"{name}-provisioner-key")
    secret = stack.project.cluster.get(path)
    if secret is None:
        return False
    material = base64.b64decode(secret["data"]["key"]).decode()
    return stack.coderd.key_of(material) is not None
