"""Decode each resource once instead of once per rule, which is 80 % of what a pack costs.

Replaces private names of pulumi-policy. Does nothing if one of them is missing: the pack gives the
same answers without it, only slower. Rules share the decoded properties because they only read.
"""

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

_CACHE_SIZE = 20_000


def decode_once() -> None:
    """Cache the decoding steps of pulumi-policy in this process, if it has all of them."""
    sdk = sys.modules.get("pulumi_policy.policy")
    json_format = getattr(sdk, "json_format", None)
    # Each step caches by the identity of the previous step's result, so one alone has no effect.
    to_dict = getattr(json_format, "MessageToDict", None)
    deserialize = getattr(sdk, "deserialize_properties", None)
    to_proxy = getattr(sdk, "unknown_checking_proxy", None)
    if sdk and callable(to_dict) and callable(deserialize) and callable(to_proxy):
        cached_format = SimpleNamespace(**{**vars(json_format), "MessageToDict": _cached(to_dict)})
        vars(sdk).update(
            json_format=cached_format,
            deserialize_properties=_cached(deserialize),
            unknown_checking_proxy=_cached(to_proxy),
        )


def _cached(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same result for the same object; calls with other arguments are not cached."""
    results: dict[int, tuple[object, Any]] = {}

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or kwargs:
            return step(*args, **kwargs)
        (given,) = args
        if id(given) not in results:
            if len(results) >= _CACHE_SIZE:
                results.clear()
            # The entry keeps `given` alive, so that no other object gets its id.
            results[id(given)] = (given, step(given))
        return results[id(given)][1]

    return call
