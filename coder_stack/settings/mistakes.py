"""Messages for mistakes in single fields: path, what is allowed, and what was given.

Only plain single values are shown, and never near a secret: a password in the wrong field must not
get into a log.
"""

import difflib
import json
import re
import types
from collections.abc import Collection
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

from coder_stack.settings.tree import Settings

_LONGEST = 60
_PLAIN_STEP = re.compile(r"[A-Za-z0-9_-]{1,63}")
# Steps of a path where people put secrets by mistake, besides those with "secret" in them.
_NEAR_A_SECRET = ("license", "database", "token", "password", "cabundle")
_LOOKS_LIKE_A_SECRET = re.compile(r"eyJ|-----BEGIN|://[^/]*@")
_NOT_SHOWN = "(not shown: it may be a secret)"
_KINDS: dict[type, str] = {dict: "a mapping", list: "a list", type(None): "nothing"}


def sentence(error: dict[str, Any], top_level: Collection[str] = ()) -> str:
    """Return one line for an error of pydantic. `top_level` lists further keys of a config."""
    loc: tuple[int | str, ...] = error["loc"]
    path, given = _path(loc), error["input"]
    match error["type"]:
        case "extra_forbidden":
            return f"{path}: is not a field; {_allowed(loc, top_level)}"
        case "missing":
            return f"{path}: is required"
        case "model_type" | "dict_type":
            return f"{path}: must be a mapping, got {_kind(given)}"
        case "tuple_type" | "list_type":
            return f"{path}: must be a list, got {_kind(given)}"
        case "string_type":
            hint = f"; write it in quotes: {_quoted(given)}" if _quotable(loc, given) else ""
            return f"{path}: must be text, got {_show(loc, given)}{hint}"
        case "value_error":
            return f"{path}: {error['ctx']['error']}, got {_show(loc, given)}"
        case _:
            said = str(error["msg"])
            return f"{path}: {said[0].lower()}{said[1:]}, got {_show(loc, given)}"


def _path(loc: tuple[int | str, ...]) -> str:
    text = ""
    for step in loc:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_STEP.fullmatch(step):
            text += f".{step}" if text else step
        elif step != "[key]":
            # A key that would be hard to read, or break the line.
            text += f"[{_shortened(json.dumps(step))}]"
    return text


def _show(loc: tuple[int | str, ...], given: object) -> str:
    if type(given) in _KINDS:
        return _kind(given)
    shown = json.dumps(given, default=str)
    if _is_near_a_secret(loc) or _LOOKS_LIKE_A_SECRET.search(shown):
        return f"{_kind(given)} {_NOT_SHOWN}"
    return _shortened(shown)


def _kind(given: object) -> str:
    return _KINDS.get(type(given), "text" if isinstance(given, str) else "a single value")


def _quotable(loc: tuple[int | str, ...], given: Any) -> bool:
    """Tell whether quotes help: YAML parses an unquoted `true` or `1.0` as no text."""
    return isinstance(given, bool | int | float) and not _is_near_a_secret(loc)


def _quoted(given: Any) -> str:
    return _shortened(json.dumps(json.dumps(given)))


def _is_near_a_secret(loc: tuple[int | str, ...]) -> bool:
    steps = [str(step).lower() for step in loc]
    return any("secret" in step or step.startswith(_NEAR_A_SECRET) for step in steps)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _allowed(loc: tuple[int | str, ...], top_level: Collection[str]) -> str:
    """Return the names of the fields there, the closest first."""
    model: type[BaseModel] = Settings
    for step in loc[:-1]:
        field = next((f for f in model.model_fields.values() if f.alias == step), None)
        inner = _model_in(field.annotation) if field else None
        model = inner or model
    known = [field.alias or name for name, field in model.model_fields.items()]
    names = sorted([*known, *top_level] if len(loc) == 1 else known)
    lower = {name.lower(): name for name in names}
    close = difflib.get_close_matches(str(loc[-1]).lower(), lower, n=1)
    hint = f"did you mean {lower[close[0]]}? " if close else ""
    return f"{hint}known fields: {', '.join(names)}"


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model in an annotation such as `X | None` or `tuple[X, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (Union, types.UnionType, tuple, list, dict):
        return next((m for a in get_args(annotation) if (m := _model_in(a))), None)
    return None
