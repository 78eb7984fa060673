"""Small pieces of English that every part of a report shares. Pure."""

from datetime import UTC, datetime

from coder_stack.counting import counted


def sentence(text: str) -> str:
    """Return the text with a capital letter and a full stop."""
    whole = text[:1].upper() + text[1:]
    return whole if whole.endswith((".", "…", "!", "?")) else f"{whole}."


def as_utc(moment: datetime) -> datetime:
    """Convert to UTC, so that all dates can be compared; a time without a zone is UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def days_between(earlier: datetime, later: datetime) -> int:
    """Return whole days; negative if `later` is in the past."""
    return (as_utc(later) - as_utc(earlier)).days


def format_day(moment: datetime) -> str:
    """Return `17 November 2026`."""
    utc = as_utc(moment)
    return f"{utc.day} {utc:%B %Y}"


def format_time(moment: datetime) -> str:
    """Return `17 November 2026, 21:50 UTC`."""
    return f"{format_day(moment)}, {as_utc(moment):%H:%M} UTC"


def days_until(later: datetime, now: datetime) -> str:
    """Return `in 3 days` or `3 days ago`."""
    days = days_between(now, later)
    return f"{counted(-days, 'day')} ago" if days < 0 else f"in {counted(days, 'day')}"
