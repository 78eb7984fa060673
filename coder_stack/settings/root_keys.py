"""Keys of a stack's file that are in the wrong place, which Pulumi ignores without a word.

At the root of the file Pulumi reads only its own keys; everything else belongs under `config:`.
What the settings say is checked by loading.py, wherever they were found. Pure.
"""

import difflib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, cast

from coder_stack.settings.loading import SECRETS
from coder_stack.settings.tree import Settings

PULUMI_KEYS = ("config", "encryptedkey", "encryptionsalt", "environment", "secretsprovider")
"""What Pulumi reads at the root of a stack's file."""

FIELDS = (*(info.alias or name for name, info in Settings.model_fields.items()), *SECRETS)
"""Keys of the project, without its name in front."""

_EASY_TO_READ = re.compile(r"[A-Za-z0-9_.:/-]{1,60}")


def misplaced(root: Mapping[str, Any], project: str) -> Iterator[str]:
    """Return one sentence for each key at the root that Pulumi ignores."""
    for key in root:
        if key not in PULUMI_KEYS:
            yield f"{shown(key)}: {_correction(key, project)}"


def settings_at_root(root: Mapping[str, Any], project: str) -> dict[str, Any]:
    """Return the settings of this project that are at the root, for a check of their values."""
    whole = root.get(project)
    nested = cast("dict[Any, Any]", whole) if isinstance(whole, dict) else {}
    candidates = {**root, **{f"{project}:{key}": value for key, value in nested.items()}}
    return {
        f"{project}:{field}": value
        for key, value in candidates.items()
        if (field := key.removeprefix(f"{project}:")) in FIELDS
    }


def other_spellings(keys: Iterable[str], project: str) -> Iterator[str]:
    """Warn of keys under `config:` whose project looks like a misspelling of this one."""
    for key in keys:
        namespace, _, field = key.partition(":")
        if namespace != project and _plain(namespace) == _plain(project):
            yield (
                f"{key}: is ignored, as it is of project {namespace}; this one is {project}: "
                f"write {project}:{_closest(field, FIELDS) or field}"
            )


def shown(key: str) -> str:
    """Return the key for a message, in quotes if it would be hard to read."""
    return key if _EASY_TO_READ.fullmatch(key) else f"{json.dumps(key)[:60]}"


def _correction(key: str, project: str) -> str:
    namespace, colon, field = key.partition(":")
    if key == project:
        return _belongs(f", as one key for each field: {project}:<field>")
    if colon:
        mine = _plain(namespace) == _plain(project)
        name = f"{project}:{_closest(field, FIELDS) or field}" if mine else key
        return _belongs(f", as {name}" if name != key else "")
    # Pulumi's own keys first: `configs` is nearer to `config` than to any field.
    own, setting = _closest(key, PULUMI_KEYS), _closest(key, FIELDS)
    if setting and not own:
        return _belongs(f", as {project}:{setting}")
    hint = f"did you mean {own}? " if own else ""
    return (
        f"is not a key of a stack's file; {hint}settings belong under `config:`; "
        f"known keys: {', '.join(PULUMI_KEYS)}"
    )


def _belongs(how: str) -> str:
    return f"belongs under `config:`{how}; Pulumi ignores it at the root of the file"


def _closest(word: str, known: Collection[str]) -> str | None:
    lower = {each.lower(): each for each in known}
    close = difflib.get_close_matches(word.lower(), lower, n=1, cutoff=0.75)
    return lower[close[0]] if close else None


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
