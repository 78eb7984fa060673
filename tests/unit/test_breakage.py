"""What `sandbox break` does inside coderd, with an owner's session and nothing else."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from sandbox.breakage import BREAKAGES, Clients
from sandbox.cluster import ports
from sandbox.cluster.ports import Ports
from sandbox.errors import SandboxError
from sandbox.paths import SandboxPaths
from tests.simulation import Simulation, simulated

KEYS = "/api/v2/organizations/coder/provisionerkeys"


@pytest.fixture
def paths(tmp_path: Path) -> SandboxPaths:
    paths = SandboxPaths(tmp_path)
    paths.cluster.mkdir()
    return paths


@pytest.fixture
def coderd(paths: SandboxPaths) -> Iterator[Simulation]:
    with simulated(licensed=True) as simulation:
        port = httpx.URL(simulation.url).port or 0
        ports.save(paths.cluster, Ports(1, 1, 1, 1, network=1, coderd=port))
        yield simulation


def broken(paths: SandboxPaths, what: str) -> str:
    with ExitStack() as stack:
        return BREAKAGES[what](Clients(paths, stack))


def test_key_deletes_the_provisioners_newest_key_and_no_other(
    paths: SandboxPaths, coderd: Simulation
) -> None:
    for name in ("eu-1", "europe", "ml-1"):
        coderd.act("POST", KEYS, {"name": name})
    assert broken(paths, "key") == "the key eu-1 of provisioner eu is deleted in coderd"
    assert [key["name"] for key in coderd.act("GET", KEYS)] == ["europe", "ml-1"]


def test_tags_changes_only_the_records(paths: SandboxPaths, coderd: Simulation) -> None:
    coderd.act("POST", KEYS, {"name": "eu-1", "tags": {"region": "eu", "os": "linux"}})
    assert "region=moon" in broken(paths, "tags")
    (key,) = coderd.act("GET", KEYS)
    assert key["tags"] == {"os": "linux", "region": "moon"}


def test_organization_renames_the_one_of_the_stack(paths: SandboxPaths, coderd: Simulation) -> None:
    coderd.act("POST", "/api/v2/organizations", {"name": "research"})
    assert "renamed to research-labs" in broken(paths, "organization")
    listed = coderd.act("GET", "/api/v2/organizations")
    assert sorted(each["name"] for each in listed) == ["coder", "research-labs"]


def test_license_swaps_it_for_another(paths: SandboxPaths, coderd: Simulation) -> None:
    before = coderd.license_ids()
    broken(paths, "license")
    after = coderd.license_ids()
    assert len(after) == 1
    assert not set(after) & set(before)


def test_proxy_deletes_the_proxy(paths: SandboxPaths, coderd: Simulation) -> None:
    proxy = {"name": "sydney", "display_name": "Sydney", "icon": "/emojis/1f998.png"}
    coderd.act("POST", "/api/v2/workspaceproxies", proxy)
    broken(paths, "proxy")
    (only,) = coderd.state.records.proxies.values()
    assert only.deleted


def test_token_revokes_the_operators_token_and_no_other(
    paths: SandboxPaths, coderd: Simulation
) -> None:
    for name in ("coder-stack-5d1f", "somebody-else"):
        coderd.act("POST", "/api/v2/users/me/keys/tokens", {"token_name": name})
    assert broken(paths, "token") == "the operator's token is revoked in coderd"
    left = coderd.act("GET", "/api/v2/users/me/keys/tokens")
    assert [each["token_name"] for each in left] == ["somebody-else"]


@pytest.mark.parametrize("what", ["key", "tags", "proxy", "token"])
def test_what_is_not_there_cannot_be_broken(
    paths: SandboxPaths, coderd: Simulation, what: str
) -> None:
    assert coderd.url
    with pytest.raises(SandboxError, match="deploy first with: make up"):
        broken(paths, what)
