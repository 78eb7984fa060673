"""A provisioner named `fleet` for the tests of this folder, and how it is rendered.

Wiring only, on Pulumi's mocks; tests/engine proves that the objects work.
"""

import hashlib
from typing import Any

import pulumi

from coder_stack.components.provisioner import Provisioner, ProvisionerArgs
from coder_stack.settings import Image, ProvisionerSettings
from tests.unit.components import rendering
from tests.unit.components.operator import operator

FEATURE = "external_provisioner_daemons"
MATERIAL = "the-plaintext-of-a-key"
ISSUED = {
    "provisioned": True,
    "key_id": "k-1",
    "name": "fleet-0a1b2c3d4e",
    "material": MATERIAL,
    "material_sha256": hashlib.sha256(MATERIAL.encode()).hexdigest(),
    "created_at": "2026-01-01T00:00:00+00:00",
    "deferred": [],
    "reason": "",
}
NOT_ISSUED = {
    "provisioned": False,
    "key_id": "",
    "name": "fleet-0a1b2c3d4e",
    "material": "",
    "material_sha256": "",
    "created_at": "",
    "deferred": [],
    "reason": "NotEntitled",
}
CONNECTED = {"count": 1, "versions": ["v2.30.0"], "skewed": [], "connected": True, "reason": ""}
NOT_CONNECTED = {
    "count": 0,
    "versions": [],
    "skewed": [],
    "connected": False,
    "reason": "NotEntitled",
}


def render(
    settings: ProvisionerSettings,
    *,
    features: tuple[str, ...] = (FEATURE,),
    adopted: str | None = None,
    coderd: str = "v2.30.0",
) -> dict[str, Any]:
    def build() -> dict[str, Any]:
        made = Provisioner(
            settings.name,
            ProvisionerArgs(
                settings=settings,
                operator=operator(*features),
                image=Image(tag=coderd),
                url="http://coder.coder.svc.cluster.local:80",
                namespace="coder",
                adopted_material=adopted,
            ),
        )
        return {
            "conditions": made.conditions,
            "secret": pulumi.Output.from_input(made.conditions.is_secret()),
            "summary": made.summary,
        }

    return rendering.render(build)


def fleet(**more: Any) -> ProvisionerSettings:
    return ProvisionerSettings(name="fleet", **more)
