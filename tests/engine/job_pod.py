"""The pod of the reconcile job, played on this machine.

Everything comes from the objects in the cluster: command, variables, values in Secrets, kubeconfig.
The account's token is one that the API server gave out, so its Role is what counts. Only the pod's
folders are elsewhere, and the API server has the address that it has here.
"""

import base64
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from coder_stack.components.parts.reconcile_pod import PROJECT
from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
JOB = {
    "image": "registry.example.com/coder-stack:1.2.0",
    "backend": {"name": "pulumi", "key": "backend"},
    "passphrase": {"name": "pulumi", "key": "passphrase"},
}


@dataclass
class Pod:
    """The job's pod on this machine: its folders are below `root`, its project is the stack's."""

    stack: Deployed
    root: Path
    path: str

    @classmethod
    def of(cls, stack: Deployed, folder: Path, engine: Engine) -> "Pod":
        """Return the pod; its Python is the project's, as the program is."""
        python = stack.project.folder / ".venv" / "bin"
        return cls(stack, folder / "pod", f"{python}{os.pathsep}{engine.path(os.defpath)}")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run the job's command, or else this one, as in a new pod."""
        spec = self._spec()
        (container,) = spec["containers"]
        self.root.mkdir()
        self._mount(spec)
        env = {each["name"]: self._value(each) for each in container["env"]}
        (self.root / "work").mkdir()
        with self._files_of_secrets(spec):
            done = subprocess.run(
                command or container["command"], cwd=self._here(container["workingDir"]),
                capture_output=True, text=True, check=False, env={"PATH": self.path, **env},
            )  # fmt: skip
        shutil.rmtree(self.root)
        self.stack.said += [done.stdout, done.stderr]
        return done

    def _spec(self) -> dict[str, Any]:
        project = self.stack.project
        watcher = project.cluster.get(project.path("deployments", "coder-reconcile"))
        if watcher is not None:
            return watcher["spec"]["template"]["spec"]
        path = f"/apis/batch/v1/namespaces/{project.namespace}/cronjobs/coder-reconcile"
        job = project.cluster.get(path)
        assert job is not None
        return job["spec"]["jobTemplate"]["spec"]["template"]["spec"]

    def _mount(self, spec: dict[str, Any]) -> None:
        """The account's files as the kubelet writes them, and the kubeconfig that uses them."""
        cluster, project = self.stack.project.cluster, self.stack.project
        outside = yaml.safe_load(cluster.kubeconfig.read_text())["clusters"][0]["cluster"]
        account = self.root / "account"
        account.mkdir()
        (account / "ca.crt").write_bytes(_authority(outside, cluster.kubeconfig.parent))
        token = token_of(cluster, project.path("serviceaccounts", spec["serviceAccountName"]))
        (account / "token").write_text(token)
        (volume,) = [each for each in spec["volumes"] if "configMap" in each]
        mounted = cluster.get(project.path("configmaps", volume["configMap"]["name"]))
        assert mounted is not None
        text = mounted["data"]["kubeconfig"].replace(ACCOUNT, str(account))
        (self.root / "config").mkdir()
        (self.root / "config" / "kubeconfig").write_text(
            text.replace("https://kubernetes.default.svc", outside["server"])
        )

    @contextmanager
    def _files_of_secrets(self, spec: dict[str, Any]) -> Iterator[None]:
        """The kubeconfigs of other clusters; a person's, at the same path, are back at the end."""
        (container,) = spec["containers"]
        paths = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
        before: dict[Path, str] = {}
        (self.root / "clusters").mkdir()
        for volume in spec["volumes"]:
            if source := volume.get("secret"):
                file = Path(self._here(paths[volume["name"]]))
                before[file] = file.read_text() if file.exists() else ""
                (item,) = source["items"]
                file.write_text(self.stack.written(source["secretName"], item["key"]))
        try:
            yield
        finally:
            for file, text in before.items():
                file.write_text(text)

    def _value(self, variable: dict[str, Any]) -> str:
        if "value" in variable:
            return self._here(variable["value"])
        reference = variable["valueFrom"]["secretKeyRef"]
        return self.stack.written(reference["name"], reference["key"])

    def _here(self, path: str) -> str:
        if os.pathsep in path and path.startswith("/"):  # several files
            return os.pathsep.join(map(self._here, path.split(os.pathsep)))
        places = {
            "/work": str(self.root / "work"),
            "/etc/coder-stack": str(self.root / "config"),
            "/etc/coder-clusters": str(self.root / "clusters"),
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


def token_of(cluster: Cluster, account: str) -> str:
    """A token that the API server gives out for the ServiceAccount at that path."""
    with cluster.http() as http:
        made = http.post(f"{account}/token", json={"spec": {}}).raise_for_status().json()
    return made["status"]["token"]


def keep(stack: Deployed) -> None:
    """The Secret that somebody else makes: the key to the state."""
    project = stack.project
    values = {
        "backend": project.environment["PULUMI_BACKEND_URL"],
        "passphrase": project.environment["PULUMI_CONFIG_PASSPHRASE"],
    }
    body = {"metadata": {"name": "pulumi"}, "stringData": values}
    project.cluster.create(project.path("secrets"), body)
