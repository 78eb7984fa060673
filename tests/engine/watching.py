"""`coder-stack watch` of a test's stack; what it says is searched for secrets later."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from sandbox.watcher.process import WatchProcess
from sandbox.watcher.process import watching as watching_in
from tests import warm_python
from tests.engine.operated import Operated


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
