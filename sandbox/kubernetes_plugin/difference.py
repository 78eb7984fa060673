"""Compare the live object, reduced to our fields, with new inputs: path → kind of change."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from sandbox.kubernetes_plugin.replacement import Path, replaces
from sandbox.kubernetes_plugin.values import Object, Unknown, Value


class Change(Enum):
    """The kinds of change of the protocol (PropertyDiff.Kind)."""

    ADD = 0
    ADD_REPLACE = 1
    DELETE = 2
    DELETE_REPLACE = 3
    UPDATE = 4
    UPDATE_REPLACE = 5

    @property
    def replacing(self) -> bool:
        """Return whether the change replaces the object."""
        return self in {Change.ADD_REPLACE, Change.DELETE_REPLACE, Change.UPDATE_REPLACE}


_REPLACING: Final = {
    Change.ADD: Change.ADD_REPLACE,
    Change.DELETE: Change.DELETE_REPLACE,
    Change.UPDATE: Change.UPDATE_REPLACE,
}


@dataclass(frozen=True)
class InputsDiff:
    """All changes by property path, in the engine's notation."""

    changes: dict[str, Change]

    @property
    def replaces(self) -> list[str]:
        """Return the paths that force a replacement."""
        return sorted(path for path, change in self.changes.items() if change.replacing)


def difference(
    old: Object, new: Object, replacing: tuple[str, ...], ignored: Iterable[str] = ()
) -> InputsDiff:
    """Return the changes from `old` to `new`, without ignored ones."""
    found: dict[Path, Change] = {}
    _compare_maps((), old, new, replacing, found)
    skip = [parse_path(path) for path in ignored]
    return InputsDiff(
        {
            format_path(path): change
            for path, change in found.items()
            if not any(_contains(prefix, path) for prefix in skip)
        }
    )


def _compare_maps(
    path: Path, old: Object, new: Object, replacing: tuple[str, ...], found: dict[Path, Change]
) -> None:
    for key in sorted(old.keys() | new.keys()):
        _compare((*path, key), old.get(key), new.get(key), replacing, found)


def _compare(
    path: Path, old: Value, new: Value, replacing: tuple[str, ...], found: dict[Path, Change]
) -> None:
    if isinstance(old, dict) and isinstance(new, dict):
        _compare_maps(path, old, new, replacing, found)
        return
    if isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            before = old[index] if index < len(old) else None
            after = new[index] if index < len(new) else None
            _compare((*path, index), before, after, replacing, found)
        return
    if _same(old, new):
        return
    change = Change.ADD if old is None else Change.DELETE if new is None else Change.UPDATE
    changed = old if new is None else new
    found[path] = _REPLACING[change] if replaces(path, changed, replacing) else change


def _same(old: Value, new: Value) -> bool:
    """Compare as JSON: 1 equals 1.0, but a boolean is not a number."""
    if isinstance(old, Unknown) or isinstance(new, Unknown):
        return False
    return isinstance(old, bool) == isinstance(new, bool) and old == new


def format_path(path: Path) -> str:
    """Format a path as the engine does: `spec.containers[0].image`, `metadata.labels["a.b/c"]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif any(special in step for special in '."[]'):
            text += '["' + step.replace('"', '\\"') + '"]'
        else:
            text += f".{step}" if text else step
    return text


def parse_path(text: str) -> Path:
    """Split a path in the engine's notation; `*` stays a string."""
    steps: list[str | int] = []
    rest = text
    while rest:
        if rest.startswith('["'):
            end = rest.index('"]', 2)
            while rest[end - 1] == "\\":
                end = rest.index('"]', end + 1)
            steps.append(rest[2:end].replace('\\"', '"'))
            rest = rest[end + 2 :]
        elif rest.startswith("["):
            inside, _, rest = rest[1:].partition("]")
            steps.append(int(inside) if inside.lstrip("-").isdigit() else inside)
        else:
            rest = rest.removeprefix(".")
            end = min((i for i in (rest.find("."), rest.find("[")) if i >= 0), default=len(rest))
            if end == 0:
                break
            steps.append(rest[:end])
            rest = rest[end:]
    return tuple(steps)


def _contains(prefix: Path, path: Path) -> bool:
    return len(prefix) <= len(path) and all(
        wanted in ("*", step) for wanted, step in zip(prefix, path, strict=False)
    )
