"""Pulumi's properties, and the models that they become.

Properties come with numbers as floats, without keys whose value is None, with `__provider` in them,
and in previews with unknown values at any depth. Secrets are `PropsSecret` fields.
"""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, TypeVar, get_args

import pulumi
from pydantic import PlainSerializer, SecretStr, TypeAdapter, ValidationError

from coder_stack.frozen_model import FrozenModel

Props = dict[str, Any]
M = TypeVar("M", bound="PropsModel")


def _reveal(secret: SecretStr) -> str:
    return secret.get_secret_value()


PropsSecret = Annotated[SecretStr, PlainSerializer(_reveal, return_type=str, when_used="json")]
"""A secret in a model; only `to_props` returns it in plain text, to be encrypted."""


class PropsModel(FrozenModel):
    """A model of properties: lax, because 3 arrives as 3.0."""

    @classmethod
    def secret_fields(cls) -> list[str]:
        """List the fields that hold a secret, `X | None` included."""
        return [name for name, field in cls.model_fields.items() if _holds_secret(field.annotation)]


class Problem(tuple[str, str]):
    """A field's path and what is wrong with it. An empty path hides the value: for secrets."""

    __slots__ = ()

    def __new__(cls, path: str, message: str) -> "Problem":
        """Make a tuple of the two."""
        return super().__new__(cls, (path, message))


class Known(dict[str, Any]):
    """The fields that are known by now, as Python values; those still unknown are left out."""


def to_props(model: PropsModel) -> Props:
    """Dump a model. The only place where a secret becomes plain text."""
    return model.model_dump(mode="json", exclude_none=True)


def parse(model: type[M], props: Mapping[str, Any]) -> M:
    """Parse properties without unknown values."""
    return model.model_validate({k: v for k, v in props.items() if v is not None})


def read_known(model: type[M], props: Mapping[str, Any]) -> tuple[Known, M | None, list[Problem]]:
    """Return the known fields, the model if nothing is unknown, and what is wrong."""
    given = {k: v for k, v in props.items() if k in model.model_fields and v is not None}
    unknown = {name for name, value in given.items() if pulumi.contains_unknowns(value)}
    hidden = set(model.secret_fields())
    try:
        if not unknown:
            whole = model.model_validate(given)
            return Known({name: getattr(whole, name) for name in model.model_fields}), whole, []
        known, problems = Known(), list[Problem]()
        for name, field in model.model_fields.items():
            if name in unknown:
                continue
            if name not in given:
                if field.is_required():
                    problems.append(Problem(name, "is required"))
                else:
                    known[name] = field.get_default(call_default_factory=True, validated_data={})
                continue
            try:
                known[name] = _adapter(model, name).validate_python(given[name])
            except ValidationError as error:
                problems += _problems(error, hidden, name)
    except ValidationError as error:
        return Known(), None, _problems(error, hidden)
    return known, None, problems


def field_to_props(model: type[PropsModel], name: str, value: object) -> Any:
    """Dump one field; an unknown value stays unknown."""
    if pulumi.contains_unknowns(value):
        return value
    return _adapter(model, name).dump_python(value, mode="json", exclude_none=True)


@cache
def _adapter(model: type[PropsModel], name: str) -> TypeAdapter[Any]:
    field = model.model_fields[name]
    annotated: Any = Annotated
    return TypeAdapter(annotated[field.annotation, field])


def _holds_secret(annotation: object) -> bool:
    return annotation is SecretStr or any(map(_holds_secret, get_args(annotation)))


def _problems(error: ValidationError, hidden: set[str], *prefix: str) -> list[Problem]:
    found = list[Problem]()
    for each in error.errors(include_url=False, include_input=False, include_context=False):
        loc = [*prefix, *map(str, each["loc"])]
        secret = bool(loc) and loc[0] in hidden
        path, said = ".".join(loc), str(each["msg"])
        message = f"{path}: {said}" if secret or not loc else said
        found.append(Problem("" if secret else path, message))
    return found
