"""Each resource is decoded once, not once for every rule.

pulumi-policy turns the engine's message into Python anew for each rule that looks at it; with some
thirty rules that is four fifths of what a pack costs. Rules here only read, so they can share.
Stands between pulumi-policy and the pack; changes no answer, only how long it takes.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from google.protobuf import json_format
from pulumi_policy import policy as sdk

__all__ = ["STEPS", "decode_once"]

STEPS = ("json_format", "deserialize_properties", "unknown_checking_proxy")
"""What pulumi-policy's servicer calls, one after the other, by these names."""
_MOST = 20_000


def decode_once() -> None:
    """From now on, in this process."""
    shared = {**vars(json_format), "MessageToDict": _remembering(json_format.MessageToDict)}
    setattr(sdk, STEPS[0], SimpleNamespace(**shared))
    for name in STEPS[1:]:
        setattr(sdk, name, _remembering(getattr(sdk, name)))


def _remembering(step: Callable[..., Any]) -> Callable[..., Any]:
    """The same answer for the same object; with further arguments it is asked anew."""
    known: dict[int, tuple[object, Any]] = {}

    def answer(given: Any, *more: Any) -> Any:
        if more:
            return step(given, *more)
        found = known.get(id(given))
        if found is None or found[0] is not given:
            if len(known) >= _MOST:
                known.clear()
            # Kept together: an object that is kept cannot lose its id to another one.
            found = known[id(given)] = (given, step(given))
        return found[1]

    return answer
