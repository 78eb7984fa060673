"""The program on a real engine against a real API server, as one test sees it.

`up`, `preview`, `refresh` and `destroy` of a `Project` run the commands that a person would type,
and return what the engine said as data.
"""

import json
import os
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pulumi import automation as auto
from pulumi.automation.errors import CommandError
from pulumi.automation.events import EngineEvent

from coder_stack.operate.engine.recorded_outputs import STACK, recorded_outputs
from sandbox.engine import Engine
from sandbox.paths import CHECKOUT, SandboxPaths
from tests.cluster_access import Cluster
from tests.engine_outcome import Outcome, Step
from tests.file_backend import CopyingWorkspace, backend_folder, deployment, shared_salt
from tests.project_environment import lay_environment
from tests.pulumi_secrets import PulumiSecrets, plain

PROJECT = "coder-stack"
PASSWORD = f"{PROJECT}:initialPassword"
"""Every stack of the program has one, unless it is given a token."""


@dataclass
class Project:
    """The program as one stack, with its own backend folder and namespace."""

    stack: auto.Stack
    cluster: Cluster
    """Has no kubeconfig if the test's program needs no cluster."""
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
        """Create the stack; it is not deployed yet.

        `program` is the text of another `__main__.py`, which the test configures itself.
        `coderd_url` is the simulated coderd that stands in for the pods: no container runs.
        `name` is the stack's and the namespace's; a random one keeps tests apart.
        """
        work = folder / "project"
        work.mkdir()
        # A folder of its own, since Pulumi writes the stack's config file beside Pulumi.yaml.
        shutil.copy(CHECKOUT / "Pulumi.yaml", work)
        for part in ("__main__.py", "coder_stack"):
            if part != "__main__.py" or program is None:
                (work / part).symlink_to(CHECKOUT / part)
        lay_environment(work / ".venv")
        if program is not None:
            (work / "__main__.py").write_text(program)
        home = SandboxPaths(folder / "home")
        home.state.mkdir(parents=True)
        environment = engine.variables(home, os.environ["PATH"])
        # A language host that was built from the registry takes Python from there.
        environment["PATH"] = f"{work / '.venv' / 'bin'}{os.pathsep}{environment['PATH']}"
        name = name or f"t-{secrets.token_hex(4)}"
        salt = {"encryptionsalt": shared_salt()}
        (work / f"Pulumi.{name}.yaml").write_text(
            _with_password() if program is None else yaml.safe_dump(salt)
        )
        workspace = CopyingWorkspace(
            str(work), str(home.pulumi), env_vars=environment, pulumi_command=_command()
        )
        stack = auto.Stack.create(name, workspace)
        project = cls(stack, cluster or Cluster(Path()), name, work, environment, coderd_url)
        if program is None:
            project.configure()
        return project

    @property
    def config_file(self) -> Path:
        return self.folder / f"Pulumi.{self.stack.name}.yaml"

    def configure(self, control_plane: dict[str, Any] | None = None, **others: Any) -> None:
        """Replace the stack's config but for its secrets.

        Cluster and namespace are this test's own unless given.
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

    def set_config(self, key: str, value: str, *, secret: bool = False) -> None:
        """Set one value as `pulumi config set` does, which takes a quarter of a second."""
        content = yaml.safe_load(self.config_file.read_text())
        sealed = self._secrets(content["encryptionsalt"]).encrypt(value) if secret else ""
        entry = {"secure": sealed} if secret else value
        content.setdefault("config", {})[f"{PROJECT}:{key}"] = entry
        self.config_file.write_text(yaml.safe_dump(content))

    def forget_password(self) -> None:
        """Remove the first user's password from the config: a stack with a token has none."""
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
        """Return the stack's outputs with their secrets, as `pulumi stack output` shows them."""
        resources = self.state().get("resources", [])
        found = (each.get("outputs", {}) for each in resources if each["type"] == STACK)
        return plain(next(found, {}))

    def details(self) -> dict[str, Any]:
        """Return what the stack and its parts have on record, as `coder-stack outputs` shows it."""
        return recorded_outputs(json.dumps({"deployment": self._deployment()}))

    def state(self) -> dict[str, Any]:
        """Return the deployment as the backend keeps it, with its secrets decrypted and marked."""
        kept = self._deployment()
        if not kept.get("resources"):
            return kept
        return self._secrets(kept["secrets_providers"]["state"]["salt"]).shown(kept)

    def _deployment(self) -> dict[str, Any]:
        backend = backend_folder(self.environment)
        if backend is None:
            return json.loads(self.pulumi("stack", "export").stdout)["deployment"] or {}
        return deployment(backend, PROJECT, self.stack.name)

    def _secrets(self, salt: str) -> PulumiSecrets:
        return PulumiSecrets(self.environment["PULUMI_CONFIG_PASSPHRASE"], salt)

    def pulumi(self, *arguments: str, on_output: Callable[[str], object] | None = None) -> Any:
        """Run one command as the Automation API does; raise CommandError if it fails."""
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
        """Return the API path of an object in this stack's namespace."""
        group = {"deployments": "/apis/apps/v1", "roles": "/apis/rbac.authorization.k8s.io/v1"}
        group["rolebindings"] = group["roles"]
        group["ingresses"] = "/apis/networking.k8s.io/v1"
        group["httproutes"] = "/apis/gateway.networking.k8s.io/v1"
        group["servicemonitors"] = "/apis/monitoring.coreos.com/v1"
        group["clusters"] = "/apis/postgresql.cnpg.io/v1"
        base = f"{group.get(kind, '/api/v1')}/namespaces/{self.namespace}/{kind}"
        return f"{base}/{name}" if name else base

    def clean_up(self) -> None:
        """Delete the namespace from the shared cluster, if the test has not."""
        namespace = f"/api/v1/namespaces/{self.namespace}"
        if self.cluster.get(namespace):
            self.cluster.delete(namespace)

    def attempt(self, *command: str) -> tuple[Outcome, CommandError | None]:
        """Run one engine operation; return its outcome, and its failure if it failed.

        `stack.up()` and the like are not used: each starts three more processes afterwards.
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
def _command() -> auto.PulumiCommand:
    """Return the CLI; each new one would start it to ask for its version."""
    return auto.PulumiCommand()


@cache
def _with_password() -> str:
    """Return a stack's config with the sandbox's password: tests share its passphrase."""
    sandbox = yaml.safe_load((CHECKOUT / "Pulumi.sandbox.yaml").read_text())
    config = {PASSWORD: sandbox["config"][PASSWORD]}
    return yaml.safe_dump({"encryptionsalt": shared_salt(), "config": config})


def _refreshing(refresh: bool) -> tuple[str, ...]:
    return ("--refresh", "--run-program") if refresh else ()
