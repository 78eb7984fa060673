"""What people and reports read of a recorded state (S1, E1)."""

import json
from collections.abc import Mapping
from typing import Any

from coder_stack.operate.engine.recorded_outputs import CODER_STACK, STACK, recorded_outputs
from tests.unit.operate.engine_events import CODER, MASKED

READY = {"component": "stack", "type": "Ready", "status": "True", "reason": "AllReady"}
KEY = {"component": "provisioner/eu", "type": "ProvisionerKeyReady", "status": "True"}


def state(*resources: tuple[str, Mapping[str, Any]], **more: Any) -> str:
    listed = [{"type": type_, "outputs": outputs, **more} for type_, outputs in resources]
    return json.dumps({"version": 3, "deployment": {"resources": listed}})


def test_S1_the_component_has_all_conditions_and_the_stack_those_that_matter() -> None:
    found = recorded_outputs(
        state(
            (CODER_STACK, {"conditions": [KEY, READY], "provisioners": [{"name": "eu"}]}),
            (STACK, {"conditions": [READY], "ready": "True"}),
        )
    )
    assert found["conditions"] == [KEY, READY]
    assert (found["ready"], found["provisioners"]) == ("True", [{"name": "eu"}])


def test_S1_the_state_of_an_earlier_version_has_all_of_it_in_the_stack() -> None:
    outputs = {"conditions": [KEY, READY], "entitlements": {"custom_roles": {"enabled": True}}}
    entitlements = (f"{CODER}Entitlements", {"features": {}})
    found = recorded_outputs(state((STACK, outputs), (CODER_STACK, {}), entitlements))
    assert found == outputs


def test_E1_entitlements_are_those_of_their_resource_with_what_is_in_use() -> None:
    facts = {"entitlement": "entitled", "enabled": True, "limit": 100}
    features = {"user_limit": facts, "custom_roles": {"entitlement": "entitled", "enabled": True}}
    outputs = {"features": features, "usage": {"user_limit": 7.0}}
    found = recorded_outputs(state((f"{CODER}Entitlements", outputs)))
    assert found["entitlements"] == {**features, "user_limit": {**facts, "actual": 7}}


def test_secrets_are_masked_wherever_they_are() -> None:
    found = recorded_outputs(state((STACK, {"adminPassword": MASKED, "list": [{"deep": MASKED}]})))
    assert found == {"adminPassword": "[secret]", "list": [{"deep": "[secret]"}]}


def test_what_the_engine_is_going_to_delete_is_not_read() -> None:
    assert recorded_outputs(state((STACK, {"ready": "True"}), delete=True)) == {}


def test_a_stack_that_was_never_deployed_has_none() -> None:
    assert recorded_outputs('{"version": 3, "deployment": null}') == {}
    assert recorded_outputs('{"version": 3, "deployment": {}}') == {}
