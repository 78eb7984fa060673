"""Decoding once changes what a pack costs, and nothing that it says.

On pulumi-policy's own servicer, private as it is: it is the thing that decodes.
"""

from typing import Any

import pytest
from google.protobuf import json_format
from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel
from pulumi_policy import policy as sdk

from decoding import STEPS, decode_once
from pack import policies
from tests.unit.policies import good
from tests.unit.policies.cases import BOX, SECRET, it
from tests.unit.policies.worlds import UNKNOWN, World, changed

BAD = changed(
    {
        **it(good.deployment(good.container(), good.container(image="coder:latest"))),
        "a": good.key(tags={}),
        "b": good.key(tags={}),
    },
    {f"{BOX}.env[0]": {"name": "TOKEN", "value": SECRET}, f"{BOX}.image": UNKNOWN},
)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The messages that were decoded; pulumi-policy is left as it was found."""
    seen: list[object] = []

    def count(message: Any) -> dict[str, Any]:
        seen.append(message)
        return original(message)

    original = json_format.MessageToDict
    monkeypatch.setattr(json_format, "MessageToDict", count)
    for name in STEPS:
        monkeypatch.setattr(sdk, name, getattr(sdk, name))
    return seen


def said(world: World) -> list[str]:
    """All that the pack answers about each resource, and about the stack."""
    servicer = sdk._PolicyAnalyzerServicer("pack", "1", policies(), EnforcementLevel.ADVISORY)
    stack, answers = proto.AnalyzeStackRequest(), list[str]()
    for name, res in world.items():
        request = proto.AnalyzeRequest(type=res.type, urn=res.urn(name), name=name)
        request.properties.update(res.props)
        answers += [str(servicer.Analyze(request, None)), str(servicer.Remediate(request, None))]
        one = stack.resources.add(type=res.type, urn=res.urn(name), name=name)
        one.properties.update(res.props)
    return [*answers, str(servicer.AnalyzeStack(stack, None))]


def test_the_answers_are_the_same(counted: list[object]) -> None:
    before = said(BAD)
    decode_once()
    assert said(BAD) == before
    assert "no-secret-in-env" in "".join(before)
    assert "key-tags" in "".join(before)
    assert "be known during preview" in "".join(before)
    assert counted


def test_each_resource_is_decoded_once_for_rules_and_once_for_the_stack(
    counted: list[object],
) -> None:
    said(BAD)
    often = len(counted)
    counted.clear()
    decode_once()
    said(BAD)
    once_each = 2 * len(BAD)
    assert len(counted) == once_each
    assert often > 5 * once_each


def test_another_resource_is_never_taken_for_an_earlier_one(counted: list[object]) -> None:
    decode_once()
    for number in range(200):
        name = f"pool-{number}"
        world = {name: good.key("psk" if number % 2 else name)}
        assert ("key-name" in said(world)[0]) == bool(number % 2)
    assert counted
