"""The inputs of a provisioner key, and the keys that coderd has."""

from typing import Any

from tests.simulation import Simulation

KEYS = "/api/v2/organizations/coder/provisionerkeys"


def inputs(coderd: Simulation, **more: Any) -> dict[str, Any]:
    return {
        "connection": coderd.connection,
        "organization": "coder",
        "base_name": "fleet",
        "tags": {"region": "eu"},
        "deployment_id": coderd.state.records.deployment_id,
        **more,
    }


def names(coderd: Simulation) -> list[str]:
    return sorted(key.name for key in coderd.state.records.provisioner_keys.values())
