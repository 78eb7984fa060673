"""A coderd that does not answer costs a run little, however many resources ask it.

Nobody listens on the port, or somebody does and never answers. Times are compared with what the
same work would take if every resource waited for itself.
"""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from coder_stack.dynamic.entitlements import EntitlementsProvider
from coder_stack.dynamic.operator_access import OperatorAccessProvider
from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from tests.provider.driver import UNKNOWN, ProviderProcess, provider_process
from tests.simulation import Simulation, license_text, simulated

MANY = 50
WORKERS = 4
"""The provider's own limit: it serves four operations at once."""


@pytest.fixture
def mute() -> Iterator[str]:
    """The URL of something that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < seconds


def inputs(connection: dict[str, Any], number: int, deployment: str) -> dict[str, Any]:
    return {
        "connection": connection,
        "organization": "coder",
        "base_name": f"fleet-{number}",
        "deployment_id": deployment,
    }


def test_U2_a_preview_waits_once_for_a_silent_coderd_not_once_a_resource(
    mute: str, process: ProviderProcess
) -> None:
    keys = process.of(ProvisionerKeyProvider())
    given = [inputs({"url": mute}, n, UNKNOWN) for n in range(MANY)]
    with at_most(20), ThreadPoolExecutor(WORKERS) as pool:  # one by one: MANY / WORKERS * 5 s
        assert all(checked.failures == [] for checked in pool.map(keys.check, given))


def test_CP5_once_operator_access_has_got_in_nobody_believes_in_silence(
    coderd: Simulation, process: ProviderProcess
) -> None:
    """Within one run: a look while coderd starts, then the wait, then the look that counts."""
    facts = process.of(EntitlementsProvider())
    given = {"connection": coderd.connection}
    coderd.fault("drop_before", "/api/v2/entitlements", count=-1)
    assert facts.check(given).inputs["stale"] is True
    coderd.peace()
    process.of(OperatorAccessProvider()).create(given)
    assert facts.check(given).inputs["stale"] is False


def test_K6_destroying_many_keys_of_a_dead_coderd_waits_for_the_first_only() -> None:
    with provider_process(environment={"CODER_STACK_DEADLINE": "4"}) as process:
        keys = process.of(ProvisionerKeyProvider())
        with simulated(licensed=True) as coderd:
            deployment = coderd.state.records.deployment_id
            held = [keys.create(inputs(coderd.connection, n, deployment)) for n in range(MANY)]
        # One by one it would take MANY / WORKERS * 4 s; in a hurry, a second each.
        with at_most(4 + MANY / WORKERS * 1.5 + 5), ThreadPoolExecutor(WORKERS) as pool:
            assert list(pool.map(keys.delete, held)) == [None] * MANY
        for each in held:
            assert (
                f'provisioner key "{each.outputs["name"]}" of "coder", delete: ' in process.stderr
            )
        assert process.stderr.count("It may still be there; remove it by hand.") == MANY


def test_K6_a_hurried_delete_still_deletes_if_coderd_is_back(coderd: Simulation) -> None:
    with provider_process(environment={"CODER_STACK_DEADLINE": "1"}) as process:
        coderd.act("POST", "/api/v2/licenses", {"license": license_text()})
        keys = process.of(ProvisionerKeyProvider())
        deployment = coderd.state.records.deployment_id
        given = [inputs(coderd.connection, n, deployment) for n in (1, 2)]
        first, second = map(keys.create, given)
        coderd.fault("drop_before", count=-1)
        keys.delete(first)
        coderd.peace()
        keys.delete(second)
        assert _names(coderd) == {first.outputs["name"]}


BUILT_IN = {"built-in", "user-auth", "psk"}


def _names(coderd: Simulation) -> set[str]:
    return {key.name for key in coderd.state.records.provisioner_keys.values()} - BUILT_IN
