"""A provider process and a simulated coderd for each test that asks for them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from coder_stack.dynamic.license import LicenseProvider
from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from tests.provider.api_server import ApiServer, api_server
from tests.provider.driver import Driven, ProviderProcess, Said, provider_process
from tests.provider.operators import PASSWORD, PASSWORD_SECRET, Deployment
from tests.simulation import Simulation, simulated


@pytest.fixture
def coderd() -> Iterator[Simulation]:
    """Enterprise build with an owner, but without a license."""
    with simulated() as simulation:
        yield simulation


@pytest.fixture
def licensed() -> Iterator[Simulation]:
    """The same with a license that entitles to everything."""
    with simulated(licensed=True) as simulation:
        yield simulation


@pytest.fixture
def process() -> Iterator[ProviderProcess]:
    with provider_process() as running:
        yield running


@pytest.fixture(scope="module")
def shared_process() -> Iterator[ProviderProcess]:
    """One for all tests of a file: each has a coderd of its own, and no process mixes those up."""
    with provider_process() as running:
        yield running


@pytest.fixture
def said(shared_process: ProviderProcess) -> Said:
    """What the shared process has told the user since the test began."""
    heard = len(shared_process.stderr)
    return lambda: shared_process.stderr[heard:]


@pytest.fixture
def keys(shared_process: ProviderProcess) -> Driven:
    """Provisioner keys, which several files are about."""
    return shared_process.of(ProvisionerKeyProvider())


@pytest.fixture
def licenses(shared_process: ProviderProcess) -> Driven:
    """Licenses, likewise."""
    return shared_process.of(LicenseProvider())


@pytest.fixture
def secrets_api(tmp_path: Path) -> Iterator[ApiServer]:
    """With the first user's password in a Secret."""
    with api_server(tmp_path) as server:
        server.put(PASSWORD_SECRET, password=PASSWORD)
        yield server


@pytest.fixture
def deployment(secrets_api: ApiServer) -> Iterator[Deployment]:
    """A coderd that nobody has set up yet."""
    with simulated(fresh=True) as coderd:
        yield Deployment(coderd, secrets_api)


@pytest.fixture
def other_deployment(secrets_api: ApiServer) -> Iterator[Deployment]:
    """Another one, whose operator's Secret has the same name."""
    with simulated(fresh=True) as coderd:
        yield Deployment(coderd, secrets_api)
