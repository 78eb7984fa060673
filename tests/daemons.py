"""Daemons that come to the simulated coderd with a key."""

import httpx

from tests.simulation import Simulation


def connect(coderd: Simulation, material: str, name: str = "daemon") -> None:
    httpx.post(
        f"{coderd.url}/_sim/daemons",
        json={"name": name},
        headers={"Coder-Provisioner-Daemon-Key": material},
        trust_env=False,
    ).raise_for_status()
