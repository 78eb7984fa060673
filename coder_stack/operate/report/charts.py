"""The geometry of the pictures on the HTML page, in per cent of their width: no drawing in here.

Pure functions. The page draws them as inline SVG with relative lengths, so that one picture fits a
desk and a phone and its letters keep their size.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from coder_stack.conditions import Condition
from coder_stack.operate.report.model import KeyAge, LicenseDates
from coder_stack.operate.report.wording import in_utc

__all__ = ["Bar", "Segment", "Tick", "Timeline", "age_bar", "shares", "timeline"]

Tone = Literal["ok", "warn", "bad", "calm"]
_ROTATE_SOON = 0.8
_MARGIN = 0.12
_MOST_TICKS = 5


@dataclass(frozen=True)
class Segment:
    """A stretch of a bar."""

    tone: Tone
    start: float
    width: float


@dataclass(frozen=True)
class Tick:
    """A day on the axis, with its name."""

    at: float
    name: str


@dataclass(frozen=True)
class Timeline:
    """From before today to after the last date: valid, in grace, over."""

    segments: tuple[Segment, ...]
    ticks: tuple[Tick, ...]
    today: float


@dataclass(frozen=True)
class Bar:
    """A key's age; the limit is where it is rotated, if it is rotated by age."""

    tone: Tone
    length: float
    limit: float | None


def timeline(license_dates: LicenseDates, today: datetime) -> Timeline | None:
    """None without any date to draw."""
    given = (license_dates.license_expires, license_dates.exp)
    dates = sorted(in_utc(moment) for moment in given if moment is not None)
    if not dates:
        return None
    now = in_utc(today)
    first, last = min(now, dates[0]), max(now, dates[-1])
    margin = max(last - first, timedelta(days=1)) * _MARGIN
    first, last = first - margin, last + margin

    def at(moment: datetime) -> float:
        return round(100 * (moment - first) / (last - first), 2)

    grace, over = at(dates[0]), at(dates[-1])
    every = (Segment("ok", 0.0, grace), Segment("warn", grace, over - grace))
    segments = (*every, Segment("bad", over, 100 - over))
    ticks = tuple(Tick(at(day), name) for day, name in _ticks(first, last))
    return Timeline(segments, ticks, at(now))


def age_bar(key: KeyAge, oldest: int) -> Bar | None:
    """`oldest` is the age that fills the picture, unless this key has its own limit beyond it."""
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
    """How many hold, do not, are unknown: one bar."""
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
    """Days that divide the axis evenly enough, never at its very ends."""
    days = max((last - first).days, 1)
    step = -(-days // (_MOST_TICKS + 1))
    start = (first + timedelta(days=max(step // 2, 1))).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    year = days > 300
    for number in range(_MOST_TICKS):
        day = start + timedelta(days=step * number)
        if first < day < last - timedelta(days=step / 3):
            yield day, f"{day:%b %Y}" if year else f"{day.day} {day:%b}"


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 2)
