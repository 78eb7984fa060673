"""Load the settings from Pulumi's config, or report every mistake at once with its path (B1).

Each field is checked alone, then what must fit together (clashes.py) among the valid ones. Secrets
are not parsed: the keys in SECRETS must be encrypted, and no other key may be, because previews and
outputs show all settings.
"""

import json
import types
from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

from pydantic import ValidationError

from coder_stack.config_keys import CONFIG, command_to_set
from coder_stack.counting import counted
from coder_stack.settings.clashes import Draft, clashes
from coder_stack.settings.mistakes import sentence
from coder_stack.settings.part import DRAFT, Part
from coder_stack.settings.tree import Settings, parts_of

SECRETS: Mapping[str, str] = types.MappingProxyType(
    {
        "token": "an owner's session token, for the operator",
        "licenseJwt": "the license",
        "initialPassword": "the first user's password",
        "notifyUrl": "the URL of the webhook in `notify`",
    }
)
"""Secret config keys and what they hold: `pulumi config set --secret <key>`."""


class ConfigError(Exception):
    """All mistakes in a config, one line each."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        lines = "".join(f"\n  - {problem}" for problem in problems)
        count = counted(len(problems), "mistake")
        super().__init__(f"{count} in the stack's config; nothing was changed:{lines}")


def namespace_of(config: Collection[str], project: str) -> str:
    """Return the namespace of this program's keys: the project's name, or else `coder-stack`.

    So files for the project `coder-stack`, e.g. those of examples/, work in a copy of any name.
    """
    known = {*_names(), *SECRETS}
    own = any(f"{project}:{key}" in config for key in known)
    given = any(f"{CONFIG}:{key}" in config for key in known)
    return CONFIG if given and not own else project


def load(
    config: Mapping[str, str],
    project: str,
    secret_keys: Collection[str] = (),
    found: Collection[str] = (),
) -> Settings:
    """Load settings from Pulumi's config, which maps `namespace:key` to text, often JSON.

    `found` are mistakes that the config does not show, to be reported with those in it.
    """
    namespace = namespace_of(config, project)
    prefix = f"{namespace}:"
    encrypted = {key.removeprefix(prefix) for key in secret_keys if key.startswith(prefix)}
    texts = {
        key.removeprefix(prefix): text for key, text in config.items() if key.startswith(prefix)
    }
    secrets = texts.keys() & SECRETS.keys()
    problems = set(found)
    if texts.pop(namespace, None) is not None:
        problems.add(
            f"{namespace}: is not a field; write each field below it as a key of its own, such as "
            f"{namespace}:controlPlane"
        )
    problems |= {
        f"{key}: must be encrypted; set it with: {command_to_set(key, namespace, project)}"
        for key in secrets - encrypted
    }
    problems |= _in_both_namespaces(config, project) if namespace == project else set()
    wrongly_encrypted = (encrypted & texts.keys() & set(_names())) - secrets
    problems |= {
        f"{key}: must not be encrypted, as previews and outputs show it; put a secret into a "
        f"Kubernetes Secret instead"
        for key in wrongly_encrypted
    }
    plain = {key: _value(texts[key]) for key in texts.keys() - secrets - wrongly_encrypted}
    settings = Settings()
    try:
        # Only code may use Python's names for fields.
        settings = Settings.model_validate(plain, by_alias=True, by_name=False, context=DRAFT)
    except ValidationError as error:
        problems |= {sentence(dict(each), SECRETS) for each in error.errors(include_url=False)}
    draft = _draft(plain, wrongly_encrypted)
    problems |= {f"{clash.path}: {clash.message}" for clash in clashes(draft, secrets)}
    if problems:
        raise ConfigError(sorted(problems))
    return settings


def _names() -> Iterator[str]:
    return (info.alias or name for name, info in Settings.model_fields.items())


def _in_both_namespaces(config: Collection[str], project: str) -> set[str]:
    """Report keys that would be ignored, because the project's own name has others."""
    if project == CONFIG:
        return set()
    return {
        f"{CONFIG}:{key}: must be {project}:{key}, as the other keys of this project"
        for key in {*_names(), *SECRETS}
        if f"{CONFIG}:{key}" in config
    }


def _value(text: str) -> Any:
    """Parse a value: Pulumi passes mappings and lists of YAML as JSON text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # also for too many digits, or too deep a tree
        return text


def _draft(plain: Mapping[str, Any], wrongly_encrypted: Collection[str]) -> Draft:
    """Return all parts that are valid, without their invalid fields."""
    parts: dict[str, Part] = {}
    invalid: dict[str, Collection[str]] = {}
    unusable: list[str] = []
    for path, model, given in parts_of(plain):
        if path in wrongly_encrypted:
            continue
        part, left_out = _salvage(model, given)
        if part is None:
            unusable.append(path)
        else:
            parts[path], invalid[path] = part, left_out
    return Draft(parts=parts, invalid=invalid, unusable=unusable)


def _salvage(model: type[Part], given: Any) -> tuple[Part | None, Collection[str]]:
    """Return the part without its invalid fields, and their names; None if that is invalid, too."""
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
                return None, ()  # a required field, or a key that is not text
            left_out |= wrong
        else:
            return part, left_out
    return None, ()
