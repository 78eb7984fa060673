"""Strategies for objects as Kubernetes and the engine know them."""

from typing import Any

from hypothesis import strategies as st

KEYS = st.sampled_from(
    ["metadata", "spec", "data", "labels", "env", "args", "name", "value", "hostNetwork", "limits"]
) | st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=6)
SCALARS: st.SearchStrategy[Any] = (
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
    | st.integers(-(2**50), 2**50)
    | st.booleans()
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)
OBJECTS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(KEYS, VALUES, max_size=5)


def with_extras(value: Any, extra: Any) -> Any:
    """The value as a live object has it: further keys in maps, further elements in lists."""
    if isinstance(value, dict):
        grown = {key: with_extras(item, extra) for key, item in value.items()}
        return {**grown, "added-by-others": extra}
    if isinstance(value, list):
        return [*(with_extras(item, extra) for item in value), extra]
    return value
