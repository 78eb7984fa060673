"""A stack with one of everything that can drift, and the `coder-stack` command run on it for real.

Smaller than the whole program, so that one deployment and one look serve many signs of drift; the
objects, their types and their places are those of the program.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.engine import Engine
from tests import warm_python
from tests.cluster_access import Cluster
from tests.engine.operated import PROGRAM as OPERATED
from tests.engine.operated import Operated
from tests.engine_project import PROJECT, Project
from tests.simulation import Simulation, license_text

PROGRAM = (
    OPERATED
    + """
import pulumi_kubernetes as kubernetes
from coder_stack.dynamic.provisioner_key import ProvisionerKey
from coder_stack.dynamic.workspace_proxy import WorkspaceProxyRegistration


class Part(pulumi.ComponentResource):
    def __init__(self, kind, name):
        super().__init__(f"coder-stack:index:{kind}", name)
        self.child = pulumi.ResourceOptions(parent=self, provider=cluster, depends_on=after)
        # A dynamic resource has a provider of its own.
        self.coderd = pulumi.ResourceOptions(parent=self, depends_on=after)


cluster = kubernetes.Provider(
    "cluster",
    kubeconfig=config.require("kubeconfig"),
    enable_server_side_apply=True,
    enable_patch_force=True,
    enable_secret_mutable=True,
)
after.append(entitlements)
namespace = kubernetes.core.v1.Namespace(
    "namespace",
    metadata={"name": pulumi.get_stack()},
    opts=pulumi.ResourceOptions(provider=cluster),
)


def secret(part, name, key, value):
    kubernetes.core.v1.Secret(
        f"{name}-secret",
        metadata={"name": name, "namespace": namespace.metadata.name},
        string_data={key: value},
        opts=part.child,
    )


for name in config.require_object("keys"):
    part = Part("Provisioner", name)
    key = ProvisionerKey(
        f"{name}-key",
        connection=connection,
        organization="coder",
        base_name=name,
        tags={"region": "eu"},
        deployment_id=access.deployment_id,
        opts=part.coderd,
    )
    secret(part, f"{name}-provisioner-key", "key", key.material)
for name in config.require_object("proxies"):
    part = Part("WorkspaceProxy", name)
    proxy = WorkspaceProxyRegistration(
        f"{name}-registration",
        connection=connection,
        name=name,
        display_name="Paris",
        opts=part.coderd,
    )
    secret(part, f"{name}-proxy-token", "token", proxy.proxy_token)
part = Part("ControlPlane", "plane")
labels = {"app": "coder"}
kubernetes.apps.v1.Deployment(
    "plane-deployment",
    metadata={"name": "coder", "namespace": namespace.metadata.name},
    spec={
        "replicas": 0,
        "selector": {"match_labels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "coder", "image": "ghcr.io/coder/coder:v2.30.0"}]},
        },
    },
    opts=part.child,
)
kubernetes.core.v1.ServiceAccount(
    "plane-account",
    metadata={"name": "coder", "namespace": namespace.metadata.name},
    opts=part.child,
)
"""
)


def coder_stack(
    project: Project, *words: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """What a person or a scheduler types, in the project's folder."""
    return subprocess.run(
        [*warm_python.interpreter(), "-m", "coder_stack.cli", *words],
        cwd=project.folder,
        env={**os.environ, **project.environment, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def command(stack: Operated, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The same for one stack; what it says is searched for secrets later."""
    done = coder_stack(stack.project, *words, "--stack", stack.project.stack.name, **environment)
    stack.said += [done.stdout, done.stderr]
    return done


def report_of(stack: Operated, *words: str) -> tuple[int, dict[str, Any]]:
    """Exit code and JSON."""
    done = command(stack, *words, "--json", "-")
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def lock(project: Project) -> Path:
    """Somebody else's lock, in the form of Pulumi's own."""
    backend = Path(project.environment["PULUMI_BACKEND_URL"].removeprefix("file://"))
    held = backend / ".pulumi" / "locks" / "organization" / PROJECT / project.stack.name / "x.json"
    held.parent.mkdir(parents=True, exist_ok=True)
    holder = {"pid": 4242, "username": "ann", "hostname": "laptop"}
    held.write_text(json.dumps({**holder, "timestamp": "2026-01-01T00:00:00Z"}))
    return held


@dataclass
class Drifting(Operated):
    """The deployed stack, with commands that look for drift."""

    def begin(self, keys: tuple[str, ...], proxies: tuple[str, ...] = ()) -> None:
        """Configure it and deploy it without drift."""
        self.set_config(
            url=self.coderd.url,
            kubeconfig=str(self.project.cluster.kubeconfig),
            keys=json.dumps(keys),
            proxies=json.dumps(proxies),
        )
        self.give("token", self.coderd.token)
        self.give("jwt", license_text())
        self.up()

    def command(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return command(self, *words, **environment)

    def report(self, *words: str) -> tuple[int, dict[str, Any]]:
        return report_of(self, *words)

    def rules(self, **settings: Any) -> None:
        """Set the `drift` part of the stack's config."""
        self.set_config(drift=json.dumps(settings))

    def files(self) -> dict[str, bytes]:
        """Return the content of the whole backend and of the stack's config file."""
        backend = Path(self.project.environment["PULUMI_BACKEND_URL"].removeprefix("file://"))
        every = [path for path in backend.rglob("*") if path.is_file()]
        return {str(path): path.read_bytes() for path in (*every, self.project.config_file)}

    def key(self, name: str) -> Any:
        """Return the key as coderd's database has it."""
        keys = self.coderd.state.records.provisioner_keys.values()
        return next(key for key in keys if key.name.startswith(f"{name}-"))

    def lock(self) -> Path:
        return lock(self.project)


@contextmanager
def drifting(
    engine: Engine,
    cluster: Cluster,
    coderd: Simulation,
    folder: Path,
    keys: tuple[str, ...] = ("eu",),
    proxies: tuple[str, ...] = (),
) -> Iterator[Drifting]:
    """Deploy the stack without drift; at the end, check that it leaked nothing."""
    project = Project.create(engine, cluster, folder, PROGRAM)
    stack = Drifting(project, coderd)
    try:
        stack.begin(keys, proxies)
        yield stack
        stack.assert_nothing_leaked()
    finally:
        project.clean_up()
