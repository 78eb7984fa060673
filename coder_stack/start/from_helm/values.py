"""Read values files of the charts `coder` and `coder-provisioner`, and merge them as Helm does.

Both charts have the key `coder`; what else is in a file tells them apart. Errors name files and
keys, never values.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path as FilePath
from typing import Any, cast

import yaml

from coder_stack.environment import URL
from coder_stack.start.from_helm.outcomes import Outcome, Path, at, leaves, shown, unneeded

STDIN = FilePath("-")
_MOST_VALUES = 20_000
_DEEPEST = 50
# Keys under `coder` that only the chart of coderd has.
_ONLY_CODERD = frozenset(
    {
        "envUseClusterAccessURL",
        "httproute",
        "ingress",
        "listenerset",
        "livenessProbe",
        "readinessProbe",
        "service",
        "tls",
        "workspaceProxy",
    }
)


class Chart(StrEnum):
    """The two charts."""

    CODER = "coder"
    PROVISIONER = "coder-provisioner"


class NotValuesError(Exception):
    """The file cannot be read as values of one of the charts."""


@dataclass(frozen=True)
class Values:
    """The values of one release, and what a later file has overridden."""

    chart: Chart
    tree: dict[str, Any]
    file: str
    overridden: tuple[Outcome, ...] = ()


def read_values(file: FilePath) -> Values:
    """Read one file; `-` is stdin."""
    name = "stdin" if file == STDIN else str(file)
    try:
        text = sys.stdin.read() if file == STDIN else file.read_text()
        document: Any = yaml.safe_load(text)
    except OSError as error:
        raise NotValuesError(f"{name} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise NotValuesError(f"{name} is not text") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise NotValuesError(f"{name} is not a YAML document{where}") from None
    except (ValueError, RecursionError):  # a date or number that does not exist; too deep a tree
        raise NotValuesError(f"{name} is not a YAML document that can be read") from None
    return values_in(document, name)


def values_in(document: Any, name: str) -> Values:
    """Check that a document is values of one of the charts."""
    if not isinstance(document, dict):
        raise NotValuesError(f"{name} holds no values: it is not a mapping")
    tree: dict[str, Any] = _Normal(name).tree(document, ())
    known = {key: tree[key] for key in ("coder", "provisionerDaemon") if tree.get(key) is not None}
    for key, value in known.items():
        if not isinstance(value, dict):
            raise NotValuesError(f"{name} holds no values of a Coder chart: {key} is not a mapping")
    coder: dict[str, Any] = known.get("coder", {})
    if not known:
        raise NotValuesError(
            f"{name} has neither `coder:` nor `provisionerDaemon:`, as values of the charts coder "
            "and coder-provisioner have"
        )
    if isinstance(coder.get("coder"), dict):
        raise NotValuesError(
            f"{name} holds the values of a chart around Coder's; give what is under its key "
            "`coder:` as a file of its own"
        )
    if coder.get("workspaceProxy"):
        raise NotValuesError(
            f"{name} deploys a workspace proxy; declare it under `proxies:`, as "
            "docs/keys-and-proxies.md shows"
        )
    # Without its folder, which says nothing to other readers of the config.
    short = FilePath(name).name
    return Values(_chart(coder, known.get("provisionerDaemon", {})), tree, short)


def releases(given: Sequence[Values]) -> list[Values]:
    """Merge the files of the chart `coder`; each of `coder-provisioner` is its own release."""
    coderd = [each for each in given if each.chart is Chart.CODER]
    merged: list[Values] = []
    if coderd:
        tree: dict[str, Any] = {}
        overridden: list[Outcome] = []
        for each in coderd:
            lost = list(_overridden(tree, each.tree, f"{each.file} overrides it"))
            overridden += lost
            tree = _merged(tree, each.tree)
        names = ", ".join(dict.fromkeys(each.file for each in coderd))
        merged.append(Values(Chart.CODER, tree, names, tuple(overridden)))
    return [*merged, *(each for each in given if each.chart is Chart.PROVISIONER)]


def _chart(coder: dict[str, Any], daemon: dict[str, Any]) -> Chart:
    """Tell the charts apart; the one of coderd has `provisionerDaemon.pskSecretName`, too."""
    if daemon.keys() - {"pskSecretName"}:
        return Chart.PROVISIONER
    if coder.keys() & _ONLY_CODERD:
        return Chart.CODER
    env = coder.get("env")
    listed = cast("list[Any]", env) if isinstance(env, list) else []
    names = [at(each, ("name",)) for each in listed]
    if URL in names:
        return Chart.PROVISIONER
    return Chart.PROVISIONER if daemon and not listed else Chart.CODER


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Merge mappings; the upper one wins, and a null removes the key, as in Helm."""
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            result[key] = _merged(cast("dict[str, Any]", old), cast("dict[str, Any]", value))
        else:
            result[key] = value
    return result


def _overridden(
    below: dict[str, Any], above: dict[str, Any], why: str, path: Path = ()
) -> Iterator[Outcome]:
    """Report the values that are lost by a merge."""
    for key, value in above.items():
        old, here = below.get(key), (*path, key)
        if isinstance(old, dict) and isinstance(value, dict):
            mappings = cast("dict[str, Any]", old), cast("dict[str, Any]", value)
            yield from _overridden(*mappings, why, here)
        elif key in below and old != value:
            yield from (unneeded((*here, *each), why) for each, _ in leaves(old))


class _Normal:
    """Makes a tree of plain mappings, lists, texts, numbers and booleans, or refuses."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._count = 0

    def tree(self, value: Any, path: Path) -> Any:
        self._count += 1
        if self._count > _MOST_VALUES or len(path) > _DEEPEST:  # also for an alias of itself
            raise NotValuesError(f"{self._file} is too large, or too deep, for values of a chart")
        match value:
            case dict():
                pairs = cast("dict[Any, Any]", value).items()
                named = {self._key(key, path): below for key, below in pairs}
                return {key: self.tree(below, (*path, key)) for key, below in named.items()}
            case list():
                listed = enumerate(cast("list[Any]", value))
                return [self.tree(each, (*path, index)) for index, each in listed]
            case float() if not math.isfinite(value):
                raise self._refusal(path, "is not a finite number")
            case None | bool() | int() | float() | str():
                return value
            case _:
                kind = type(value).__name__
                raise self._refusal(path, f"is of the type {kind}; write it in quotes")

    def _key(self, key: Any, path: Path) -> str:
        if isinstance(key, str):
            return key
        if isinstance(key, int | float):  # Helm reads YAML as JSON, whose keys are text
            return str(key).lower() if isinstance(key, bool) else str(key)
        raise self._refusal(path, "has a key that is not text")

    def _refusal(self, path: Path, why: str) -> NotValuesError:
        return NotValuesError(f"{self._file}: {shown(path) or 'the document'} {why}")
