"""Read a Pulumi.<stack>.yaml as Pulumi passes it to the program, without Pulumi.

Also finds what Pulumi ignores: keys outside of `config:` (root_keys.py). Secrets are not decrypted.
Errors name keys, never values.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from coder_stack.config_keys import CONFIG
from coder_stack.settings.root_keys import (
    misplaced,
    other_spellings,
    settings_at_root,
    shown,
)


class NotAStackFileError(Exception):
    """The file cannot be read as a stack's config."""


@dataclass(frozen=True)
class StackFile:
    """Config by `project:key`, as text, and the keys with encrypted values.

    A setting outside of `config:` counts too, so that a check finds the mistakes in it at once.
    """

    texts: Mapping[str, str]
    secret_keys: frozenset[str]
    misplaced: tuple[str, ...] = ()
    """One sentence for each key that Pulumi ignores at the root of the file."""
    warnings: tuple[str, ...] = ()
    """What may be a mistake: keys of a project with a similar name, or no key of this one."""


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
    root = _root(file)
    config: Any = root.get("config") or {}
    if not isinstance(config, dict):
        raise NotAStackFileError("is not a stack's config: `config` is not a mapping")
    declared = {_key(key, project): value for key, value in cast("dict[Any, Any]", config).items()}
    values = settings_at_root(root, project) | declared
    return StackFile(
        texts={key: _text(value) for key, value in values.items()},
        secret_keys=frozenset(key for key, value in values.items() if _holds_secret(value)),
        misplaced=tuple(misplaced(root, project)),
        warnings=tuple(_warnings(values, project)),
    )


def misplaced_keys(file: Path, project: str) -> tuple[str, ...]:
    """Return what Pulumi ignored in the file; nothing if there is no such file."""
    try:
        return read_stack_file(file, project).misplaced
    except NotAStackFileError:
        return ()


def _root(file: Path) -> dict[str, Any]:
    """Return what is in the file; nothing if it is empty, as in Pulumi."""
    try:
        loader = _AsPulumi(file.read_text())
        node = loader.get_single_node()
        repeated = _repeated_key(node)
        document: Any = (
            loader.construct_document(node)  # pyright: ignore[reportUnknownMemberType]
            if node
            else None
        )
    except OSError as error:
        raise NotAStackFileError(f"cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise NotAStackFileError("is not text") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise NotAStackFileError(f"is not YAML{where}") from None
    if repeated:
        raise NotAStackFileError(f"{repeated}; keep one, with everything that is under both")
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise NotAStackFileError("is not a stack's config: it has no fields")
    return {str(key): value for key, value in cast("dict[Any, Any]", document).items()}


def _repeated_key(root: yaml.Node | None) -> str | None:
    """Find a key that a mapping has twice: Pulumi refuses the file, PyYAML keeps the last one."""
    waiting, seen = [root], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            lines: dict[str, int] = {}
            for key, value in node.value:
                waiting.append(value)
                if not isinstance(key, yaml.ScalarNode):
                    continue
                name, line = str(key.value), key.start_mark.line + 1
                if name in lines:
                    return f"has the key {shown(name)} twice, in lines {lines[name]} and {line}"
                lines[name] = line
    return None


def _warnings(values: Mapping[str, Any], project: str) -> Iterator[str]:
    yield from other_spellings(values, project)
    if not any(key.startswith((f"{project}:", f"{CONFIG}:")) for key in values):
        yield (
            f"there is no {project}:<field> under `config:`, so every setting has its default; "
            "a project with another name needs --project"
        )


def project_beside(file: Path) -> str:
    """Return the name in the Pulumi.yaml of the same folder; empty if there is none."""
    try:
        document: Any = yaml.safe_load((file.parent / "Pulumi.yaml").read_text())
        return str(document["name"])
    except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError):
        return ""


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
