"""A stack that is upgraded: one provisioner and one proxy that follow coderd's version.

The simulated coderd takes its version from the image of its newest pod, daemons and proxies from
their own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.engine_outcome import Outcome
from tests.simulation import simulated
from tests.waiting import eventually

OLD, NEW = "v2.30.0", "v2.31.0"
EU: dict[str, Any] = {"name": "eu", "connectTimeoutSeconds": 60}
SYDNEY: dict[str, Any] = {"name": "sydney", "accessUrl": "https://sydney.example.com"}
WORKLOADS = ("coder", "eu-provisioner", "sydney-proxy")


@contextmanager
def upgradable(
    engine: Engine, cluster: Cluster, folder: Path, **more: list[dict[str, Any]]
) -> Iterator[Deployed]:
    """The stack with the old version, up and well; `more` are other provisioners and proxies."""
    with simulated(licensed=True) as coderd:
        settings: dict[str, Any] = {
            "access": {"url": coderd.url, "waitSeconds": 8},
            "provisioners": [EU, *more.get("provisioners", [])],
            "proxies": [SYDNEY, *more.get("proxies", [])],
        }
        with deployed(engine, cluster, coderd, folder, **settings) as stack:
            stack.give("token", coderd.token)
            stack.up()
            assert stack.unmet() == []
            yield stack


def want(stack: Deployed, tag: str, **more: Any) -> None:
    """Change the tag in the config."""
    stack.configure(controlPlane={"image": {"tag": tag}, **more})


def tag_of(stack: Deployed, name: str) -> str:
    """The tag of a Deployment's image."""
    found = stack.project.cluster.get(stack.project.path("deployments", name))
    assert found is not None
    return _tag(found["spec"]["template"])


def tags(stack: Deployed) -> list[str]:
    """Those of coderd, the provisioner and the proxy."""
    return [tag_of(stack, name) for name in WORKLOADS]


def set_image(stack: Deployed, image: str) -> None:
    """What a person would do with `kubectl set image`; returns when only the new pod runs."""
    container = {"name": "coder", "image": image}
    change = {"spec": {"template": {"spec": {"containers": [container]}}}}
    stack.project.cluster.patch(stack.project.path("deployments", "coder"), change)
    wanted = image.rpartition(":")[2]
    assert eventually(lambda: [_tag(pod) for pod in stack.pods("coder")] == [wanted])


def answered(stack: Deployed) -> str:
    """The version that coderd answers with, without its build."""
    version: str = stack.coderd.act("GET", "/api/v2/buildinfo")["version"]
    return version.partition("+")[0]


def order_of(outcome: Outcome) -> list[str]:
    """What the engine did to workloads, and to what waits for them, in its order."""
    kinds = ("Deployment", "OperatorAccess", "DaemonsConnected", "ProxyHealth")
    steps = [step for step in outcome.changes if step.type.split(":")[-1] in kinds]
    return [step.name.removeprefix("coder-") for step in steps]


def _tag(thing: dict[str, Any]) -> str:
    image: str = thing["spec"]["containers"][0]["image"]
    return image.rpartition(":")[2]
