"""Take back what the config refuses, so that the written config is always valid. Pure.

The models of the settings decide, as in a run of the program: each field alone, then what must fit
together. The reason of a refusal is told without the value, which may be a secret.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from pydantic import ValidationError

from coder_stack.settings import Settings
from coder_stack.settings.part import DRAFT
from coder_stack.start.from_helm.outcomes import Kind, Outcome, Path, Place, shown

_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


class RefusedError(Exception):
    """The config refuses what an option gives."""


def config_of(places: Sequence[Place]) -> dict[str, Any]:
    """Build the config; a later place overrides an earlier one."""
    config: dict[str, Any] = {}
    for place in places:
        inner: Any = config
        for step, following in zip(place.path, (*place.path[1:], None), strict=True):
            if following is None:
                _set(inner, step, place.value)
            else:
                inner = _step_into(inner, step, [] if isinstance(following, int) else {})
    return config


def _set(inner: Any, step: Any, value: Any) -> None:
    if value != {} or step not in inner:  # an object that is there may have fields already
        inner[step] = value


def _step_into(inner: Any, step: Any, new: Any) -> Any:
    if isinstance(inner, list):
        items = cast("list[Any]", inner)
        items += [{}] * (step + 1 - len(items))
        return items[step]
    return inner.setdefault(step, new)


def fitted(base: Sequence[Place], outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """Return the outcomes; what the config refuses has become one without a counterpart."""
    kept = list(outcomes)
    while found := list(_refusals(config_of([*base, *_places(kept)]))):
        changed = False
        for path, why in found:
            for index, outcome in enumerate(kept):
                if any(_related(place.path, path) for place in outcome.places):
                    what = f"{shown(path)} refuses it: {why}"
                    kept[index] = replace(outcome, kind=Kind.UNMATCHED, text=what, places=())
                    changed = True
        if not changed:
            path, why = found[0]
            raise RefusedError(f"{shown(path)}: {why}")
    return tuple(kept)


def _places(outcomes: Sequence[Outcome]) -> Iterator[Place]:
    return (place for outcome in outcomes for place in outcome.places)


def _refusals(config: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    try:
        settings = Settings.model_validate(config, by_alias=True, by_name=False, context=DRAFT)
    except ValidationError as error:
        for each in error.errors(include_url=False, include_input=False):
            yield each["loc"], _reason(dict(each))
        return
    for clash in settings.clashes():
        steps = _STEP.findall(clash.path)
        yield tuple(int(index) if index else name for index, name in steps), clash.message


def _reason(error: dict[str, Any]) -> str:
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    said = str(error["msg"])
    return f"{said[0].lower()}{said[1:]}"


def _related(place: Path, problem: Path) -> bool:
    shorter = min(len(place), len(problem))
    return place[:shorter] == problem[:shorter]
