"""The pack names one version number, its declared one (F6)."""

import pytest
from pulumi_policy import EnforcementLevel, policy

from pack import NAME, policies
from pack_version import VERSION, use_declared_version


def test_F6_pulumi_policy_names_the_declared_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """In "can't run policy …", for one; its own number for every pack is 0.0.1."""
    name = "_PolicyAnalyzerServicer"
    original = getattr(policy, name)
    monkeypatch.setattr(policy, name, original)
    use_declared_version()
    assert issubclass(getattr(policy, name), original), "the library uses attributes of the class"
    servicer = getattr(policy, name)(NAME, "0.0.1", policies(), EnforcementLevel.ADVISORY, None)
    assert servicer.GetAnalyzerInfo(None, None).version == VERSION
