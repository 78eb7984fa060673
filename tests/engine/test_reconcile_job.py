"""The command of the reconcile job, run for real with the environment that its pod would have (D4).

Everything comes from the objects in the cluster: command, variables, values in Secrets, kubeconfig.
The account's token is one that the API server gave out, so its Role is what counts. Only the pod's
folders are elsewhere, and the API server has the address that it has here.
"""

import base64
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from coder_stack.components.reconcile_job import PROJECT
from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.simulation import license_text, simulated

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("impatient")]
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
FLEET = [{"name": "eu", "key": {"tags": {"region": "eu"}}}]
JOB = {
    "image": "registry.example.com/coder-stack:1.2.0",
    "backend": {"name": "pulumi", "key": "backend"},
    "passphrase": {"name": "pulumi", "key": "passphrase"},
}


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    """Up, with the kubeconfig from the environment: inside the cluster it is another one.

    The license is in a Secret of another namespace.
    """
    settings: dict[str, Any] = {"kubernetes": {}, "provisioners": FLEET}
    with (
        simulated(fresh=True) as coderd,
        deployed(engine, cluster, coderd, tmp_path, **settings) as stack,
        elsewhere(stack) as namespace,
    ):
        stack.project.stack.workspace.env_vars["KUBECONFIG"] = str(cluster.kubeconfig)
        stack.configure(license={"secret": {"name": "coder-license", "namespace": namespace}})
        try:
            stack.up()  # creates the namespace for the Secret of the job
            keep(stack)
            stack.configure(reconcileJob=JOB)
            stack.up()
            yield stack
        finally:  # the namespaces take all the rest with them
            for kind in ("clusterrolebindings", "clusterroles"):
                path = f"/apis/rbac.authorization.k8s.io/v1/{kind}"
                for name in cluster.names(path):
                    if name.startswith(stack.project.namespace):
                        cluster.delete(f"{path}/{name}")


@contextmanager
def elsewhere(stack: Deployed) -> Iterator[str]:
    """A namespace that is not the stack's, with two Secrets."""
    cluster, namespace = stack.project.cluster, vault(stack)
    cluster.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    text = license_text()
    stack.secrets.add(text)
    for name, value in (("coder-license", text), ("somebody-elses", "hush")):
        body = {"metadata": {"name": name}, "stringData": {"license": value}}
        cluster.create(f"/api/v1/namespaces/{namespace}/secrets", body)
    try:
        yield namespace
    finally:
        cluster.delete(f"/api/v1/namespaces/{namespace}")


def vault(stack: Deployed) -> str:
    return f"{stack.project.namespace}-vault"


@dataclass
class Pod:
    """The job's pod on this machine: its folders are below `root`, its project is the stack's."""

    stack: Deployed
    root: Path
    path: str

    def run(self) -> subprocess.CompletedProcess[str]:
        spec = self._spec()
        (container,) = spec["containers"]
        self._mount(spec)
        env = {each["name"]: self._value(each) for each in container["env"]}
        (self.root / "work").mkdir()
        done = subprocess.run(
            container["command"], cwd=self._here(container["workingDir"]), capture_output=True,
            text=True, check=False, env={"PATH": self.path, **env},
        )  # fmt: skip
        self.stack.said += [done.stdout, done.stderr]
        return done

    def _spec(self) -> dict[str, Any]:
        path = f"/apis/batch/v1/namespaces/{self.stack.project.namespace}/cronjobs/coder-reconcile"
        job = self.stack.project.cluster.get(path)
        assert job is not None
        return job["spec"]["jobTemplate"]["spec"]["template"]["spec"]

    def _mount(self, spec: dict[str, Any]) -> None:
        """The account's files as the kubelet writes them, and the kubeconfig that uses them."""
        cluster, project = self.stack.project.cluster, self.stack.project
        outside = yaml.safe_load(cluster.kubeconfig.read_text())["clusters"][0]["cluster"]
        account = self.root / "account"
        account.mkdir(parents=True)
        (account / "ca.crt").write_bytes(_authority(outside, cluster.kubeconfig.parent))
        with cluster.http() as http:
            name = project.path("serviceaccounts", spec["serviceAccountName"])
            token = http.post(f"{name}/token", json={"spec": {}}).raise_for_status().json()
        (account / "token").write_text(token["status"]["token"])
        (volume,) = [each for each in spec["volumes"] if "configMap" in each]
        mounted = cluster.get(project.path("configmaps", volume["configMap"]["name"]))
        assert mounted is not None
        text = mounted["data"]["kubeconfig"].replace(ACCOUNT, str(account))
        (self.root / "config").mkdir()
        (self.root / "config" / "kubeconfig").write_text(
            text.replace("https://kubernetes.default.svc", outside["server"])
        )

    def _value(self, variable: dict[str, Any]) -> str:
        if "value" in variable:
            return self._here(variable["value"])
        reference = variable["valueFrom"]["secretKeyRef"]
        secret = self.stack.secret(reference["name"])
        assert secret is not None
        return base64.b64decode(secret["data"][reference["key"]]).decode()

    def _here(self, path: str) -> str:
        places = {
            "/work": str(self.root / "work"),
            "/etc/coder-stack": str(self.root / "config"),
            PROJECT: str(self.stack.project.folder),
        }
        for there, here in places.items():
            if path == there or path.startswith(f"{there}/"):
                return here + path.removeprefix(there)
        return path


