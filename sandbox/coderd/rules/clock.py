"""Time that a test can move: the real clock plus an offset.

Everything that expires in the simulation (licenses, tokens, daemons, rate limits) looks at this
clock and no other.
"""

from datetime import UTC, datetime, timedelta


class Clock:
    """The simulation's idea of now; moves with real time, shifted by `offset`."""

    def __init__(self, offset: timedelta = timedelta()) -> None:
        self.offset = offset

    def now(self) -> datetime:
        """Now in UTC, with the microseconds a Postgres timestamp keeps."""
        return datetime.now(UTC) + self.offset

    def advance(self, by: timedelta) -> None:
        """Move time by that much; negative moves it back."""
        self.offset += by

    def set(self, to: datetime) -> None:
        """Make it `to` now."""
        self.offset = to - datetime.now(UTC)
