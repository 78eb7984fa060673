"""The program's side: type tokens, outputs that exist, secrets whatever the caller passes."""

from collections.abc import Iterator
from importlib import import_module
from inspect import signature
from typing import Any

import pulumi
import pytest

import coder_stack.stack  # noqa: F401  # brings every kind of resource
from coder_stack.dynamic.entitlements import Entitlements
from coder_stack.dynamic.feature_gate import FeatureGate
from coder_stack.dynamic.license import License
from coder_stack.dynamic.operator_access import OperatorAccess
from coder_stack.dynamic.provisioner_key import ProvisionerKey
from coder_stack.dynamic.runtime.resource import CoderdResource
from coder_stack.dynamic.secret_value import SecretValue

SECRET_MARK = "4dabf18193072939515e22adb298388d"


class Recorder(pulumi.runtime.Mocks):
    def __init__(self) -> None:
        self.made: dict[str, pulumi.runtime.MockResourceArgs] = {}

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        self.made[args.typ] = args
        return "id", {**args.inputs, "tier": "premium", "license_id": "7", "user": "admin"}

    def call(self, _args: pulumi.runtime.MockCallArgs) -> tuple[dict[str, Any], None]:
        return {}, None


@pytest.mark.parametrize("kind", CoderdResource.__subclasses__(), ids=lambda kind: kind.__name__)
def test_every_output_that_a_resource_promises_is_in_its_state(kind: type[CoderdResource]) -> None:
    provider = getattr(import_module(kind.__module__), f"{kind.__name__}Provider")
    assert set(kind.__annotations__) <= set(provider.state_model.model_fields)


def test_CP10_only_operator_access_is_given_a_token() -> None:
    """All others find it at its home, which `connection` names."""
    taking = [k for k in CoderdResource.__subclasses__() if "token" in signature(k).parameters]
    assert taking == [OperatorAccess]


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    recorder = Recorder()
    pulumi.runtime.set_mocks(recorder, preview=False)
    return recorder


@pulumi.runtime.test
async def test_type_tokens_and_outputs(recorder: Recorder) -> None:
    connection = {"url": "http://127.0.0.1:1"}
    access = OperatorAccess("a", connection=connection)
    license_ = License("l", connection=connection, jwt="a.b.c")
    found = Entitlements("e", connection=connection)
    assert await access.user.future() == "admin"
    assert await license_.license_id.future() == "7"
    assert await found.tier.future() == "premium"
    base = "pulumi-python:dynamic/coder"
    assert set(recorder.made) >= {
        f"{base}:OperatorAccess",
        f"{base}:License",
        f"{base}:Entitlements",
    }


@pulumi.runtime.test
async def test_L9_a_license_passed_in_the_clear_leaves_the_program_as_a_secret(
    recorder: Recorder,
) -> None:
    license_ = License("l", connection={"url": "http://127.0.0.1:1"}, jwt="a.b.c")
    await license_.license_id.future()
    sent = recorder.made["pulumi-python:dynamic/coder:License"].inputs
    assert SECRET_MARK in sent["jwt"]
    assert SECRET_MARK not in str(sent["__provider"])


@pulumi.runtime.test
async def test_L9_the_place_of_a_secrets_value_is_sent_as_a_secret(recorder: Recorder) -> None:
    """Pulumi encrypts what `check` finds only if an input of that name was a secret."""
    kept = SecretValue("s", namespace="coder", name="license", key="license")
    await kept.fingerprint.future()
    sent = recorder.made["pulumi-python:dynamic/coder:SecretValue"].inputs
    assert SECRET_MARK in sent["value"]
    assert (sent["namespace"], sent["name"], sent["key"]) == ("coder", "license", "license")


@pulumi.runtime.test
async def test_a_feature_gate_is_told_connection_and_feature_alone(recorder: Recorder) -> None:
    gate = FeatureGate("g", connection={"url": "http://127.0.0.1:1"}, feature="high_availability")
    await gate.open.future()
    sent = recorder.made["pulumi-python:dynamic/coder:FeatureGate"].inputs
    assert {name for name, value in sent.items() if value is not None} == {
        "__provider", "connection", "feature",
    }  # fmt: skip


@pulumi.runtime.test
async def test_K8_a_key_is_told_which_stack_asks() -> None:
    """The provider's process does not know the stack it works for."""
    asked: set[str] = set()
    for project, stack in (("p", "one"), ("p", "two"), ("q", "one"), ("p", "one")):
        recorder = Recorder()
        pulumi.runtime.set_mocks(recorder, project=project, stack=stack, preview=False)
        key = ProvisionerKey(
            "k",
            connection={"url": "http://127.0.0.1:1"},
            organization="coder",
            base_name="fleet",
            deployment_id="d",
        )
        await key.urn.future()
        sent = recorder.made["pulumi-python:dynamic/coder:ProvisionerKey"].inputs
        asked.add(sent["owner"])
    assert len(asked) == 3
