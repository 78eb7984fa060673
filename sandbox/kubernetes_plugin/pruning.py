"""The live object cut down to the shape of our inputs: what others own never shows as a difference.

Keys that the inputs do not name are dropped (status, defaults, what a controller or another
manager added); list elements are matched by position and further live ones dropped, as the
official plugin does.
"""

from sandbox.kubernetes_plugin.values import Object, Value


def prune(live: Object, shape: Object) -> Object:
    """The part of `live` that `shape` names."""
    return {key: _prune(value, shape[key]) for key, value in live.items() if key in shape}


def _prune(value: Value, shape: Value) -> Value:
    if isinstance(value, dict) and isinstance(shape, dict):
        return prune(value, shape)
    if isinstance(value, list) and isinstance(shape, list):
        return [_prune(item, shape[index]) for index, item in enumerate(value[: len(shape)])]
    return value
