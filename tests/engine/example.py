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
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed
from tests.engine.helm_release import Release
from tests.engine.prerequisites import provide
from tests.engine_project import PROJECT
from tests.simulation import license_text


@contextmanager
def prepared(
    stack: Deployed, example: Path, far: Cluster | None = None
) -> Generator[dict[str, Any]]:
    """The stack is configured like the example; everything it counts on is there. Its settings.

    `far` is the cluster of the parts that are in another one than the control plane.
    """
    texts = read_stack_file(example, PROJECT).texts
    settings = {key.removeprefix(f"{PROJECT}:"): json.loads(text) for key, text in texts.items()}
    cluster, home = stack.project.cluster, stack.project.namespace
    plane = settings["controlPlane"]
    others: list[tuple[Cluster, str]] = []
    for part in settings.get("provisioners", []):
        if "namespace" in part:
            part["namespace"] = f"{home}-{part['namespace']}"
            others.append((cluster, part["namespace"]))
    plane["namespace"] = home
    del settings["kubernetes"]
    settings["access"] = {"url": stack.coderd.url}
    if far:
        file = str(far.kubeconfig)
        settings["clusters"] = {name: {"kubeconfig": file} for name in settings["clusters"]}
        others.append((far, home))
    stack.configure(**settings)

    with ExitStack() as more:
        if not plane.get("deploy", True):
            Release(stack.project).install()
        elif not plane.get("createNamespace", True):
            cluster.create("/api/v1/namespaces", {"metadata": {"name": home}})
        for each, namespace in others:
            each.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
            more.callback(each.delete, f"/api/v1/namespaces/{namespace}")
            more.enter_context(
                simulate_pods(each.kubeconfig, namespace, stack.coderd.url, home=cluster.kubeconfig)
            )
        _provide_license(stack, settings)
        provide(stack.project, far)
        yield settings


def _provide_license(stack: Deployed, settings: dict[str, Any]) -> None:
    secret = settings.get("license", {}).get("secret")
    if secret:
        data = {"license": base64.b64encode(license_text().encode()).decode()}
        body = {"metadata": secret, "data": data}
        stack.project.cluster.create(stack.project.path("secrets"), body)
    elif "license" in settings:
        stack.give("licenseJwt", license_text())
