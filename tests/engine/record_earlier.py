"""Deploy a whole stack with the version of this checkout, and write `earlier_stack/` from it.

The committed files are of commit 555b3b1 and stay as they are: users have such stacks. `make test`
leaves this file out by its name. To record another version, run in a checkout of it:

    .venv/bin/python -m pytest tests/engine/record_earlier.py
"""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sandbox.coderd import storage
from sandbox.coderd.rules.state import CoderdState, ServerFlags
from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.engine.earlier import (
    CODERD,
    CONFIG,
    FOLDER,
    NAME,
    OBJECTS,
    STATE,
    api_path,
    placeholders,
)
from tests.engine.prerequisites import provide
from tests.simulation import license_text, simulated

pytestmark = pytest.mark.engine
VAULT = f"{NAME}-vault"
LICENSE = {"name": "coder-license", "namespace": VAULT}
SETTINGS: dict[str, Any] = {
    "controlPlane": {
        "replicas": 2,
        "accessUrl": "https://coder.example.com",
        "podDisruptionBudget": {"minAvailable": 1},
        "networkPolicy": {},
    },
    "license": {"secret": LICENSE},
}
# What needs Secrets in the namespace that the stack creates.
WITH_SECRETS: dict[str, Any] = {
    "controlPlane": {**SETTINGS["controlPlane"], "ingress": {"tlsSecretName": "coder-tls"}},
    # Suspended, or it would start at once to catch up on the years since the recording.
    "reconcileJob": {
        "image": "registry.example.com/coder-stack:1.2.0",
        "backend": {"name": "pulumi", "key": "backend"},
        "passphrase": {"name": "pulumi", "key": "passphrase"},
        "suspended": True,
    },
}
FLEET: dict[str, Any] = {
    "provisioners": [
        {"name": "eu", "key": {"tags": {"region": "eu"}, "rotation": "1"}},
        {
            "name": "ml",
            "organization": "research",
            "replicas": 2,
            "key": {"name": "ml-fleet", "exactName": True, "tags": {"gpu": "yes"}},
        },
    ],
    "proxies": [
        {"name": "sydney", "displayName": "Sydney", "accessUrl": "https://sydney.example.com"}
    ],
}


def test_record(engine: Engine, cluster: Cluster, tmp_path: Path) -> None:
    with (
        simulated(fresh=True) as coderd,
        deployed(engine, cluster, coderd, tmp_path, NAME, **SETTINGS) as stack,
    ):
        # The license is to last a hundred years. Coderd refuses one of more than five, so its clock
        # is ahead; the program goes by the real one.
        coderd.state.clock.advance(timedelta(days=35000))
        text = license_text(days=36500)
        cluster.create("/api/v1/namespaces", {"metadata": {"name": VAULT}})
        secret = {"metadata": LICENSE, "stringData": {"license": text}}
        cluster.create(f"/api/v1/namespaces/{VAULT}/secrets", secret)
        stack.up()
        stack.configure(**WITH_SECRETS)
        provide(stack.project)
        stack.up()
        # With the license come a second replica and an organization for the fleet.
        token = stack.written("coder-operator", "token")
        coderd.act("POST", "/api/v2/organizations", {"name": "research"}, token=token)
        stack.configure(**FLEET)
        stack.up()
        assert stack.unmet() == []
        assert stack.preview(refresh=True).changes == []

        FOLDER.mkdir(exist_ok=True)
        for name, text in recorded(stack).items():
            (FOLDER / name).write_text(text)


def recorded(stack: Deployed) -> dict[str, str]:
    """Return the texts of the files by name."""
    state = state_of(stack)
    contents = {STATE: state, OBJECTS: objects_of(stack, state), CODERD: database_of(stack)}
    texts = {name: json.dumps(each, indent=1, sort_keys=True) for name, each in contents.items()}
    texts[CONFIG] = stack.project.config_file.read_text()
    for placeholder, value in placeholders(stack.project.cluster, stack.coderd).items():
        texts = {name: text.replace(value, placeholder) for name, text in texts.items()}
    return {name: f"{text.rstrip()}\n" for name, text in texts.items()}


def state_of(stack: Deployed) -> dict[str, Any]:
    """Export the state, with its secrets encrypted and without the paths of this machine."""
    state = json.loads(stack.project.pulumi("stack", "export").stdout)
    for resource in state["deployment"]["resources"]:
        resource.pop("sourcePosition", None)
        resource.pop("stackTrace", None)
    return state


def objects_of(stack: Deployed, state: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects in the state, and those that the stack needs besides."""
    besides = [
        {"kind": "Namespace", "metadata": {"name": VAULT}},
        {"kind": "Secret", "metadata": LICENSE},
        {"kind": "Secret", "metadata": {"name": "coder-operator", "namespace": NAME}},
    ]
    resources = state["deployment"]["resources"]
    ours = [each["outputs"] for each in resources if each["type"].startswith("kubernetes:")]
    found: list[dict[str, Any]] = []
    for wanted in (*besides, *ours):
        thing = stack.project.cluster.get(api_path({"apiVersion": "v1", **wanted}))
        assert thing is not None
        # Etcd gives out the one anew; the other is long, and an apply with force does without.
        del thing["metadata"]["resourceVersion"]
        del thing["metadata"]["managedFields"]
        found.append(thing)
    return found


def database_of(stack: Deployed) -> dict[str, Any]:
    """Return coderd's records without what comes and goes with the pods."""
    records = stack.coderd.backup()
    records.daemons.clear()
    records.replicas.clear()
    path = stack.project.folder / CODERD
    storage.save(path, CoderdState(records, stack.coderd.state.clock, ServerFlags()))
    return json.loads(path.read_text())
