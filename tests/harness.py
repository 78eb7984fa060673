"""The program on a real engine against a real API server, as one test sees it.

`Project` is a stack of its own with its own backend folder and namespace. Its `up`, `preview`,
`refresh` and `destroy` are the commands that a person would type, and hand back what the engine
said as data.
"""

import json
import os
import secrets
import shlex
import shutil
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import httpx
import psutil
import yaml
from pulumi import automation as auto
from pulumi.automation.errors import CommandError
from pulumi.automation.events import EngineEvent, StepEventMetadata

from sandbox.cluster import api, ports
from sandbox.cluster.layout import Layout
from sandbox.cluster.process import ClusterProcess
from sandbox.engine import Engine
from sandbox.paths import CHECKOUT, SandboxPaths

PROJECT = "coder-stack"
PASSWORD = f"{PROJECT}:initialPassword"
"""Every stack of the program has one, unless it is given a token."""
# What the engine does that changes nothing in the world.
_QUIET = {"same", "read", "refresh"}


def eventually(happens: Callable[[], object], seconds: float = 20) -> bool:
    """Whether it happens in time; looks often, so that nobody waits longer than it takes."""
    deadline = time.monotonic() + seconds
    while not happens():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def processes_in(folder: Path) -> list[str]:
    """Every process whose command line names that folder, however it was started.

    But the guard of a test's cluster: it ends by itself a moment after the folder is gone.
    """
    return sorted(
        str(process.info["name"])
        for process in psutil.process_iter(["name", "cmdline"])
        if any(str(folder) in word for word in process.info["cmdline"] or [])
        and "sandbox.cluster.guard" not in process.info["cmdline"]
    )


@dataclass(frozen=True)
class Cluster:
    """The API server, and a way to look and act behind Pulumi's back."""

    kubeconfig: Path

    @contextmanager
    def http(self) -> Iterator[httpx.Client]:
        with api.client(self.kubeconfig) as client:
            yield client

    def get(self, path: str) -> dict[str, Any] | None:
        """The object, or None if the API server says that it is not there."""
        with self.http() as http:
            answer = http.get(path)
            if answer.status_code == httpx.codes.NOT_FOUND:
                return None
            answer.raise_for_status()
            return answer.json()

    def names(self, path: str) -> list[str]:
        listed = self.get(path)
        assert listed is not None, path
        return [item["metadata"]["name"] for item in listed["items"]]

    def patch(self, path: str, change: dict[str, Any], manager: str = "kubectl-set") -> None:
        """As a person with kubectl would: a strategic merge under another manager's name."""
        with self.http() as http:
            http.patch(
                path,
                json=change,
                params={"fieldManager": manager},
                headers={"Content-Type": "application/strategic-merge-patch+json"},
            ).raise_for_status()

    def create(self, path: str, content: dict[str, Any]) -> None:
        with self.http() as http:
            http.post(path, json=content).raise_for_status()

    def delete(self, path: str) -> None:
        with self.http() as http:
            http.delete(path).raise_for_status()


@dataclass(frozen=True)
class OwnCluster(Cluster):
    """A cluster whose API server may be killed."""

    home: SandboxPaths
    programs: dict[str, Path]

    def kill_api_server(self) -> None:
        """Kill it and start it again, as a kubelet does."""
        process = self._api_server.process()
        if process is not None:
            process.kill()
            assert eventually(lambda: self._api_server.process() is None)
        self._start_api_server()

    def wait(self) -> None:
        """Until it answers again."""
        with api.client(self.kubeconfig) as http:
            assert eventually(lambda: api.is_ready(http) or self._start_again(), 90)

    @property
    def _api_server(self) -> ClusterProcess:
        return ClusterProcess("kube-apiserver", self.home.cluster)

    def _start_again(self) -> bool:
        """If it could not listen: meanwhile its port may have been somebody's for a moment."""
        if self._api_server.process() is None:
            self._start_api_server()
        return False

    def _start_api_server(self) -> None:
        known = ports.load(self.home.cluster)
        layout = Layout(self.home.cluster, known, self.programs)
        self._api_server.start(layout.command(self._api_server.name))


@dataclass(frozen=True)
class Step:
    """One thing the engine does or would do to one resource."""

    op: str
    type: str
    name: str
    properties: dict[str, str]
    """Path → kind of difference, as the engine's detailed diff has it."""

    @classmethod
    def of(cls, metadata: StepEventMetadata) -> "Step":
        return cls(
            op=str(metadata.op.value),
            type=metadata.type,
            name=metadata.urn.split("::")[-1],
            properties={
                path: str(difference.diff_kind.value)
                for path, difference in (metadata.detailed_diff or {}).items()
            },
        )


