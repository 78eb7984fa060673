"""What became of each value: translated, not needed, or without a counterpart. Pure.

Every rule returns outcomes, and nothing else: what a rule does not mention cannot get lost, because
translation.py walks the values and not the rules.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, cast

Step = str | int
Path = tuple[Step, ...]

_LONGEST = 80
_EASY_TO_READ = re.compile(r"[A-Za-z0-9_/-][A-Za-z0-9_./-]{0,79}")


class Kind(StrEnum):
    """The three ends that a value can have."""

    TRANSLATED = "translated"
    UNNEEDED = "not needed"
    UNMATCHED = "no counterpart"


@dataclass(frozen=True)
class Place:
    """One value of the config: its whole path, and the value."""

    path: Path
    value: Any


@dataclass(frozen=True)
class Outcome:
    """What became of the value at a path, and of everything below it."""

    path: Path
    kind: Kind
    text: str = ""
    """Why it is not needed, or what to do. Never holds a value: it may be a secret."""
    places: tuple[Place, ...] = ()
    label: str = ""
    """Name of an item of a list, to be shown beside its index."""
    file: str = field(default="", compare=False)
    """Where the value is from."""

    @property
    def line(self) -> str:
        """Say it in one line."""
        where = f"{shown(self.path)} ({self.label})" if self.label else shown(self.path)
        if self.kind is Kind.TRANSLATED:
            return f"{where} -> {', '.join(shown(place.path) for place in self.places)}"
        return f"{where}: {self.text}"

    def named(self, label: str) -> "Outcome":
        """Return it with the name of the item."""
        return replace(self, label=label)


def translated(path: Path, *places: Place) -> Outcome:
    """Report a value that is in the config."""
    return Outcome(path, Kind.TRANSLATED, places=places)


def unneeded(path: Path, why: str) -> Outcome:
    """Report a value that changes nothing here."""
    return Outcome(path, Kind.UNNEEDED, why)


def unmatched(path: Path, what_to_do: str) -> Outcome:
    """Report a value that the config cannot express."""
    return Outcome(path, Kind.UNMATCHED, what_to_do)


def shown(path: Path) -> str:
    """Return a path for people; keys that are hard to read are in quotes."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif not _EASY_TO_READ.fullmatch(step):
            text += f"[{_shortened(json.dumps(step))}]"
        elif "." in step or "/" in step:
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def _shortened(quoted: str) -> str:
    return quoted if len(quoted) <= _LONGEST else f'{quoted[: _LONGEST - 4]}..."'


def is_empty(value: Any) -> bool:
    """Tell whether a value says nothing: null, no text, an empty list or mapping."""
    return value is None or value in ("", [], {})


def at(tree: Any, path: Sequence[str]) -> Any:
    """Return what is at a path of mappings; None if there is nothing."""
    for step in path:
        tree = cast("Mapping[str, Any]", tree).get(step) if isinstance(tree, Mapping) else None
    return tree


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Return every single value with its path; an empty list or mapping is one, too."""
    match value:
        case dict() if value:
            for key, below in cast("dict[str, Any]", value).items():
                yield from leaves(below, (*path, key))
        case list() if value:
            for index, below in enumerate(cast("list[Any]", value)):
                yield from leaves(below, (*path, index))
        case _:
            yield path, value
