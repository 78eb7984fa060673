"""Geometry of the charts on the HTML page, in per cent of their width. Pure.

page/report.html.jinja draws them as inline SVG with relative lengths, so a chart fits any screen
and its text keeps its size. Labels are placed for the narrowest screen: a word without room inside
its segment stands above it, and a narrow chart leaves out the minor ticks.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from coder_stack.conditions import Condition
from coder_stack.operate.report.model import KeyAge, LicenseDates
from coder_stack.operate.report.sentences import as_utc
from coder_stack.operate.report.view import Tone

STATUS_TONES: dict[str, Tone] = {"True": "ok", "False": "bad", "Unknown": "warn"}
_ROTATE_SOON = 0.8
_ROOM_FOR_A_WORD = 14.0
# Gives the first and the last segment room for their words.
_MARGIN = 0.22
_MAX_TICKS = 5


@dataclass(frozen=True)
class Segment:
    """A coloured part of a bar, and the word on it."""

    tone: Tone
    start: float
    width: float
    label: str = ""

    @property
    def middle(self) -> float:
        """Return where its word stands."""
        return round(self.start + self.width / 2, 2)

    @property
    def has_room(self) -> bool:
        """Return whether its word fits inside, on a phone too."""
        return self.width >= _ROOM_FOR_A_WORD


@dataclass(frozen=True)
class Tick:
    """A labelled day on the time axis."""

    at: float
    label: str
    minor: bool


@dataclass(frozen=True)
class Timeline:
    """The license from before today to after the last date: valid, in grace, ended.

    `warned` is the time before the grace period in which reports warn.
    """

    segments: tuple[Segment, ...]
    warned: Segment | None
    ticks: tuple[Tick, ...]
    today: float


@dataclass(frozen=True)
class Bar:
    """A key's age; the limit is the age at which it is rotated, if there is one."""

    tone: Tone
    length: float
    limit: float | None


@dataclass(frozen=True)
class _Axis:
    first: datetime
    last: datetime

    def at(self, moment: datetime) -> float:
        share = (moment - self.first) / (self.last - self.first)
        return round(100 * min(max(share, 0), 1), 2)

    def segment(self, tone: Tone, start: datetime, end: datetime, label: str = "") -> Segment:
        at = self.at(start)
        return Segment(tone, at, round(self.at(end) - at, 2), label)


def timeline(license_dates: LicenseDates, today: datetime) -> Timeline | None:
    """Return None if there is no date to draw."""
    known = (license_dates.license_expires, license_dates.exp)
    dates = sorted(as_utc(moment) for moment in known if moment is not None)
    if not dates:
        return None
    now, begin, end = as_utc(today), dates[0], dates[-1]
    first, last = min(now, begin), max(now, end)
    margin = max(last - first, timedelta(days=1)) * _MARGIN
    axis = _Axis(first - margin, last + margin)
    parts = [
        axis.segment("ok", axis.first, begin, "valid"),
        axis.segment("warn", begin, end, "grace"),
        axis.segment("bad", end, axis.last, "ended"),
    ]
    if license_dates.exp is None:  # nobody knows when grace ends
        parts[1:] = [axis.segment("warn", begin, axis.last, "grace")]
    warned = None
    if license_dates.license_expires is not None and license_dates.warn_days:
        start = begin - timedelta(days=min(license_dates.warn_days, (begin - axis.first).days))
        warned = axis.segment("calm", start, begin)
    segments = tuple(part for part in parts if part.width > 0)
    return Timeline(segments, warned, tuple(_ticks(axis)), axis.at(now))


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
    statuses: list[str] = [condition.status for condition in conditions]
    segments: list[Segment] = []
    start = 0.0
    for status, tone in STATUS_TONES.items():
        if count := statuses.count(status):
            width = _percent(count, len(statuses))
            segments.append(Segment(tone, start, width, f"{count} {status}"))
            start += width
    return tuple(segments)


def _ticks(axis: _Axis) -> Iterable[Tick]:
    """Spread a few days evenly over the axis, none of them close to its ends."""
    days = max((axis.last - axis.first).days, 1)
    step = timedelta(days=-(-days // (_MAX_TICKS + 1)))
    day = (axis.first + max(step / 2, timedelta(days=1))).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    for number in range(_MAX_TICKS):
        if axis.first + step / 3 < day < axis.last - step / 3:
            label = f"{day:%b %Y}" if days > 300 else f"{day.day} {day:%b}"
            yield Tick(axis.at(day), label, minor=number % 2 == 1)
        day += step


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 2)
