"""Every example, previewed by the real engine: only where it runs is this test's own."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coder_stack.stack_file import read_stack_file
from sandbox.engine import Engine
from sandbox.home import CHECKOUT
from tests.engine.deployed import Deployed, deployed
from tests.harness import PROJECT, Cluster
from tests.simulation import license_text, simulated

pytestmark = pytest.mark.engine
EXAMPLES = sorted(CHECKOUT.glob("examples/*.yaml"))


@pytest.fixture
def stack(
    engine: Engine, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Deployed]:
    """Not configured yet; coderd is there, with everything that the examples ask to be there."""
    monkeypatch.setenv("CODER_STACK_DEADLINE", "5")
    with simulated(licensed=True) as coderd, deployed(engine, cluster, coderd, tmp_path) as stack:
        coderd.act("POST", "/api/v2/organizations", {"name": "research"})
        stack.give("token", coderd.token)
        yield stack


def configure(stack: Deployed, example: Path) -> dict[str, Any]:
    """The example's config in this test's namespace, with the simulated coderd."""
    texts = read_stack_file(example, PROJECT).texts
    settings = {key.removeprefix(f"{PROJECT}:"): json.loads(text) for key, text in texts.items()}
    plane = settings["controlPlane"]
    plane["namespace"] = stack.project.namespace
    if "ingress" in plane:
        plane["ingress"]["wait"] = False  # no controller gives it an address here
    for part in settings.get("provisioners", []):
        part.pop("namespace", None)
    del settings["kubernetes"]
    settings["access"] = {"url": stack.coderd.url}
    stack.configure(**settings)
    return settings


def provide(stack: Deployed, settings: dict[str, Any]) -> None:
    """What the head of an example asks its reader to make beforehand, as far as it is read."""
    if settings["controlPlane"].get("createNamespace") is False:
        make(stack, "/api/v1/namespaces", {"metadata": {"name": stack.project.namespace}})
    secret = settings.get("license", {}).get("secret")
    if secret:
        data = {"license": base64.b64encode(license_text().encode()).decode()}
        body = {"metadata": {"name": secret["name"]}, "data": data}
        make(stack, stack.project.path("secrets"), body)
    elif "license" in settings:
        stack.give("licenseJwt", license_text())


def make(stack: Deployed, path: str, body: dict[str, Any]) -> None:
    with stack.project.cluster.http() as http:
        http.post(path, json=body).raise_for_status()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_is_previewed_without_a_mistake(stack: Deployed, example: Path) -> None:
    settings = configure(stack, example)
    provide(stack, settings)

    seen = stack.preview()

    provisioners, proxies = settings.get("provisioners", []), settings.get("proxies", [])
    assert {step.op for step in seen.changes} == {"create"}
    assert len(seen.of_kind("Deployment")) == 1 + len(provisioners) + len(proxies)
    assert len(seen.of_kind("ProvisionerKey")) == len(provisioners)
    assert len(seen.of_kind("WorkspaceProxyRegistration")) == len(proxies)
    assert len(seen.of_kind("License")) == ("license" in settings)
    assert stack.coderd.requests("POST", "/provisionerkeys") == [], "a preview changes nothing"
