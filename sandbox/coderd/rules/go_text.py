"""Format and parse values as Go does, because coderd's messages contain them."""

import json
import re
from datetime import UTC, datetime

ZERO_TIME = datetime(1, 1, 1, tzinfo=UTC)
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)")
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def quoted(text: str) -> str:
    """Quote as Go's %q does."""
    return json.dumps(text, ensure_ascii=False)


def timestamp(moment: datetime) -> str:
    """Format a time as encoding/json does: RFC 3339 without trailing zeros."""
    text = moment.astimezone(UTC) if moment.year > 1 else moment
    fraction = f".{text.microsecond:06d}".rstrip("0") if text.microsecond else ""
    return f"{text:%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + fraction + "Z"


def time_string(moment: datetime) -> str:
    """Format a time as Go's time.Time.String() does."""
    text = moment.astimezone(UTC)
    fraction = f".{text.microsecond:06d}".rstrip("0") if text.microsecond else ""
    return f"{text:%Y-%m-%d %H:%M:%S}{fraction} +0000 UTC"


def duration_string(seconds: int) -> str:
    """Format whole seconds as Go's time.Duration.String() does: 168h0m0s, 1m0s, 5s."""
    hours, rest = divmod(seconds, 3600)
    minutes, secs = divmod(rest, 60)
    if hours:
        return f"{hours}h{minutes}m{secs}s"
    if minutes:
        return f"{minutes}m{secs}s"
    return f"{secs}s"


def parse_duration(text: str) -> float:
    """Parse as Go's time.ParseDuration does, in seconds; ValueError has Go's message."""
    body = text.removeprefix("-").removeprefix("+")
    if body == "0":
        return 0.0
    if not body or not re.fullmatch(rf"(?:{_DURATION.pattern})+", body):
        if re.fullmatch(r"[0-9.]+", body):
            raise ValueError(f"time: missing unit in duration {quoted(text)}")
        raise ValueError(f"time: invalid duration {quoted(text)}")
    total = sum(float(number) * _UNITS[unit] for number, unit in _DURATION.findall(body))
    return -total if text.startswith("-") else total


def parse_bool(text: str) -> bool:
    """Parse as Go's strconv.ParseBool does; ValueError has Go's message."""
    if text in {"1", "t", "T", "TRUE", "true", "True"}:
        return True
    if text in {"0", "f", "F", "FALSE", "false", "False"}:
        return False
    raise ValueError(f"strconv.ParseBool: parsing {quoted(text)}: invalid syntax")


def parse_int32(text: str) -> int:
    """Parse as Go's strconv.ParseInt(text, 10, 32) does; ValueError has Go's message."""
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ValueError(f"strconv.ParseInt: parsing {quoted(text)}: invalid syntax")
    value = int(text)
    if not -(2**31) <= value < 2**31:
        raise ValueError(f"strconv.ParseInt: parsing {quoted(text)}: value out of range")
    return value
