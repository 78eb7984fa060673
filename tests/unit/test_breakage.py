"""What `sandbox break` does inside coderd, with an owner's session and nothing else."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from sandbox.breakage import BREAKAGES, Hands
from sandbox.cluster import ports
from sandbox.cluster.ports import Ports
from sandbox.errors import SandboxError
from sandbox.home import Home
from tests.simulation import Simulation, simulated

KEYS = "/api/v2/organizations/coder/provisionerkeys"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.cluster.mkdir()
    return home


@pytest.fixture
def coderd(home: Home) -> Iterator[Simulation]:
    with simulated(licensed=True) as simulation:
        port = httpx.URL(simulation.url).port or 0
        ports.record(home.cluster, Ports(1, 1, 1, 1, network=1, coderd=port))
        yield simulation


def broken(home: Home, what: str) -> str:
    with ExitStack() as stack:
        return BREAKAGES[what](Hands(home, stack))


def test_key_deletes_the_provisioners_newest_key_and_no_other(
    home: Home, coderd: Simulation
) -> None:
    for name in ("eu-1", "europe", "ml-1"):
        coderd.act("POST", KEYS, {"name": name})
    assert broken(home, "key") == "the key eu-1 of provisioner eu is deleted in coderd"
    assert [key["name"] for key in coderd.act("GET", KEYS)] == ["europe", "ml-1"]


def test_tags_changes_only_the_records(home: Home, coderd: Simulation) -> None:
    coderd.act("POST", KEYS, {"name": "eu-1", "tags": {"region": "eu", "os": "linux"}})
    assert "region=moon" in broken(home, "tags")
    (key,) = coderd.act("GET", KEYS)
    assert key["tags"] == {"os": "linux", "region": "moon"}


def test_license_swaps_it_for_another(home: Home, coderd: Simulation) -> None:
    before = coderd.license_ids()
    broken(home, "license")
    after = coderd.license_ids()
    assert len(after) == 1
    assert not set(after) & set(before)


def test_proxy_deletes_the_proxy(home: Home, coderd: Simulation) -> None:
    wish = {"name": "sydney", "display_name": "Sydney", "icon": "/emojis/1f998.png"}
    coderd.act("POST", "/api/v2/workspaceproxies", wish)
    broken(home, "proxy")
    (only,) = coderd.world.records.proxies.values()
    assert only.deleted


def test_token_revokes_the_operators_token_and_no_other(home: Home, coderd: Simulation) -> None:
    for name in ("coder-stack-5d1f", "somebody-else"):
        coderd.act("POST", "/api/v2/users/me/keys/tokens", {"token_name": name})
    assert broken(home, "token") == "the operator's token is revoked in coderd"
    left = coderd.act("GET", "/api/v2/users/me/keys/tokens")
    assert [each["token_name"] for each in left] == ["somebody-else"]


@pytest.mark.parametrize("what", ["key", "tags", "proxy", "token"])
def test_what_is_not_there_cannot_be_broken(home: Home, coderd: Simulation, what: str) -> None:
    assert coderd.url
    with pytest.raises(SandboxError, match="deploy first with: make up"):
        broken(home, what)
