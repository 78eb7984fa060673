"""A stack that an earlier version deployed, for tests of the present version.

`earlier_stack/` holds what that version left: the stack's config and state as Pulumi keeps them,
the objects in the cluster, and the database of the simulated coderd. record_earlier.py wrote it.

Secrets in config and state are encrypted with the passphrase of all tests. The license and the
token in the other two files open nothing but a simulation.
"""

import base64
import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from sandbox.cluster import ports
from sandbox.cluster.pki import Pki
from sandbox.coderd import storage
from sandbox.engine import Engine
from sandbox.paths import SandboxPaths
from sandbox.pods import simulate_pods
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed
from tests.engine.prerequisites import provide
from tests.engine_project import Project
from tests.simulation import Simulation, simulated
from tests.waiting import eventually

NAME = "earlier"
"""Name of the stack and of its namespace, which stands all over the state."""
FOLDER = Path(__file__).with_name("earlier_stack")
CONFIG = f"Pulumi.{NAME}.yaml"
STATE = "state.json"
OBJECTS = "objects.json"
CODERD = "coderd.json"
# Where etcd's key for a kind is not the plural.
_IN_ETCD = {"services": "services/specs", "ingresses": "ingress"}


def placeholders(cluster: Cluster, coderd: Simulation) -> dict[str, str]:
    """Map what stands in the files to its value in this run."""
    return {
        "http://coderd.invalid": coderd.url,
        "/kubeconfig.invalid": str(cluster.kubeconfig),
    }


def api_path(thing: dict[str, Any]) -> str:
    """Return the object's path on the API server."""
    version: str = thing["apiVersion"]
    root = "/apis" if "/" in version else "/api"
    namespace = thing["metadata"].get("namespace")
    place = f"namespaces/{namespace}/" if namespace else ""
    return f"{root}/{version}/{place}{_plural(thing)}/{thing['metadata']['name']}"


@contextmanager
def laid_out(engine: Engine, cluster: Cluster, folder: Path) -> Iterator[Deployed]:
    """Restore the stack as the earlier version left it, with running pods.

    A cluster has room for one at a time: names and uids are those of the files.
    """
    with simulated(fresh=True) as coderd:
        texts = _texts(placeholders(cluster, coderd))
        objects = json.loads(texts[OBJECTS])
        _restore_coderd(coderd, folder, texts[CODERD])
        project = Project.create(engine, cluster, folder, coderd_url=coderd.url, name=NAME)
        project.config_file.write_text(texts[CONFIG])
        (folder / STATE).write_text(texts[STATE])
        project.pulumi("stack", "import", "--file", str(folder / STATE))
        stack = Deployed(project, coderd)
        with simulate_pods(cluster.kubeconfig, NAME, coderd.url) as simulator:
            try:
                _restore_objects(cluster, objects)
                provide(project)  # the recording has only what was the stack's
                wanted = sum(_clients_of_coderd(each) for each in objects)
                assert eventually(lambda: len(simulator.accepted) == wanted, 60), simulator.accepted
                yield stack
                stack.assert_nothing_leaked()
            finally:
                _remove_objects(cluster, objects)


def _texts(values: dict[str, str]) -> dict[str, str]:
    texts = {name: (FOLDER / name).read_text() for name in (CONFIG, STATE, OBJECTS, CODERD)}
    for placeholder, value in values.items():
        texts = {name: text.replace(placeholder, value) for name, text in texts.items()}
    return texts


def _restore_coderd(coderd: Simulation, folder: Path, records: str) -> None:
    (folder / CODERD).write_text(records)
    state = storage.load(folder / CODERD, coderd.state.flags)
    assert state is not None
    # For coderd it is always the day of the recording, so neither token nor license expires.
    coderd.state.clock.set(max(each.uploaded_at for each in state.records.licenses.values()))
    coderd.restore(state.records)


def _restore_objects(cluster: Cluster, objects: list[dict[str, Any]]) -> None:
    """Write the objects into etcd, as from a backup.

    The API server would give them new uids, and then the Deployments would be others to the state.
    """
    home = SandboxPaths(cluster.kubeconfig.parent)
    pki, port = Pki(home.cluster / "pki"), ports.load(home.cluster).etcd
    context = ssl.create_default_context(cafile=pki.ca)
    context.load_cert_chain(pki.server_cert, pki.server_key)
    with httpx.Client(
        base_url=f"https://127.0.0.1:{port}", verify=context, trust_env=False, timeout=10
    ) as etcd:
        for each in objects:
            pair = {"key": _etcd_key(each), "value": json.dumps(each)}
            body = {name: base64.b64encode(text.encode()).decode() for name, text in pair.items()}
            etcd.post("/v3/kv/put", json=body).raise_for_status()


def _remove_objects(cluster: Cluster, objects: list[dict[str, Any]]) -> None:
    """Wait until all are gone, so that the next test can bring the same ones."""
    paths = [api_path(each) for each in objects if "namespace" not in each["metadata"]]
    for path in paths:
        if cluster.get(path):
            cluster.delete(path)
    assert eventually(lambda: not any(map(cluster.get, paths)), 60), "a namespace is still there"


def _clients_of_coderd(thing: dict[str, Any]) -> int:
    """Count the pods of a Deployment that connect to coderd: all but coderd's own."""
    if thing["kind"] != "Deployment" or thing["metadata"]["name"] == "coder":
        return 0
    return thing["spec"]["replicas"]


def _etcd_key(thing: dict[str, Any]) -> str:
    metadata, plural = thing["metadata"], _plural(thing)
    words = [_IN_ETCD.get(plural, plural), metadata.get("namespace"), metadata["name"]]
    return "/registry/" + "/".join(filter(None, words))


def _plural(thing: dict[str, Any]) -> str:
    kind: str = thing["kind"].lower()
    if kind.endswith("y"):
        return f"{kind[:-1]}ies"
    return f"{kind}es" if kind.endswith("s") else f"{kind}s"
