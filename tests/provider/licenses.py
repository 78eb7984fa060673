"""The inputs of a license, uploads of it, and answers that list none."""

from typing import Any

from tests.simulation import Simulation

NO_LIST = [
    (401, "You are signed out or your session has expired.", "Forbidden"),
    (403, "Forbidden.", "Forbidden"),
    (500, "An internal server error occurred.", "Error"),
    (200, "this is no list", "Error"),
]
"""Status, message and reason of answers that do not tell which licenses there are."""
JTI = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"


def inputs(coderd: Simulation, jwt: str, **more: Any) -> dict[str, Any]:
    return {"connection": coderd.connection, "jwt": jwt, **more}


def uploads(coderd: Simulation) -> int:
    return len(coderd.requests("POST", "/licenses"))
