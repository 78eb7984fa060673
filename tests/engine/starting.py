"""A project of any name that somebody begins with, and the commands that they type in it.

Unlike tests/engine_project.py nothing is prepared: the stack, its config and its secrets are made
by the commands under test.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.engine import Engine
from sandbox.paths import CHECKOUT, SandboxPaths
from sandbox.pods import simulate_pods
from tests import warm_python
from tests.cluster_access import Cluster
from tests.project_environment import lay_environment
from tests.simulation import Simulation

Done = subprocess.CompletedProcess[str]
_LOGGING_PULUMI = """#!/bin/sh
echo "$@" >> {log}
exec {pulumi} "$@"
"""


@dataclass
class Beginner:
    """A folder with a project, a backend of its own, and a record of every `pulumi` command."""

    folder: Path
    environment: dict[str, str]
    log: Path
    said: list[str] = field(default_factory=list[str])

    def pulumi(self, *words: str, **environment: str) -> Done:
        return self._run("pulumi", *words, "--non-interactive", **environment)

    def coder_stack(self, *words: str, **environment: str) -> Done:
        return self._run(*warm_python.interpreter(), "-m", "coder_stack.cli", *words, **environment)

    def arguments(self) -> str:
        """Return the arguments of all `pulumi` commands, which everybody on a machine can read."""
        return self.log.read_text() if self.log.exists() else ""

    def states(self) -> str:
        """Return everything that the backend keeps."""
        backend = Path(self.environment["PULUMI_BACKEND_URL"].removeprefix("file://"))
        files = [path for path in backend.rglob("*") if path.is_file()]
        return "\n".join(path.read_text(errors="replace") for path in files)

    def _run(self, *command: str, **environment: str) -> Done:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        self.said += [done.stdout, done.stderr]
        return done


def begin(engine: Engine, folder: Path) -> Beginner:
    """Return an empty folder with Pulumi at hand, logged in to an empty backend."""
    work, home = folder / "work", SandboxPaths(folder / "home")
    for each in (work, home.state, folder / "bin"):
        each.mkdir(parents=True)
    program = folder / "bin" / "pulumi"
    log = folder / "arguments"
    program.write_text(_LOGGING_PULUMI.format(log=log, pulumi=engine.pulumi.path))
    program.chmod(0o755)
    variables = engine.variables(home, os.environ["PATH"])
    path = os.pathsep.join([str(program.parent), str(work / ".venv" / "bin"), variables["PATH"]])
    environment = {**os.environ, **variables, "PATH": path, "PYTHONPATH": str(CHECKOUT)}
    return Beginner(work, environment, log)


def with_program(beginner: Beginner, name: str = "coder-stack") -> Beginner:
    """Lay out the program as a project of that name."""
    folder = beginner.folder
    text = (CHECKOUT / "Pulumi.yaml").read_text()
    (folder / "Pulumi.yaml").write_text(text.replace("name: coder-stack", f"name: {name}", 1))
    for part in ("__main__.py", "coder_stack"):
        (folder / part).symlink_to(CHECKOUT / part)
    lay_environment(folder / ".venv")
    return beginner


def copy_checkout(folder: Path) -> None:
    """Copy the checkout's own files, as a clone has them."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    files = subprocess.check_output(listed, cwd=CHECKOUT, text=True)
    for name in filter(None, files.split("\0")):
        if (CHECKOUT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / name, folder / name)


def at_coderd(config_file: Path, coderd: Simulation) -> None:
    """Let the stack reach the simulated coderd by URL: no container runs in the cluster."""
    text = config_file.read_text()
    assert "throughApiServer: true" in text
    config_file.write_text(text.replace("throughApiServer: true", f"url: {coderd.url}"))


@contextmanager
def in_namespace(cluster: Cluster, coderd: Simulation, namespace: str) -> Iterator[None]:
    """Simulate the pods of that namespace, and delete it at the end."""
    with simulate_pods(cluster.kubeconfig, namespace, coderd.url):
        try:
            yield
        finally:
            path = f"/api/v1/namespaces/{namespace}"
            if cluster.get(path):
                cluster.delete(path)