@dataclass
class Outcome:
    """What one engine operation did and printed."""

    steps: list[Step] = field(default_factory=list[Step])
    text: str = ""
    events: list[str] = field(default_factory=list[str])
    """Everything the engine told, as JSON: to be searched for what must not be in it."""

    @property
    def changes(self) -> list[Step]:
        """The steps that are not about leaving things as they are."""
        return [step for step in self.steps if step.op not in _QUIET]

    def of_kind(self, kind: str) -> list[Step]:
        """Changes of resources of one kind, e.g. `Deployment`."""
        return [step for step in self.changes if step.type.split(":")[-1] == kind]


@dataclass
class Project:
    """The program as one stack."""

    stack: auto.Stack
    cluster: Cluster
    """Not there if the test brought a program that needs none."""
    namespace: str
    folder: Path
    environment: dict[str, str]
    coderd_url: str = ""

    @classmethod
    def create(
        cls,
        engine: Engine,
        cluster: Cluster | None,
        folder: Path,
        program: str | None = None,
        coderd_url: str = "",
        name: str = "",
    ) -> "Project":
        """`program` is the text of another `__main__.py`; what it needs of config, it is given.

        `coderd_url` is where the pods' coderd is played: containers do not really run here.
        `name` is the stack's and the namespace's; a random one keeps tests apart.
        """
        work = folder / "project"
        work.mkdir()
        # A folder of its own, since Pulumi writes the stack's config file beside Pulumi.yaml.
        shutil.copy(CHECKOUT / "Pulumi.yaml", work)
        for part in ("__main__.py", "coder_stack"):
            if part != "__main__.py" or program is None:
                (work / part).symlink_to(CHECKOUT / part)
        _lay_environment(work / ".venv")
        if program is not None:
            (work / "__main__.py").write_text(program)
        home = SandboxPaths(folder / "home")
        home.state.mkdir(parents=True)
        environment = engine.variables(home, os.environ["PATH"])
        name = name or f"t-{secrets.token_hex(4)}"
        if program is None:
            (work / f"Pulumi.{name}.yaml").write_text(_with_password())
        stack = auto.create_stack(
            stack_name=name,
            work_dir=str(work),
            opts=auto.LocalWorkspaceOptions(env_vars=environment, pulumi_home=str(home.pulumi)),
        )
        project = cls(stack, cluster or Cluster(Path()), name, work, environment, coderd_url)
        if program is None:
            project.configure()
        return project

    @property
    def config_file(self) -> Path:
        return self.folder / f"Pulumi.{self.stack.name}.yaml"

    def configure(self, control_plane: dict[str, Any] | None = None, **others: Any) -> None:
        """Replace the stack's config; cluster and namespace are this test's own unless given.

        Secrets stay.
        """
        content = yaml.safe_load(self.config_file.read_text()) if self.config_file.exists() else {}
        secrets = {
            k: v
            for k, v in content.get("config", {}).items()
            if isinstance(v, dict) and "secure" in v
        }
        settings = {
            "kubernetes": {"kubeconfig": str(self.cluster.kubeconfig)},
            "controlPlane": {"namespace": self.namespace, **(control_plane or {})},
            "access": {"url": self.coderd_url},
            **others,
        }
        plain = {f"{PROJECT}:{key}": value for key, value in settings.items()}
        access = settings["access"]
        if f"{PROJECT}:token" in secrets or {"tokenSecret", "passwordSecret"} & access.keys():
            secrets.pop(PASSWORD, None)
        content["config"] = {**plain, **secrets}
        self.config_file.write_text(yaml.safe_dump(content))

    def forget_password(self) -> None:
        """Take the first user's password out of the config, as a stack with a token has it."""
        content = yaml.safe_load(self.config_file.read_text())
        if content.get("config", {}).pop(PASSWORD, None):
            self.config_file.write_text(yaml.safe_dump(content))

    def up(self, *, refresh: bool = False) -> Outcome:
        return self._run("up", "--yes", "--skip-preview", *_refreshing(refresh))

    def preview(self, *, refresh: bool = False) -> Outcome:
        return self._run("preview", "--diff", *_refreshing(refresh))

    def refresh(self) -> Outcome:
        return self._run("refresh", "--yes", "--skip-preview", "--run-program")

    def destroy(self) -> Outcome:
        return self._run("destroy", "--yes", "--skip-preview")

    def outputs(self) -> dict[str, Any]:
        return json.loads(self.pulumi("stack", "output", "--json", "--show-secrets").stdout)

    def state(self) -> dict[str, Any]:
        """The deployment as the backend keeps it, with its secrets decrypted and marked."""
        exported = self.pulumi("stack", "export", "--show-secrets").stdout
        return json.loads(exported)["deployment"] or {}

    def pulumi(self, *arguments: str, on_output: Callable[[str], object] | None = None) -> Any:
        """One command line, as the Automation API runs it; it raises CommandError."""
        workspace = self.stack.workspace
        return workspace.pulumi_command.run(
            [*arguments, "--stack", self.stack.name, "--non-interactive"],
            workspace.work_dir,
            {
                **workspace.env_vars,
                "PULUMI_HOME": str(workspace.pulumi_home),
                "PULUMI_DEBUG_COMMANDS": "true",  # knows --event-log
            },
            on_output,
        )

    def path(self, kind: str, name: str = "") -> str:
        """The API path of an object in this stack's namespace."""
        group = {"deployments": "/apis/apps/v1", "roles": "/apis/rbac.authorization.k8s.io/v1"}
        group["rolebindings"] = group["roles"]
        group["ingresses"] = "/apis/networking.k8s.io/v1"
        group["httproutes"] = "/apis/gateway.networking.k8s.io/v1"
        group["servicemonitors"] = "/apis/monitoring.coreos.com/v1"
        base = f"{group.get(kind, '/api/v1')}/namespaces/{self.namespace}/{kind}"
        return f"{base}/{name}" if name else base

    def clean_up(self) -> None:
        """Leave nothing in the shared cluster; a test that destroyed its stack leaves no work."""
        namespace = f"/api/v1/namespaces/{self.namespace}"
        if self.cluster.get(namespace):
            self.cluster.delete(namespace)

    def attempt(self, *command: str) -> tuple[Outcome, CommandError | None]:
        """One engine operation, and what it failed with, if it did.

        Not `stack.up()` and its kin: each of those starts three more processes afterwards.
        """
        log = self.folder / "events.jsonl"
        log.unlink(missing_ok=True)
        lines: list[str] = []
        failure: CommandError | None = None
        options = ("--color", "never", "--event-log", str(log))
        try:
            self.pulumi(*command, *options, on_output=lines.append)
        except CommandError as error:
            failure = error
        events = log.read_text().splitlines() if log.exists() else []
        outcome = Outcome(text="\n".join(lines), events=events)
        for line in events:
            event = EngineEvent.from_json(json.loads(line))
            if event.resource_pre_event:
                outcome.steps.append(Step.of(event.resource_pre_event.metadata))
        return outcome, failure

    def _run(self, *command: str) -> Outcome:
        outcome, failure = self.attempt(*command)
        if failure:
            raise failure
        return outcome


