"""An update that fails half-way and is taken back, on a real engine: nothing of ours is lost.

The engine keeps what the failed update had replaced as pending deletes, and runs them at the end of
the next update that gets so far. By then the program asks for the old thing again.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.daemons import connect
from tests.engine.operated import Operated, licensed
from tests.engine_project import PROJECT
from tests.simulation import Simulation, license_text

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("impatient")]
PROGRAM = """
import pulumi
from coder_stack.dynamic.daemons_connected import DaemonsConnected
from coder_stack.dynamic.license import License
from coder_stack.dynamic.provisioner_key import ProvisionerKey

config = pulumi.Config()
coderd = {"connection": {"url": config.require("url")}}
after = []
if config.get("jwt") is not None:
    name = config.get("called") or "license"
    after.append(License(name, jwt=config.require_secret("jwt"), **coderd))
key = ProvisionerKey(
    "key",
    organization="coder",
    base_name="fleet",
    deployment_id=config.require("deployment"),
    trigger=config.get("trigger"),
    opts=pulumi.ResourceOptions(depends_on=after),
    **coderd,
)
# Plays whatever else is in the update: it fails while it waits for daemons of a key that has none.
DaemonsConnected(
    "rest",
    organization="coder",
    key_id=config.get("awaited") or "",
    timeout_seconds=1,
    opts=pulumi.ResourceOptions(depends_on=[key]),
    **coderd,
)
pulumi.export("material", key.material)
"""
A, B = license_text(days=300), license_text(days=200)


@pytest.fixture
def stack(engine: Engine, tmp_path: Path) -> Iterator[Operated]:
    """A licensed coderd and a stack with license A and one key, deployed."""
    with licensed(engine, tmp_path, PROGRAM) as stack:
        stack.give("jwt", A)
        stack.set_config(trigger="1")
        stack.up()
        stack.secrets.add(str(stack.project.outputs()["material"]))
        yield stack


def fail(stack: Operated) -> None:
    """Run an update that creates its license and key and then fails."""
    stack.set_config(awaited="00000000-0000-0000-0000-00000000000f")
    assert "0 of 1 have connected" in stack.failure(stack.up)
    stack.set_config(awaited="")


def stored(coderd: Simulation, text: str) -> bool:
    return any(each.jwt == text for each in coderd.state.records.licenses.values())


def changes(stack: Operated) -> list[str]:
    """Return the methods of the requests that changed keys in coderd, in order."""
    asked = stack.coderd.requests(path="/provisionerkeys")
    return [line.split(" ")[0] for line in asked if not line.startswith("GET ")]


def test_L10_a_license_that_is_taken_back_stays_in_coderd_and_the_other_one_goes(
    stack: Operated,
) -> None:
    stack.give("jwt", B)
    fail(stack)
    assert (stored(stack.coderd, A), stored(stack.coderd, B)) == (True, True)

    stack.give("jwt", A)
    stack.up()

    assert (stored(stack.coderd, A), stored(stack.coderd, B)) == (True, False)
    assert stack.preview(refresh=True).changes == []
    stack.destroy()
    assert not stored(stack.coderd, A)


def test_L10_a_way_back_that_fails_as_well_leaves_it_too(stack: Operated) -> None:
    """In the last run the license is as it was: the engine only checks it."""
    stack.give("jwt", B)
    fail(stack)
    stack.give("jwt", A)
    fail(stack)

    outcome = stack.up()

    assert outcome.ops("License") == ["delete-replaced"] * 2
    assert (stored(stack.coderd, A), stored(stack.coderd, B)) == (True, False)
    assert stack.preview(refresh=True).changes == []


def test_L10_a_license_declared_under_another_name_stays_and_one_no_longer_declared_goes(
    stack: Operated,
) -> None:
    stack.set_config(called="renamed")
    stack.up()
    assert stored(stack.coderd, A)
    assert stack.preview(refresh=True).changes == []

    stack.project.stack.remove_config(f"{PROJECT}:jwt")
    stack.up()
    assert not stored(stack.coderd, A)


def test_K9_a_rotation_that_is_taken_back_leaves_the_key_that_pods_hold(stack: Operated) -> None:
    first = str(stack.project.outputs()["material"])
    stack.set_config(trigger="2")
    fail(stack)
    stack.set_config(trigger="1")
    stack.coderd.forget_requests()

    stack.up()

    assert changes(stack) == ["POST", "DELETE", "DELETE"], "first a new key, then no others"
    third = str(stack.project.outputs()["material"])
    stack.secrets.add(third)
    assert stack.coderd.key_of(first) is None
    assert stack.coderd.key_of(third)
    assert stack.preview(refresh=True).changes == []


def test_K8_K9_a_replacement_on_demand_does_not_take_the_key_of_live_daemons(
    stack: Operated,
) -> None:
    """`pulumi up --replace`: the engine does not say that there is a key, so its name comes up."""
    material = str(stack.project.outputs()["material"])
    connect(stack.coderd, material)
    key = stack.resources()["key"]["urn"]
    replace = ("up", "--yes", "--skip-preview", "--replace", key)

    said = stack.failure(lambda: stack.project.pulumi(*replace))

    assert "in use by 1 live daemon " in said
    assert stack.coderd.key_of(material)
    assert stack.preview(refresh=True).changes == []
