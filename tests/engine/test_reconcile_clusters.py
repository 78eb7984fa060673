"""The reconcile job of a stack in two clusters, with its own account in each (M5)."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.engine import Engine
from sandbox.pods import simulate_pods
from tests.cluster_access import Cluster, OwnCluster
from tests.engine.deployed import Deployed, deployed
from tests.engine.job_pod import JOB, Pod, keep, token_of
from tests.simulation import license_text, simulated

pytestmark = [
    pytest.mark.engine,
    pytest.mark.xdist_group("clusters"),
    pytest.mark.usefixtures("impatient"),
]
FILE = "kubeconfigs/sydney.yaml"
SYDNEY: dict[str, Any] = {
    "name": "sydney",
    "cluster": "sydney",
    "accessUrl": "https://sydney.example.com",
    "ingress": {},
    "networkPolicy": {},
    "podDisruptionBudget": {},
}


@pytest.fixture
def named() -> dict[str, str]:
    """How the config names the other cluster."""
    return {"kubeconfig": FILE}


@pytest.fixture
def stack(
    engine: Engine,
    cluster: Cluster,
    mortal_cluster: OwnCluster,
    tmp_path: Path,
    named: dict[str, str],
) -> Iterator[Deployed]:
    """Up, with a provisioner in each cluster and the proxy in the other one, and no job yet."""
    far = mortal_cluster
    far.wait()
    with simulated(licensed=True) as coderd:
        settings: dict[str, Any] = {
            "kubernetes": {},
            "controlPlane": {"accessUrl": coderd.url},
            "clusters": {"sydney": named},
            "provisioners": [{"name": "eu"}, {"name": "au", "cluster": "sydney"}],
            "proxies": [SYDNEY],
        }
        with deployed(engine, cluster, coderd, tmp_path, **settings) as stack:
            file = stack.project.folder / FILE
            file.parent.mkdir()
            file.write_text(kubeconfig_of_sydney(far))
            files = [cluster.kubeconfig] if "kubeconfig" in named else [cluster.kubeconfig, file]
            variables = stack.project.stack.workspace.env_vars
            variables["KUBECONFIG"] = os.pathsep.join(map(str, files))
            stack.give("token", coderd.token)
            stack.give("licenseJwt", license_text())
            namespace = stack.project.namespace
            far.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
            with simulate_pods(far.kubeconfig, namespace, coderd.url):
                stack.up()
                yield stack
                stack.project.destroy()
            far.delete(f"/api/v1/namespaces/{namespace}")


def kubeconfig_of_sydney(far: Cluster, token: str = "") -> str:
    """A kubeconfig whose entries are all called sydney, with that token or the user's own."""
    content = yaml.safe_load(far.kubeconfig.read_text())
    parts = {name: dict(content[f"{name}s"][0][name]) for name in ("cluster", "user")}
    for part in parts.values():
        for field in ("certificate-authority", "client-certificate", "client-key"):
            if field in part:
                part[field] = str(far.kubeconfig.parent / part[field])
    if token:
        parts["user"] = {"token": token}
    parts["context"] = dict.fromkeys(("cluster", "user"), "sydney")
    return yaml.safe_dump(
        {
            "current-context": "sydney",
            **{f"{name}s": [{"name": "sydney", name: part}] for name, part in parts.items()},
        }
    )


def may(stack: Deployed, cluster: Cluster, verb: str, group: str, resource: str) -> bool:
    """What that cluster says about the job's account in the stack's namespace."""
    namespace = stack.project.namespace
    user = f"system:serviceaccount:{namespace}:coder-reconcile"
    what = {"namespace": namespace, "verb": verb, "group": group, "resource": resource}
    review = {"spec": {"user": user, "resourceAttributes": what}}
    with cluster.http() as http:
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        return http.post(path, json=review).raise_for_status().json()["status"]["allowed"]


def bring_job(stack: Deployed, far: Cluster) -> None:
    """The three steps of docs/clusters.md: a suspended job, its kubeconfig, the job."""
    project = stack.project
    job = {**JOB, "kubeconfigs": {"sydney": {"name": "sydney", "key": "kubeconfig"}}}
    stack.configure(reconcileJob={**job, "suspended": True})
    stack.up()
    keep(stack)
    stack.configure(reconcileJob=job)
    _, failure = project.attempt("up", "--yes", "--skip-preview")
    said = f"reconcileJob.kubeconfigs.sydney: Secret {project.namespace}/sydney does not exist"
    assert said in str(failure)
    token = token_of(far, project.path("serviceaccounts", "coder-reconcile"))
    stack.secrets.add(token)
    config = {"kubeconfig": kubeconfig_of_sydney(far, token)}
    body = {"metadata": {"name": "sydney"}, "stringData": config}
    project.cluster.create(project.path("secrets"), body)
    stack.up()


def test_M5_the_job_repairs_both_clusters_with_its_own_account_in_each(
    stack: Deployed, mortal_cluster: OwnCluster, engine: Engine, tmp_path: Path
) -> None:
    near, far, path = stack.project.cluster, mortal_cluster, stack.project.path
    bring_job(stack, far)
    assert may(stack, near, "update", "batch", "cronjobs")
    assert not may(stack, near, "get", "networking.k8s.io", "ingresses")
    assert may(stack, far, "update", "networking.k8s.io", "ingresses")
    assert not may(stack, far, "get", "batch", "cronjobs")
    assert not may(stack, far, "get", "", "configmaps")

    pod = Pod.of(stack, tmp_path, engine)
    name = stack.project.stack.name
    drift = pod.run("coder-stack", "drift", "--stack", name, "--json", "-")
    assert drift.returncode == 0, drift.stdout + drift.stderr
    # A provider that is not the recorded one would be drift, too.
    assert json.loads(drift.stdout)["result"] == "clean"

    near.delete(path("secrets", "eu-provisioner-key"))
    for kind, gone in (
        ("secrets", "au-provisioner-key"),
        ("rolebindings", "au-provisioner"),
        ("services", "sydney-proxy"),
        ("ingresses", "sydney-proxy"),
    ):
        far.delete(path(kind, gone))
    container = {"name": "coder", "image": "example.invalid/evil:1"}
    pods = {"template": {"spec": {"containers": [container]}}}
    far.patch(path("deployments", "sydney-proxy"), {"spec": pods})

    for _ in range(2):
        done = pod.run()
        assert done.returncode == 0, done.stdout + done.stderr
    assert "repaired" not in done.stdout, "the second run has nothing to do"
    assert stack.secret("eu-provisioner-key")
    assert "au-provisioner-key" in far.names(path("secrets"))
    assert "au-provisioner" in far.names(path("rolebindings"))
    assert "sydney-proxy" in far.names(path("services"))
    assert "sydney-proxy" in far.names(path("ingresses"))
    assert "evil" not in str(far.get(path("deployments", "sydney-proxy")))


@pytest.mark.parametrize("named", [{"context": "sydney"}])
def test_M5_a_cluster_that_is_only_a_context_is_found_in_the_pod_too(
    stack: Deployed, mortal_cluster: OwnCluster, engine: Engine, tmp_path: Path
) -> None:
    bring_job(stack, mortal_cluster)
    mortal_cluster.delete(stack.project.path("secrets", "au-provisioner-key"))
    done = Pod.of(stack, tmp_path, engine).run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 resource repaired" in done.stdout, "and no provider differs"
    assert "au-provisioner-key" in mortal_cluster.names(stack.project.path("secrets"))
