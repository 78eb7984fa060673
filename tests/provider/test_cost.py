"""What many keys cost coderd, counted by its own log: numbers of requests are not noisy."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

from pulumi import dynamic

from coder_stack.dynamic.daemons_connected import DaemonsConnectedProvider
from coder_stack.dynamic.entitlements import EntitlementsProvider
from coder_stack.dynamic.feature_gate import FeatureGateProvider
from coder_stack.dynamic.key.verification import TURNS
from coder_stack.dynamic.operator_access import OperatorAccessProvider
from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from tests.provider.driver import Driven, Held, ProviderProcess, provider_process
from tests.simulation import Simulation

KEYS = 100
WORKERS = 4
"""The provider's own limit: it serves four operations at once."""
REQUESTS = 7
"""Of a refresh in which all is well, besides the plaintexts in turn: four lists, version, user, and
entitlements. A license, proxies and declared organizations add a list each."""
GATE = {"feature": "external_provisioner_daemons"}


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

    assert len({each.id for each in held}) == KEYS
    assert created.total() <= 2 * KEYS + len(where), created

    daemons = process.of(DaemonsConnectedProvider())
    others = [
        *((daemons, daemons.create(_daemons(licensed, each))) for each in held),
        _held(process, OperatorAccessProvider(), _access(licensed)),
        _held(process, EntitlementsProvider(), {"connection": licensed.connection}),
        _held(process, FeatureGateProvider(), {"connection": licensed.connection, **GATE}),
    ]
    licensed.forget_requests()
    hours = [int(time.time()) // 3600]
    with provider_process() as refreshing, ThreadPoolExecutor(WORKERS) as pool:
        looking = refreshing.of(ProvisionerKeyProvider())
        rest = [(refreshing.of_reference(each.reference), was) for each, was in others]
        done = [pool.submit(looking.read, each) for each in held]
        done += [pool.submit(each.read, was) for each, was in rest]
        seen = [each.result() for each in done]
        # The preview that follows asks for nothing again, if it follows at once.
        for each, was in rest[:-4:-1]:
            each.check(was.inputs, was.inputs)
            each.diff(was, was.inputs)
    refreshed = Counter(licensed.requests())
    hours.append(int(time.time()) // 3600)
    in_turn = max(sum(UUID(each.id).int % TURNS == hour % TURNS for each in held) for hour in hours)

    was = [*held, *(each for _, each in others)]
    assert [each and each.inputs for each in seen] == [each.inputs for each in was]
    assert refreshed.total() <= REQUESTS + in_turn, refreshed


def _held(
    process: ProviderProcess, provider: dynamic.ResourceProvider, given: dict[str, Any]
) -> tuple[Driven, Held]:
    driven = process.of(provider)
    return driven, driven.create(given)


def _access(coderd: Simulation) -> dict[str, Any]:
    return {"connection": coderd.connection, "token": coderd.token, "wait_seconds": 5}


def _daemons(coderd: Simulation, key: Held) -> dict[str, Any]:
    place = {"organization": key.inputs["organization"], "key_id": key.outputs["key_id"]}
    return {"connection": coderd.connection, **place, "minimum": 0}
