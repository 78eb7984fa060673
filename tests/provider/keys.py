"""A provisioner key as tests ask for it, and what coderd has of it."""

from typing import Any

import httpx

from tests.simulation import Simulation

KEYS = "/api/v2/organizations/coder/provisionerkeys"


def wish(coderd: Simulation, **more: Any) -> dict[str, Any]:
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


def opens(coderd: Simulation, material: str) -> str | None:
    """The name of the key that the material belongs to, as coderd itself says."""
    answer = httpx.get(
        f"{coderd.url}/api/v2/provisionerkeys/self",
        headers={"Coder-Provisioner-Daemon-Key": material},
        trust_env=False,
    )
    return answer.json()["name"] if answer.is_success else None
