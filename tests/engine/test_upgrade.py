"""An upgrade of Coder on the real engine: the runbook, the order, and a version that fails (V2)."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from sandbox.paths import CHECKOUT
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed
from tests.engine.drifting import command
from tests.engine.upgrading import (
    EU,
    NEW,
    OLD,
    answered,
    order_of,
    tag_of,
    tags,
    upgradable,
    want,
)
from tests.engine_outcome import Outcome

pytestmark = [
    pytest.mark.engine,
    pytest.mark.xdist_group("upgrade"),
    pytest.mark.usefixtures("impatient"),
]
RUNBOOKS = (CHECKOUT / "docs/runbooks.md").read_text()
PIN: dict[str, Any] = {"image": {"tag": OLD}}
PINNED = {
    "provisioners": [{**EU, "name": "old", **PIN}],
    "proxies": [{"name": "paris", "accessUrl": "https://paris.example.com", **PIN}],
}


@dataclass
class Walked:
    """The runbook, walked: what the engine did, what was said, and the requests to coderd."""

    stack: Deployed
    outcomes: dict[str, Outcome] = field(default_factory=dict[str, Outcome])
    status: str = ""
    requests: list[str] = field(default_factory=list[str])

    def type(self, line: str) -> None:
        """Run a command as it is written, with this stack's name."""
        program, verb, *words = shlex.split(line.replace(" --stack S", ""))
        if program == "coder-stack":
            done = command(self.stack, verb, *words)
            self.status = done.stdout
            assert done.returncode == 0, done.stdout + done.stderr
        elif verb in ("preview", "up"):
            sure = ["--yes", "--skip-preview"] if verb == "up" else []
            self.outcomes[verb], failed = self.stack.project.attempt(verb, *words, *sure)
            assert failed is None, failed
        else:
            self.stack.project.pulumi(verb, *words)


def commands(heading: str) -> list[str]:
    """The lines of the shell blocks below a heading of the runbooks."""
    section = RUNBOOKS.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```$", section, re.MULTILINE | re.DOTALL)
    return [line.strip() for block in blocks for line in block.splitlines()]


@pytest.fixture(scope="module")
def walked(
    engine: Engine, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Walked]:
    """One upgrade for several tests, with a pinned provisioner and a pinned proxy besides."""
    folder = tmp_path_factory.mktemp("upgrade")
    with upgradable(engine, cluster, folder, **PINNED) as stack:
        stack.coderd.forget_requests()
        walked = Walked(stack)
        for line in commands("Upgrade Coder"):
            assert NEW in line or "--path" not in line
            walked.type(line)
            if " up " in line:
                walked.requests = stack.coderd.requests()
        yield walked


def test_V2_the_preview_of_the_runbook_says_what_cannot_be_taken_back(walked: Walked) -> None:
    said = walked.outcomes["preview"].text
    assert f"controlPlane.image.tag: coderd is upgraded from {OLD} to {NEW}. " in said
    assert "cannot be taken back: back up the database first." in said
    assert "skipped" not in said
    assert walked.outcomes["preview"].ops("OperatorAccess") == []
    assert walked.outcomes["preview"].ops("ProvisionerKey") == []


def test_V2_the_runbook_ends_with_every_workload_upgraded_and_nothing_to_do(
    walked: Walked,
) -> None:
    stack = walked.stack
    assert tags(stack) == [NEW, NEW, NEW]
    assert answered(stack) == NEW
    assert stack.unmet() == []
    assert "clean, ready" in walked.status
    again = stack.preview(refresh=True)
    assert again.changes == []
    assert "upgraded" not in again.text


def test_V2_coderd_is_first_then_provisioners_then_proxies(walked: Walked) -> None:
    order = order_of(walked.outcomes["up"])
    follow = [name for name in order if "old" not in name and "paris" not in name]
    assert follow == [
        "control-plane-deployment",
        "operator-access",
        "provisioner-eu-deployment",
        "provisioner-eu-daemons",
        "proxy-sydney-deployment",
        "proxy-sydney-health",
    ]
    asked = [each.partition("/api/v2")[2] or each for each in walked.requests]
    wait, daemons, proxy = (
        asked.index("GET /healthz"),
        next(i for i, each in enumerate(asked) if each.endswith("/provisionerkeys/daemons")),
        asked.index("/workspaceproxies/me/deregister"),
    )
    assert wait < daemons < proxy, "coderd answers, daemons are counted, the old proxy ends"
    (coderd, eu, sydney) = (
        max(pod["metadata"]["creationTimestamp"] for pod in walked.stack.pods(name))
        for name in ("coder", "eu-provisioner", "sydney-proxy")
    )
    assert coderd <= eu <= sydney, "so began their pods"


def test_V2_pinned_workloads_stay_and_are_named(walked: Walked) -> None:
    stack, said = walked.stack, walked.outcomes["preview"].text
    assert f"provisioners[1].image.tag: provisioner old is pinned to {OLD}, and coderd is" in said
    assert f"proxies[1].image.tag: workspace proxy paris is pinned to {OLD}, and coderd is" in said
    assert [tag_of(stack, name) for name in ("old-provisioner", "paris-proxy")] == [OLD, OLD]
    assert stack.condition("provisioner/old", "DaemonsConnected") == ("True", "VersionSkew")
    (told,) = [
        each["message"]
        for each in stack.project.details()["conditions"]
        if each["reason"] == "VersionSkew"
    ]
    assert told == f"Connected, but not with coderd's version: {OLD}."
    assert stack.condition("provisioner/eu", "DaemonsConnected") == ("True", "Connected")


def test_V2_a_version_that_does_not_come_up_moves_nothing_else_and_the_next_run_goes_on(
    engine: Engine, cluster: Cluster, tmp_path: Path
) -> None:
    with upgradable(engine, cluster, tmp_path) as stack:
        nowhere = {"nodeSelector": {"no": "node"}}
        want(stack, NEW, annotations={"pulumi.com/timeoutSeconds": "4"}, **nowhere)
        said = stack.failure(stack.up)
        assert 'Deployment "coder"' in said, "its pods are not ready"
        assert "if it does not come up, they stay as they are. See docs/runbooks.md" in said
        assert (tags(stack), answered(stack)) == ([NEW, OLD, OLD], OLD)

        build = stack.coderd.act("GET", "/api/v2/buildinfo")
        stack.coderd.fault("status", "*/buildinfo", status=200, body=build, count=-1)
        want(stack, NEW)
        for _ in ("the first run", "and the next one"):
            said = stack.failure(stack.up)
            assert f"coderd still answers with {OLD}+simulated, not with {NEW}" in said
            assert "Provisioners and proxies were not changed." in said
            assert tags(stack) == [NEW, OLD, OLD]

        stack.coderd.peace()
        outcome = stack.up()
        assert "provisioners or proxies have another version" in outcome.text
        assert order_of(outcome) == [
            "operator-access",
            "provisioner-eu-deployment",
            "provisioner-eu-daemons",
            "proxy-sydney-deployment",
            "proxy-sydney-health",
        ]
        assert tags(stack) == [NEW, NEW, NEW]
        assert stack.unmet() == []
