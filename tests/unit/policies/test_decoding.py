"""Caching the decoded properties changes the cost of a pack, and none of its answers.

The tests use pulumi-policy's private servicer, because it does the decoding.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel
from pulumi_policy import policy as sdk

from decoding import decode_once
from pack import policies
from tests.unit.policies import compliant
from tests.unit.policies.cases.row import BOX, SECRET, it
from tests.unit.policies.judge import UNKNOWN, Resources, changed

BAD = changed(
    {
        **it(
            compliant.deployment(compliant.container(), compliant.container(image="coder:latest"))
        ),
        "a": compliant.key(tags={}),
        "b": compliant.key(tags={}),
    },
    {f"{BOX}.env[0]": {"name": "TOKEN", "value": SECRET}, f"{BOX}.image": UNKNOWN},
)


NAMES = ("json_format", "deserialize_properties", "unknown_checking_proxy")


_JUDGE = f"""
from decoding import decode_once
from pulumi_policy import policy
decode_once()
from tests.unit.policies.test_decoding import BAD, said
missing = [name for name in {NAMES} if not hasattr(policy, name)]
print(policy.__file__, "has no", *missing)
print(*said(BAD), sep=chr(10), end="")
"""


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Record the messages that are decoded, and restore pulumi-policy afterwards."""
    seen: list[object] = []

    def count(message: Any) -> dict[str, Any]:
        seen.append(message)
        return original(message)

    original = json_format.MessageToDict
    monkeypatch.setattr(json_format, "MessageToDict", count)
    for name in NAMES:
        monkeypatch.setattr(sdk, name, getattr(sdk, name))
    return seen


def said(resources: Resources) -> list[str]:
    """Return the pack's answers for each resource and for the stack."""
    servicer = sdk._PolicyAnalyzerServicer("pack", "1", policies(), EnforcementLevel.ADVISORY)
    stack, answers = proto.AnalyzeStackRequest(), list[str]()
    for name, res in resources.items():
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


@pytest.mark.parametrize("name", NAMES)
def test_the_pack_works_unmodified_with_a_pulumi_policy_that_renamed_what_is_cached(
    name: str, tmp_path: Path
) -> None:
    library = tmp_path / "pulumi_policy"
    shutil.copytree(Path(sdk.__file__).parent, library)
    source = (library / "policy.py").read_text()
    renamed = re.sub(rf"\b{name}\b", "renamed", source)
    renamed = re.sub(
        r"^(from .+ import .*)\brenamed\b", rf"\1{name} as renamed", renamed, flags=re.MULTILINE
    )
    (library / "policy.py").write_text(renamed)
    judged = subprocess.run(
        [sys.executable, "-c", _JUDGE],
        env={"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert judged.stdout == "\n".join([f"{library / 'policy.py'} has no {name}", *said(BAD)])


def test_arguments_that_a_later_pulumi_policy_may_add_are_passed_on(
    counted: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sdk, "unknown_checking_proxy", lambda _, *, strict=False: strict)
    decode_once()
    assert sdk.unknown_checking_proxy({}, strict=True)
    assert not counted


def test_another_resource_is_never_taken_for_an_earlier_one(counted: list[object]) -> None:
    decode_once()
    for number in range(200):
        name = f"pool-{number}"
        resources = {name: compliant.key("psk" if number % 2 else name)}
        assert ("key-name" in said(resources)[0]) == bool(number % 2)
    assert counted
