"""A stack that an earlier version connected by the access URL, after an upgrade (F2).

Earlier versions reached coderd at `controlPlane.accessUrl` by default, now it is the API server. In
the sandbox both lead to the same simulated coderd.
"""

import json
from typing import Any

import httpx
import pytest
import yaml

from tests.engine.clone import Clone

pytestmark = [pytest.mark.engine, pytest.mark.timeout(1500)]
NOW = "through_api_server is False if deployed"
EARLIER = "not through_api_server if deployed"
CONFIG = "Pulumi.sandbox.yaml"
COUNTS = {"ProvisionerKey": 2, "WorkspaceProxyRegistration": 1, "License": 1, "Organization": 1}


class Upgraded:
    """The stack of the sandbox, with an access URL, as the earlier rule has deployed it."""

    def __init__(self, clone: Clone) -> None:
        self.clone = clone
        clone.start()
        status = json.loads(clone.run("sandbox", "status", "--json").stdout)
        self.coderd: str = status["coderd"]
        self.configure(accessUrl=self.coderd)
        self._replace(NOW, EARLIER)
        self.command("pulumi", "stack", "init", "sandbox")
        self.pulumi("up", "--yes", "--skip-preview")
        assert self.connections() == {"url"}
        self._replace(EARLIER, NOW)
        clone.start_python_warm()

    def _replace(self, old: str, new: str) -> None:
        file = self.clone.folder / "coder_stack/coderd/connection.py"
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    def configure(self, access: dict[str, Any] | None = None, **plane: Any) -> None:
        file = self.clone.folder / CONFIG
        content = yaml.safe_load(file.read_text())
        content["config"]["coder-stack:controlPlane"] |= plane
        content["config"].pop("coder-stack:access", None)
        if access:
            content["config"]["coder-stack:access"] = access
        file.write_text(yaml.safe_dump(content))

    def the_old_way(self) -> None:
        """Connect by the access URL, as the earlier rule did; then leave it to the new rule."""
        self.configure({"throughApiServer": False})
        self.pulumi("up", "--yes", "--skip-preview")
        self.configure()

    def pulumi(self, *arguments: str) -> str:
        return self.command("pulumi", *arguments, "--stack", "sandbox", "--non-interactive")

    def command(self, *words: str, code: int = 0) -> str:
        done = self.clone.execute(*words)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def of_coderd(self) -> list[dict[str, Any]]:
        return [each for each in self.clone.resources() if "dynamic/coder" in each["type"]]

    def connections(self) -> set[str]:
        """How the resources in the state reach coderd."""
        found = [each["inputs"].get("connection", {}) for each in self.of_coderd()]
        return {key for each in found for key in ("url", "service_proxy") if key in each}

    def identities(self) -> dict[str, str]:
        """Ids of all resources in coderd, and that of the operator's token."""
        every = self.of_coderd()
        kinds = [each["type"].split(":")[-1] for each in every]
        assert {kind: kinds.count(kind) for kind in COUNTS} == COUNTS
        (access,) = [each for each in every if each["type"].endswith(":OperatorAccess")]
        ids = {each["urn"]: each["id"] for each in every}
        return {**ids, "token": access["outputs"]["token_id"]}

    def state(self) -> dict[str, Any]:
        """What coderd has."""
        return httpx.get(f"{self.coderd}/_sim/state", trust_env=False).raise_for_status().json()


def test_F2_K6_after_the_upgrade_only_the_connection_moves_and_a_destroy_leaves_nothing(
    clone: Clone,
) -> None:
    upgraded = Upgraded(clone)
    before = upgraded.identities()

    upgraded.command("coder-stack", "reconcile", "--stack", "sandbox")
    assert (upgraded.connections(), upgraded.identities()) == ({"service_proxy"}, before)
    upgraded.command("coder-stack", "drift", "--stack", "sandbox")

    upgraded.the_old_way()
    assert (upgraded.connections(), upgraded.identities()) == ({"url"}, before)

    said = upgraded.pulumi("up", "--yes", "--skip-preview")
    assert (upgraded.connections(), upgraded.identities()) == ({"service_proxy"}, before)
    assert "operator access: " not in said, "no warning of a token that was left"
    assert {status for _, _, status in upgraded.clone.conditions()} == {"True"}
    upgraded.command("coder-stack", "drift", "--stack", "sandbox")

    upgraded.the_old_way()
    said = upgraded.pulumi("destroy", "--yes", "--skip-preview")
    assert "may still be" not in said, "what cannot be removed is a warning"
    assert upgraded.clone.resources() == []
    left = upgraded.state()
    assert (left["provisioner_keys"], left["licenses"], left["tokens"]) == ([], [], [])
    assert "research" not in left["organizations"]
