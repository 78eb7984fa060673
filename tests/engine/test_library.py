"""coder-stack as a library: its wheel in somebody else's project, beside their own resources."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from pulumi import automation as auto

from sandbox.engine import Engine
from sandbox.paths import CHECKOUT, SandboxPaths
from sandbox.pods import simulate_pods
from tests.cluster_access import Cluster
from tests.simulation import simulated

pytestmark = pytest.mark.engine
PROJECT = """
name: their-platform
runtime:
  name: python
  options: {toolchain: pip, virtualenv: .venv}
"""
PROGRAM = '''
"""Somebody else's program: a namespace and a ConfigMap of theirs, and Coder beside them."""

import coder_stack
import pulumi
import pulumi_kubernetes as kubernetes
from coder_stack import settings
from coder_stack.components import (
    ControlPlane, ControlPlaneArgs, Operator, OperatorArgs, Provisioner, ProvisionerArgs,
)

config = pulumi.Config()
name = config.require("namespace")
cluster = kubernetes.Provider(
    "cluster", kubeconfig=config.require("kubeconfig"), enable_secret_mutable=True
)
theirs = pulumi.ResourceOptions(provider=cluster)
namespace = kubernetes.core.v1.Namespace("platform", metadata={"name": name}, opts=theirs)
kubernetes.core.v1.ConfigMap(
    "motd", metadata={"namespace": namespace.metadata.name}, data={"motd": "hello"}, opts=theirs
)
plane = ControlPlane(
    "coder",
    ControlPlaneArgs(
        settings=settings.ControlPlaneSettings(namespace=name, create_namespace=False)
    ),
    pulumi.ResourceOptions(providers=[cluster], depends_on=[namespace]),
)
operator = Operator(
    "operator",
    OperatorArgs(
        connection={"url": config.require("url")},
        settings=settings.AccessSettings(),
        license=settings.LicenseSettings(),
        namespace=name,
        token=pulumi.Config("coder-stack").require_secret("token"),
        after=[plane],
    ),
)
provisioner = Provisioner(
    "builders",
    ProvisionerArgs(
        settings=settings.ProvisionerSettings(
            name="builders", key=settings.KeySettings(tags={"team": "web"})
        ),
        operator=operator.handle,
        image=settings.Image(),
        url=plane.url,
        namespace=name,
    ),
    pulumi.ResourceOptions(providers=[cluster]),
)
pulumi.export("from", coder_stack.__file__)
pulumi.export("key", provisioner.summary["keyName"])
'''


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """Their environment: our wheel installed in it, and the dependencies that this one has."""
    wheels = tmp_path / "wheels"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels)]
    subprocess.run([*pip, "wheel", str(CHECKOUT), *options], check=True)
    (wheel,) = wheels.iterdir()
    folder = tmp_path / "theirs" / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    names = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", names))
    target = ["--no-deps", "--target", str(packages)]
    subprocess.run([*pip, "install", *target, str(wheel)], check=True)
    # A plain path: the editable install of this checkout is not followed.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def test_the_wheel_serves_another_project_beside_its_own_resources(
    engine: Engine, cluster: Cluster, venv: Path, tmp_path: Path
) -> None:
    folder, home = venv.parent, SandboxPaths(tmp_path / "home")
    home.state.mkdir(parents=True)
    (folder / "Pulumi.yaml").write_text(PROJECT)
    (folder / "__main__.py").write_text(PROGRAM)
    path = os.pathsep.join([str(venv / "bin"), engine.path(os.environ["PATH"])])
    variables = {**engine.variables(home, path), "PATH": path}
    stack = auto.create_stack(
        stack_name=f"library-{os.getpid()}",
        work_dir=str(folder),
        opts=auto.LocalWorkspaceOptions(env_vars=variables, pulumi_home=str(home.pulumi)),
    )
    with (
        simulated(licensed=True) as coderd,
        simulate_pods(cluster.kubeconfig, stack.name, coderd.url),
    ):
        plain = {"namespace": stack.name, "kubeconfig": str(cluster.kubeconfig), "url": coderd.url}
        # A `token` of their own, for something else, is none of coderd's business.
        secrets = {"coder-stack:token": coderd.token, "token": "their-own-token-of-another"}
        stack.set_all_config(
            {
                **{key: auto.ConfigValue(value) for key, value in plain.items()},
                **{key: auto.ConfigValue(value, secret=True) for key, value in secrets.items()},
            }
        )
        result = stack.up()
        assert Path(result.outputs["from"].value).is_relative_to(venv)
        (key,) = coderd.state.records.provisioner_keys.values()
        assert result.outputs["key"].value == key.name
        assert cluster.names(f"/api/v1/namespaces/{stack.name}/configmaps") != []

        coderd.act("DELETE", f"/api/v2/organizations/coder/provisionerkeys/{key.name}")
        stack.refresh(run_program=True)
        stack.up()
        (again,) = coderd.state.records.provisioner_keys.values()
        assert again.id != key.id

        stack.destroy()
        assert cluster.get(f"/api/v1/namespaces/{stack.name}") is None
        assert not coderd.state.records.provisioner_keys
