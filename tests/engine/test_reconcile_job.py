"""The command of the reconcile job, run for real with the environment that its pod would have (D4).

One of a stack in several clusters is in test_reconcile_clusters.py.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.engine.job_pod import JOB, Pod, keep
from tests.simulation import license_text, simulated

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("impatient")]
UNTIL_CHECKED = r""""$0" "$@" 2> $HOME/log & watcher=$!
until grep -q 'checked: clean' $HOME/log || ! kill -0 $watcher; do sleep 0.2; done
port=$(sed -n 's/.*serving on port //p' $HOME/log)
python -c 'import sys, urllib.request as http; print(http.urlopen(sys.argv[1]).read().decode())' \
    "http://127.0.0.1:$port/metrics"
kill -TERM $watcher; wait $watcher; cat $HOME/log >&2"""
"""Run a watcher until its first check has ended, and print its metrics."""
FLEET = [{"name": "eu", "key": {"tags": {"region": "eu"}}}]


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


def test_D4_N1_job_and_watcher_repair_with_their_own_rights_and_write_nowhere_else(
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

    done = Pod.of(stack, tmp_path, engine).run()

    assert done.returncode == 0, done.stdout + done.stderr
    deployment = cluster.get(path("deployments", "coder"))
    assert deployment is not None
    assert "evil" not in str(deployment["spec"])
    assert stack.secret("eu-provisioner-key"), "restored from the state"
    assert "eu-provisioner" in cluster.names(path("rolebindings"))
    assert stack.coderd.license_ids(), "added again, out of the other namespace's Secret"
    assert files(stack.project.folder) == before, "the image's root is read-only"

    stack.configure(reconcileJob={**JOB, "mode": "watch"})
    stack.up()
    restarted = {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}
    restart = {"spec": {"template": {"metadata": {"annotations": restarted}}}}
    cluster.patch(path("deployments", "coder-reconcile"), restart, manager="kubectl-rollout")
    cluster.delete(path("rolebindings", "eu-provisioner"))
    watched = Pod.of(stack, tmp_path, engine).run(
        *("sh", "-c", UNTIL_CHECKED, "coder-stack", "watch", "--stack", stack.project.stack.name),
        *("--repair", "--listen", "127.0.0.1:0"),
    )
    assert "repaired after" in watched.stderr, watched.stderr
    assert "no lock is left" in watched.stderr
    assert "no Lease could be written" not in watched.stderr
    down = f'coder_stack_watch_streams_down{{stack="{stack.project.stack.name}"}} 0.0'
    assert down in watched.stdout, "it may watch all that the stack has, in the vault too"
    assert "eu-provisioner" in cluster.names(path("rolebindings"))
    watcher = cluster.get(path("deployments", "coder-reconcile"))
    assert watcher is not None
    assert watcher["spec"]["template"]["metadata"]["annotations"] == restarted, "not undone"
    events = cluster.get(path("events"))
    assert events is not None
    assert "DriftRepaired" in {each["reason"] for each in events["items"]}, "with its own rights"
