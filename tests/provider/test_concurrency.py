"""Four threads share one provider and its connections: nothing gets mixed up."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from coder_stack.dynamic.license import LicenseProvider
from tests.provider.api_server import api_server
from tests.provider.driver import Held, ProviderProcess, provider_process
from tests.provider.operators import Deployment
from tests.simulation import Simulation, license_text, simulated


def test_two_coderds_at_once_keep_their_own_tokens_and_licenses(
    process: ProviderProcess, tmp_path: Path
) -> None:
    """Each token is in a Secret of its own; a destroy has nothing else to go by."""
    driven = process.of(LicenseProvider())

    def create(coderd: Simulation, days: int) -> tuple[Simulation, Held]:
        secret = f"coder/{coderd.url.rpartition(':')[2]}"
        cluster.put(secret, token=coderd.token)
        connection = Deployment(coderd, cluster, secret).connection
        return coderd, driven.create({"connection": connection, "jwt": license_text(days=days)})

    def read(made: tuple[Simulation, Held]) -> bool:
        _, held = made
        return driven.read(held) is not None

    with (
        simulated() as one,
        simulated() as two,
        api_server(tmp_path) as cluster,
        ThreadPoolExecutor(8) as pool,
    ):
        made = list(pool.map(create, [one, two] * 6, range(100, 112)))
        assert all(pool.map(read, made * 3))
        assert len(one.license_ids()) == len(two.license_ids()) == 6
        with provider_process() as destroy:
            destroyed = destroy.of(LicenseProvider())
            list(pool.map(lambda each: destroyed.delete(each[1]), made))
        assert one.license_ids() == two.license_ids() == []
