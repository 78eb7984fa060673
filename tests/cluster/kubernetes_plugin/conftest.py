"""One configured plugin process for all tests, fresh ones on request, a namespace per test."""

import json
import secrets
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.toolchain import ensure
from tests.cluster.kubernetes_plugin.driver import Plugin, start
from tests.cluster_access import Cluster

Kubectl = Callable[..., str]


@pytest.fixture(scope="session")
def kubeconfig(cluster: Cluster) -> Path:
    """The cluster to test against."""
    return cluster.kubeconfig


@pytest.fixture
def kubectl(kubeconfig: Path) -> Kubectl:
    """Somebody else who changes the cluster."""
    program = str(ensure(["kubectl"])["kubectl"].path)

    def run(*arguments: str, stdin: str | None = None) -> str:
        done = subprocess.run(
            [program, "--kubeconfig", str(kubeconfig), *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


def kubeconfig_with_token(kubectl: Kubectl, token: str) -> Any:
    """The same cluster with other credentials."""
    content = json.loads(kubectl("config", "view", "--flatten", "-o", "json"))
    content["users"][0]["user"] = {"token": token}
    return content


@pytest.fixture
def namespace(kubectl: Kubectl) -> Iterator[str]:
    """A namespace of the test's own."""
    name = f"plugin-{secrets.token_hex(4)}"
    kubectl("create", "namespace", name)
    yield name
    kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture
def unconfigured(tmp_path: Path) -> Iterator[Plugin]:
    """A fresh plugin process."""
    plugin = start(tmp_path)
    yield plugin
    plugin.stop()


@pytest.fixture(scope="session")
def plugin(kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plugin]:
    """A plugin that may change Secrets and ConfigMaps in place, as the program's provider does."""
    plugin = start(tmp_path_factory.mktemp("plugin"))
    try:
        yield plugin.configure(
            kubeconfig=str(kubeconfig), enableSecretMutable="true", enableConfigMapMutable="true"
        )
    finally:
        plugin.stop()
