"""Random models for property tests, built from their annotations, so that no field is forgotten."""

import functools
from datetime import date, datetime
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from hypothesis import strategies as st
from pydantic import BaseModel

from tests.unit.operate.reports import any_text, moments


@functools.cache
def anything(annotation: Any) -> st.SearchStrategy[Any]:
    """Return what may stand in a field with this annotation."""
    simple: dict[Any, st.SearchStrategy[Any]] = {
        str: any_text(), int: st.integers(0, 4000), bool: st.booleans(), date: st.dates(),
        datetime: moments(), type(None): st.none(),
    }  # fmt: skip
    if annotation in simple:
        return simple[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, UnionType):
        return st.one_of(*map(anything, arguments))
    if origin is tuple:
        return st.lists(anything(arguments[0]), max_size=2).map(tuple)
    assert issubclass(annotation, BaseModel), annotation
    fields = {
        each.alias or name: anything(each.annotation)
        for name, each in annotation.model_fields.items()
    }
    return st.fixed_dictionaries(fields).map(annotation.model_validate)
