"""A license as tests ask for it, and how often coderd was asked to take one."""

from typing import Any

from tests.simulation import Simulation

JTI = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"


def inputs(coderd: Simulation, jwt: str, **more: Any) -> dict[str, Any]:
    return {"connection": coderd.connection, "jwt": jwt, **more}


def uploads(coderd: Simulation) -> int:
    return len(coderd.requests("POST", "/licenses"))
