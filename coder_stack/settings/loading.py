"""From Pulumi's config to the typed tree, or to every mistake at once with its field's path (B1).

Each field is looked at alone, then what must fit together (rules.py) in everything that is right so
far. Secrets are not parsed: those that a stack may have are known by name, and must be encrypted;
nothing else may be, since all the rest is shown in previews and outputs.
"""

import json
import types
from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

from pydantic import ValidationError

from coder_stack.settings.mistakes import sentence
from coder_stack.settings.part import DRAFT, Part
from coder_stack.settings.rules import Draft, clashes
from coder_stack.settings.tree import Settings, parts_of

__all__ = ["SECRETS", "ConfigError", "load"]

SECRETS: Mapping[str, str] = types.MappingProxyType(
    {
        "token": "an owner's session token, for the operator",
        "licenseJwt": "the license",
        "initialPassword": "the first user's password",
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
    """Settings from Pulumi's config, which maps `namespace:key` to text (JSON for a mapping)."""
    prefix = f"{namespace}:"
    encrypted = {key.removeprefix(prefix) for key in secret_keys if key.startswith(prefix)}
    texts = {
        key.removeprefix(prefix): text for key, text in config.items() if key.startswith(prefix)
    }
    secrets = texts.keys() & SECRETS.keys()
    problems = {
        f"{key}: must be encrypted; set it with: pulumi config set --secret {key}"
        for key in secrets - encrypted
    }
    shut = (encrypted & texts.keys() & set(_names())) - secrets
    problems |= {
        f"{key}: must not be encrypted, as previews and outputs show it; put a secret into a "
        f"Kubernetes Secret instead"
        for key in shut
    }
    plain = {key: _value(texts[key]) for key in texts.keys() - secrets - shut}
    settings = Settings()
    try:
        # In YAML a field has one spelling; code may use Python's names.
        settings = Settings.model_validate(plain, by_alias=True, by_name=False, context=DRAFT)
    except ValidationError as error:
        problems |= {sentence(dict(each), SECRETS) for each in error.errors(include_url=False)}
    draft = _draft(plain, shut)
    problems |= {f"{clash.path}: {clash.says}" for clash in clashes(draft, secrets)}
    if problems:
        raise ConfigError(sorted(problems))
    return settings


def _names() -> Iterator[str]:
    return (info.alias or name for name, info in Settings.model_fields.items())


def _value(text: str) -> Any:
    """Pulumi hands over text; what is a mapping or list in YAML arrives as JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # also a number of too many digits, or too deep a tree
        return text


def _draft(plain: Mapping[str, Any], shut: Collection[str]) -> Draft:
    """Every part that can be had from what was given."""
    parts: dict[str, Part] = {}
    unsure: dict[str, Collection[str]] = {}
    for path, model, given in parts_of(plain):
        if path in shut:
            continue
        part, left_out = _salvage(model, given)
        if part is not None:
            parts[path], unsure[path] = part, left_out
    return Draft(parts=parts, unsure=unsure)


def _salvage(model: type[Part], given: Any) -> tuple[Part | None, Collection[str]]:
    """The part without its mistaken fields, and their names; None if it cannot be without."""
    left_out: set[str] = set()
    while isinstance(given, Mapping):
        fields = cast("Mapping[str, Any]", given)
        try:
            part = model.model_validate(
                {name: value for name, value in fields.items() if name not in left_out},
                by_alias=True,
                by_name=False,
                context=DRAFT,
            )
        except ValidationError as error:
            errors = error.errors(include_url=False)
            wrong = {str(each["loc"][0]) for each in errors if each["loc"]}
            if not wrong - left_out:
                return None, ()  # a field that must be given, or a key that is no text
            left_out |= wrong
        else:
            return part, left_out
    return None, ()
