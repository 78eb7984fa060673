"""From Pulumi's config to the typed tree, or to every mistake at once with its field's path (B1).

Secrets are not parsed: those that a stack may have are known by name, and must be encrypted.
"""

import difflib
import json
import types
from collections.abc import Collection, Mapping
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from coder_stack.settings.tree import Settings

__all__ = ["SECRETS", "ConfigError", "load"]

SECRETS: Mapping[str, str] = types.MappingProxyType(
    {
        "token": "a session token of coderd, for operator access",
        "licenseJwt": "the license",
        "initialPassword": "password of the first user",
    }
)
"""Secret config keys and what they hold: `pulumi config set --secret <key>`."""


class ConfigError(Exception):
    """All mistakes of a config, one line each."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        count = "1 mistake" if len(problems) == 1 else f"{len(problems)} mistakes"
        lines = "".join(f"\n  - {problem}" for problem in problems)
        super().__init__(f"{count} in the stack's config; nothing was changed:{lines}")


def load(config: Mapping[str, str], namespace: str, secret_keys: Collection[str] = ()) -> Settings:
    """Settings from Pulumi's config, which maps `namespace:key` to text (JSON for a mapping).

    What stands under a secret key is checked like the rest, but never shown.
    """
    prefix = f"{namespace}:"
    hidden = {key.removeprefix(prefix) for key in secret_keys}
    raw = {
        key.removeprefix(prefix): _value(text)
        for key, text in config.items()
        if key.startswith(prefix)
    }
    given = {key for key in SECRETS if key in raw}
    problems = [
        f"{key}: must be encrypted; set it with: pulumi config set --secret {key}"
        for key in given - hidden
    ]
    plain = {key: value for key, value in raw.items() if key not in SECRETS}
    try:
        # In YAML a field has one spelling; code may use Python's names.
        settings = Settings.model_validate(plain, by_alias=True, by_name=False)
    except ValidationError as error:
        problems += [_sentence(dict(e), hidden) for e in error.errors(include_url=False)]
        raise ConfigError(sorted(problems)) from None
    if problems := problems + _contradictions(settings, given):
        raise ConfigError(sorted(problems))
    return settings


def _contradictions(settings: Settings, secrets: Collection[str]) -> list[str]:
    """What is right by itself, but not beside a secret of the stack."""
    found: list[str] = []
    if settings.access.token_secret and "token" in secrets:
        found.append("access.tokenSecret: give it or the secret config token, not both")
    if settings.license.secret and "licenseJwt" in secrets:
        found.append("license.secret: give it or the secret config licenseJwt, not both")
    return found


def _value(text: str) -> Any:
    """Pulumi hands over text; what is a mapping or list in YAML arrives as JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _sentence(error: dict[str, Any], hidden: Collection[str]) -> str:
    path = _path(error["loc"])
    got = "[secret]" if error["loc"][0] in hidden else _show(error["input"])
    match error["type"]:
        case "extra_forbidden":
            return f"{path}: is not a field; {_allowed(error['loc'])}"
        case "missing":
            return f"{path}: is required"
        case "model_type" | "dict_type":
            return f"{path}: must be a mapping, got {got}"
        case "value_error":
            return f"{path}: {error['ctx']['error']}, got {got}"
        case _:
            said = str(error["msg"])
            return f"{path}: {said[0].lower()}{said[1:]}, got {got}"


def _path(loc: tuple[int | str, ...]) -> str:
    text = ""
    for step in loc:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step != "[key]":
            text += f".{step}" if text else step
    return text


def _show(given: Any) -> str:
    shown = json.dumps(given, default=str)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _allowed(loc: tuple[int | str, ...]) -> str:
    """The names that are possible at that place, the closest first."""
    model: type[BaseModel] = Settings
    for step in loc[:-1]:
        field = next((f for f in model.model_fields.values() if f.alias == step), None)
        inner = _model_in(field.annotation) if field else None
        model = inner or model
    names = sorted(field.alias or name for name, field in model.model_fields.items())
    close = difflib.get_close_matches(str(loc[-1]), names, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    return f"{hint}known here: {', '.join(names)}"


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The mapping that a field holds, seen through `X | None` and `tuple[X, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (Union, types.UnionType, tuple, list):
        return next((m for a in get_args(annotation) if (m := _model_in(a))), None)
    return None
