"""Geometry of the charts on the HTML page, in per cent of their width. Pure.

page/report.html.jinja draws them as inline SVG with relative lengths, so a chart fits any screen
and its text keeps its size.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from coder_stack.conditions import Condition
from coder_stack.operate.report.model import KeyAge, LicenseDates
from coder_stack.operate.report.wording import as_utc

Tone = Literal["ok", "warn", "bad", "calm"]
_ROTATE_SOON = 0.8
_MARGIN = 0.12
_MAX_TICKS = 5


@dataclass(frozen=True)
class Segment:
    """A coloured part of a bar."""

    tone: Tone
    start: float
    width: float


@dataclass(frozen=True)
class Tick:
    """A labelled day on the time axis."""

    at: float
    label: str


@dataclass(frozen=True)
class Timeline:
    """The license from before today to after the last date: valid, in grace, expired."""

    segments: tuple[Segment, ...]
    ticks: tuple[Tick, ...]
    today: float


@dataclass(frozen=True)
class Bar:
    """A key's age; the limit is the age at which it is rotated, if there is one."""

    tone: Tone
    length: float
    limit: float | None


def timeline(license_dates: LicenseDates, today: datetime) -> Timeline | None:
    """Return None if there is no date to draw."""
    known = (license_dates.license_expires, license_dates.exp)
    dates = sorted(as_utc(moment) for moment in known if moment is not None)
    if not dates:
        return None
    now = as_utc(today)
    first, last = min(now, dates[0]), max(now, dates[-1])
    margin = max(last - first, timedelta(days=1)) * _MARGIN
    first, last = first - margin, last + margin

    def at(moment: datetime) -> float:
        return round(100 * (moment - first) / (last - first), 2)

    grace, end = at(dates[0]), at(dates[-1])
    valid, in_grace = Segment("ok", 0.0, grace), Segment("warn", grace, end - grace)
    segments = (valid, in_grace, Segment("bad", end, 100 - end))
    ticks = tuple(Tick(at(day), label) for day, label in _ticks(first, last))
    return Timeline(segments, ticks, at(now))


def age_bar(key: KeyAge, oldest: int) -> Bar | None:
    """Scale the bar so that `oldest` fills it, or this key's limit if that is higher."""
    if key.age_days is None:
        return None
    limit = key.rotate_after_days
    full = max(oldest, limit or 0, key.age_days, 1)
    tone: Tone = "calm"
    if limit:
        share = key.age_days / limit
        tone = "bad" if share >= 1 else "warn" if share >= _ROTATE_SOON else "ok"
    return Bar(tone, _percent(key.age_days, full), _percent(limit, full) if limit else None)


def shares(conditions: Iterable[Condition]) -> tuple[Segment, ...]:
    """Return one bar: the shares of conditions that are True, False and Unknown."""
    statuses = [condition.status for condition in conditions]
    segments: list[Segment] = []
    start = 0.0
    tones: dict[str, Tone] = {"True": "ok", "False": "bad", "Unknown": "calm"}
    for status, tone in tones.items():
        if count := statuses.count(status):  # pyright: ignore[reportArgumentType]
            width = _percent(count, len(statuses))
            segments.append(Segment(tone, start, width))
            start += width
    return tuple(segments)


def _ticks(first: datetime, last: datetime) -> Iterable[tuple[datetime, str]]:
    """Spread a few days evenly over the axis, none of them close to its ends."""
    days = max((last - first).days, 1)
    step = -(-days // (_MAX_TICKS + 1))
    start = (first + timedelta(days=max(step // 2, 1))).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    with_year = days > 300
    for number in range(_MAX_TICKS):
        day = start + timedelta(days=step * number)
        if first < day < last - timedelta(days=step / 3):
            yield day, f"{day:%b %Y}" if with_year else f"{day.day} {day:%b}"


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 2)
