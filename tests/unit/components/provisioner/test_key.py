"""The key that a provisioner asks for, and where its material goes (K1, P2)."""

import base64

from coder_stack.settings import KeySettings
from tests.unit.components.provisioner.fleet import MATERIAL, fleet, render
from tests.unit.components.rendering import Recorder


def test_the_key_is_what_the_settings_say(licensed: Recorder) -> None:
    key = KeySettings(
        name="gpu",
        exact_name=True,
        tags={"gpu": "yes"},
        rotate_after_days=30,
        rotation="leaked",
    )
    render(fleet(organization="ml", key=key), adopted="old")
    asked = licensed.one("ProvisionerKey")
    wanted = {
        "connection": {"url": "https://coder.test"},
        "organization": "ml",
        "base_name": "gpu",
        "exact_name": True,
        "tags": {"gpu": "yes"},
        "deployment_id": "d-1",
        "trigger": "leaked",
        "rotate_after_days": 30,
        "enabled": True,
        "adopt_material": "old",
    }
    assert wanted.items() <= asked.items()


def test_P2_the_keys_name_begins_with_the_provisioners_unless_it_has_its_own(
    licensed: Recorder,
) -> None:
    render(fleet())
    assert licensed.one("ProvisionerKey")["base_name"] == "fleet"


def test_K1_the_material_is_in_the_secret_and_nowhere_else(licensed: Recorder) -> None:
    render(fleet())
    encoded = base64.b64encode(MATERIAL.encode()).decode()
    assert licensed.one("Secret")["data"] == {"key": encoded}
    others = [r for r in licensed.resources if not r.typ.endswith(":Secret")]
    assert not any(text in str(r.inputs) for r in others for text in (MATERIAL, encoded))
