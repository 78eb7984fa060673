"""What a stack has on record for people and reports (S1). Pure.

The stack's own outputs are few. What grows with the config is in the outputs of its component
CoderStack, and of what coderd allows in those of the entitlements. In the state of an earlier
version, and of a program that uses parts of this library, the stack's outputs have all of it.
"""

from collections.abc import Mapping
from typing import Any, cast

from pydantic import Field

from coder_stack.descriptors import ENTITLEMENTS
from coder_stack.frozen_model import FrozenModel

STACK = "pulumi:pulumi:Stack"
CODER_STACK = "coder-stack:index:CoderStack"

_MARK = "4dabf18193072939515e22adb298388d"  # Pulumi's mark of an encrypted value
_MASKED = "[secret]"


class _Resource(FrozenModel):
    type: str
    outputs: Mapping[str, Any] = Field(default_factory=dict[str, Any])
    delete: bool = False


class _Deployment(FrozenModel):
    resources: tuple[_Resource, ...] = ()


class _Export(FrozenModel):
    deployment: _Deployment | None = None


def recorded_outputs(exported: str) -> dict[str, Any]:
    """Read what `pulumi stack export` prints; secrets, which are encrypted in it, are masked."""
    deployment = _Export.model_validate_json(exported).deployment or _Deployment()
    by_type = {each.type: each.outputs for each in deployment.resources if not each.delete}
    found = {**by_type.get(STACK, {}), **by_type.get(CODER_STACK, {})}
    if entitlements := by_type.get(ENTITLEMENTS.type):
        found.setdefault("entitlements", _features(entitlements))
    return {name: _masked(value) for name, value in found.items()}


def _features(entitlements: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Add to each feature how much of it is in use, if coderd counts that (E1)."""
    features: Mapping[str, Mapping[str, Any]] = entitlements.get("features") or {}
    usage: Mapping[str, float] = entitlements.get("usage") or {}
    return {
        name: {**facts, **({"actual": int(usage[name])} if name in usage else {})}
        for name, facts in features.items()
    }


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        if _MARK in found:
            return _MASKED
        return {name: _masked(each) for name, each in found.items()}
    if isinstance(value, list):
        return [_masked(each) for each in cast("list[Any]", value)]
    return value
