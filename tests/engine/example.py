"""A config of examples/ on this test's cluster: changed is only where it runs.

The head of an example says what its reader makes beforehand; `prepared` makes that.
"""

import base64
import json
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from coder_stack.settings.stack_file import read_stack_file
from sandbox.pods import simulate_pods
from tests.engine.deployed import Deployed
from tests.engine.prerequisites import provide
from tests.engine_project import PROJECT
from tests.simulation import license_text


@contextmanager
def prepared(stack: Deployed, example: Path) -> Generator[dict[str, Any]]:
    """The stack is configured like the example; everything it counts on is there. Its settings."""
    texts = read_stack_file(example, PROJECT).texts
    settings = {key.removeprefix(f"{PROJECT}:"): json.loads(text) for key, text in texts.items()}
    cluster, home = stack.project.cluster, stack.project.namespace
    plane = settings["controlPlane"]
    others: list[str] = []
    for part in settings.get("provisioners", []):
        if "namespace" in part:
            part["namespace"] = f"{home}-{part['namespace']}"
            others.append(part["namespace"])
    plane["namespace"] = home
    del settings["kubernetes"]
    settings["access"] = {"url": stack.coderd.url}
    stack.configure(**settings)

    with ExitStack() as more:
        for namespace in (*others, *([] if plane.get("createNamespace", True) else [home])):
            cluster.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        for namespace in others:
            more.callback(cluster.delete, f"/api/v1/namespaces/{namespace}")
            more.enter_context(simulate_pods(cluster.kubeconfig, namespace, stack.coderd.url))
        _provide_license(stack, settings)
        provide(stack.project)
        yield settings


def _provide_license(stack: Deployed, settings: dict[str, Any]) -> None:
    secret = settings.get("license", {}).get("secret")
    if secret:
        data = {"license": base64.b64encode(license_text().encode()).decode()}
        body = {"metadata": secret, "data": data}
        stack.project.cluster.create(stack.project.path("secrets"), body)
    elif "license" in settings:
        stack.give("licenseJwt", license_text())
