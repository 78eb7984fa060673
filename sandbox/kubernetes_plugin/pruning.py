"""Reduce a live object to the fields in our inputs, so that fields of others are no difference.

As in the official plugin, list elements are matched by position.
"""

from sandbox.kubernetes_plugin.values import Object, Value


def prune(live: Object, shape: Object) -> Object:
    """Return the part of `live` whose keys are in `shape`."""
    return {key: _prune(value, shape[key]) for key, value in live.items() if key in shape}


def _prune(value: Value, shape: Value) -> Value:
    if isinstance(value, dict) and isinstance(shape, dict):
        return prune(value, shape)
    if isinstance(value, list) and isinstance(shape, list):
        return [_prune(item, shape[index]) for index, item in enumerate(value[: len(shape)])]
    return value
