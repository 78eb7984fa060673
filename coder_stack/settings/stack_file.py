"""Read a Pulumi.<stack>.yaml as Pulumi passes it to the program, without Pulumi.

Secrets are not decrypted. Errors never quote the file.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml


class NotAStackFileError(Exception):
    """The file cannot be read as a stack's config."""


@dataclass(frozen=True)
class StackFile:
    """Config by `project:key`, as text, and the keys with encrypted values."""

    texts: Mapping[str, str]
    secret_keys: frozenset[str]


class _AsPulumi(yaml.SafeLoader):
    """Loads YAML 1.2: `yes`, `on` and dates stay text."""


_BOOLEAN = "tag:yaml.org,2002:bool"
_AsPulumi.yaml_implicit_resolvers = {
    first: [
        (tag, form) for tag, form in rules if tag not in (_BOOLEAN, f"{_BOOLEAN[:-4]}timestamp")
    ]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_AsPulumi.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType]
    _BOOLEAN, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


def read_stack_file(file: Path, project: str) -> StackFile:
    """Return the config in the file. A key without a project is this project's, as in Pulumi."""
    try:
        document: Any = yaml.load(file.read_text(), Loader=_AsPulumi)  # noqa: S506  # a SafeLoader
    except OSError as error:
        raise NotAStackFileError(f"cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise NotAStackFileError("is not text") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise NotAStackFileError(f"is not YAML{where}") from None
    if not isinstance(document, dict):
        raise NotAStackFileError("is not a stack's config: it has no fields")
    config: Any = cast("dict[Any, Any]", document).get("config") or {}
    if not isinstance(config, dict):
        raise NotAStackFileError("is not a stack's config: `config` is not a mapping")
    values = {_key(key, project): value for key, value in cast("dict[Any, Any]", config).items()}
    return StackFile(
        texts={key: _text(value) for key, value in values.items()},
        secret_keys=frozenset(key for key, value in values.items() if _holds_secret(value)),
    )


def _key(key: object, project: str) -> str:
    name = str(key)
    return name if ":" in name else f"{project}:{name}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _holds_secret(value: Any) -> bool:
    """Tell whether anything in the value is encrypted: Pulumi then encrypts all of it."""
    match value:
        case {"secure": str(), **rest} if not rest:
            return True
        case dict():
            return any(_holds_secret(each) for each in cast("dict[Any, Any]", value).values())
        case list():
            return any(_holds_secret(each) for each in cast("list[Any]", value))
        case _:
            return False
