"""A coderd whose version was not tried gets one warning per operation, and works (V1)."""

import pytest

from coder_stack.coderd.versions import TRIED
from tests.provider.driver import Held, ProviderProcess, provider_process
from tests.provider.operators import ACCESS
from tests.simulation import Simulation

WARNING = (
    f"warning: operator access: Coderd is v9.8.7; this program was tried with {TRIED[0]} to "
    f"{TRIED[-1]}. Nothing is refused; see docs/versions.md."
)


@pytest.fixture
def untried(coderd: Simulation) -> Simulation:
    coderd.state.flags.version = "v9.8.7+abc1234"
    return coderd


def create(process: ProviderProcess, coderd: Simulation) -> Held:
    given = {"connection": coderd.connection, "wait_seconds": 5, "token": coderd.token}
    return process.of(ACCESS).create(given)


def test_V1_every_operation_that_reads_the_version_warns_once(untried: Simulation) -> None:
    with provider_process(config={"coder-stack:token": untried.token}) as update:
        held = create(update, untried)
        update.of(ACCESS).read(held)
        update.of(ACCESS).diff(held, held.inputs)
        assert update.stderr.splitlines().count(WARNING) == 1
    with provider_process(config={"coder-stack:token": untried.token}) as preview:
        preview.of(ACCESS).diff(held, held.inputs)
        preview.of(ACCESS).diff(held, held.inputs)
        assert preview.stderr.splitlines() == [WARNING]
    with provider_process(config={"coder-stack:token": untried.token}) as refresh:
        assert refresh.of(ACCESS).read(held) == held
        assert refresh.stderr.splitlines() == [WARNING]


@pytest.mark.parametrize("version", [TRIED[0], f"{TRIED[-1]}+abc1234", "v0.0.0-devel+abc1234"])
def test_V1_a_tried_or_unknown_version_gets_no_warning(
    coderd: Simulation, process: ProviderProcess, version: str
) -> None:
    coderd.state.flags.version = version
    held = create(process, coderd)
    process.of(ACCESS).read(held)
    process.of(ACCESS).diff(held, held.inputs)
    assert "tried" not in process.stderr