def _authority(cluster: dict[str, str], beside: Path) -> bytes:
    if "certificate-authority-data" in cluster:
        return base64.b64decode(cluster["certificate-authority-data"])
    return (beside / cluster["certificate-authority"]).read_bytes()


def keep(stack: Deployed) -> None:
    """The Secret that somebody else makes: the key to the state."""
    project = stack.project
    values = {
        "backend": project.environment["PULUMI_BACKEND_URL"],
        "passphrase": project.environment["PULUMI_CONFIG_PASSPHRASE"],
    }
    body = {"metadata": {"name": "pulumi"}, "stringData": values}
    project.cluster.create(project.path("secrets"), body)


def may(stack: Deployed, verb: str, resource: str, namespace: str, name: str = "") -> bool:
    """What the API server says about the job's account."""
    user = f"system:serviceaccount:{stack.project.namespace}:coder-reconcile"
    what = {"namespace": namespace, "verb": verb, "resource": resource, "name": name}
    with stack.project.cluster.http() as http:
        review = {"spec": {"user": user, "resourceAttributes": what}}
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        return http.post(path, json=review).raise_for_status().json()["status"]["allowed"]


def files(folder: Path) -> dict[str, bytes]:
    found = [path for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
    return {path.name: path.read_bytes() for path in found}


def test_D4_the_job_repairs_the_stack_with_its_own_rights_and_writes_nowhere_else(
    stack: Deployed, engine: Engine, tmp_path: Path
) -> None:
    cluster, path = stack.project.cluster, stack.project.path
    assert may(stack, "update", "secrets", stack.project.namespace)
    assert not may(stack, "get", "secrets", "kube-system")
    assert not may(stack, "delete", "namespaces", stack.project.namespace)
    assert may(stack, "get", "secrets", vault(stack), "coder-license")
    assert not may(stack, "update", "secrets", vault(stack), "coder-license")
    assert not may(stack, "get", "secrets", vault(stack), "somebody-elses")
    container = {"name": "coder", "image": "example.invalid/evil:1"}
    pods = {"template": {"spec": {"containers": [container]}}}
    cluster.patch(path("deployments", "coder"), {"spec": pods})
    cluster.delete(path("secrets", "eu-provisioner-key"))
    cluster.delete(path("rolebindings", "eu-provisioner"))
    stack.coderd.state.records.licenses.clear()
    stack.coderd.state.refresh_entitlements()
    before = files(stack.project.folder)

    done = Pod(stack, tmp_path / "pod", engine.path(os.defpath)).run()

    assert done.returncode == 0, done.stdout + done.stderr
    deployment = cluster.get(path("deployments", "coder"))
    assert deployment is not None
    assert "evil" not in str(deployment["spec"])
    assert stack.secret("eu-provisioner-key"), "restored from the state"
    assert "eu-provisioner" in cluster.names(path("rolebindings"))
    assert stack.coderd.license_ids(), "added again, out of the other namespace's Secret"
    assert files(stack.project.folder) == before, "the image's root is read-only"