@cache
def _with_password() -> str:
    """A stack's config with the sandbox's password: tests have its passphrase, too."""
    sandbox = yaml.safe_load((CHECKOUT / "Pulumi.sandbox.yaml").read_text())
    salt = {"encryptionsalt": sandbox["encryptionsalt"]}
    return yaml.safe_dump({**salt, "config": {PASSWORD: sandbox["config"][PASSWORD]}})


def _lay_environment(folder: Path) -> None:
    """The checkout's environment, which answers one question from memory.

    Before each command Pulumi lists all packages with pip, which takes longer than the rest of its
    start: a fifth of the time of all engine tests. The newcomer's test has no such short cut.
    """
    environment = CHECKOUT / ".venv"
    folder.mkdir()
    for name in ("lib", "pyvenv.cfg"):
        (folder / name).symlink_to(environment / name)
    (folder / "bin").mkdir()
    listed = folder / "packages.json"
    listed.write_text(_packages())
    python = folder / "bin" / "python"
    python.write_text(
        "#!/bin/sh\n"
        f'if [ "$1 $2 $3" = "-m pip list" ]; then exec cat {shlex.quote(str(listed))}; fi\n'
        f'exec {shlex.quote(str(environment / "bin" / "python"))} "$@"\n'
    )
    python.chmod(0o755)
    (folder / "bin" / "python3").symlink_to("python")


@cache
def _packages() -> str:
    listed = [
        {
            "name": each.name,
            "version": each.version,
            "location": str(each.locate_file("")),
            "installer": "pip",
        }
        for each in distributions(path=[sysconfig.get_path("purelib")])
    ]
    return json.dumps(listed)


def _refreshing(refresh: bool) -> tuple[str, ...]:
    return ("--refresh", "--run-program") if refresh else ()
