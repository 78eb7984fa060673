"""What many keys cost coderd, counted by its own log: numbers of requests are not noisy."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from tests.provider.driver import ProviderProcess
from tests.simulation import Simulation

KEYS = 100
WORKERS = 4
"""The provider's own limit: it serves four operations at once."""
REQUESTS = 12
"""Of a refresh in which all is well."""


def organizations(coderd: Simulation) -> list[str]:
    for name in ("red", "green", "blue"):
        coderd.act("POST", "/api/v2/organizations", {"name": name})
    return ["coder", "red", "green", "blue"]


def inputs(coderd: Simulation, organization: str, number: int) -> dict[str, Any]:
    return {
        "connection": coderd.connection,
        "organization": organization,
        "base_name": f"fleet-{number}",
        "tags": {"number": str(number)},
        "deployment_id": coderd.state.records.deployment_id,
    }


def test_design_8_a_hundred_keys_in_four_organizations_cost_few_requests(
    licensed: Simulation, process: ProviderProcess
) -> None:
    keys = process.of(ProvisionerKeyProvider())
    where = organizations(licensed)
    given = [inputs(licensed, where[n % len(where)], n) for n in range(KEYS)]
    licensed.forget_requests()

    with ThreadPoolExecutor(WORKERS) as pool:
        held = list(pool.map(keys.create, given))
        created = Counter(licensed.requests())
        licensed.forget_requests()
        seen = list(pool.map(keys.read, held))
        refreshed = Counter(licensed.requests())

    assert len({each.id for each in held}) == KEYS
    assert created.total() <= 2 * KEYS + len(where), created
    assert all(
        each is not None and each.inputs == was.inputs for each, was in zip(seen, held, strict=True)
    )
    assert refreshed.total() <= REQUESTS, refreshed
