"""The simulation's only clock: the real time plus an offset that tests can change."""

from datetime import UTC, datetime, timedelta


class MovableClock:
    """The real time plus `offset`."""

    def __init__(self, offset: timedelta = timedelta()) -> None:
        self.offset = offset

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC) + self.offset

    def advance(self, by: timedelta) -> None:
        """Add to the offset."""
        self.offset += by

    def set(self, to: datetime) -> None:
        """Set the current time."""
        self.offset = to - datetime.now(UTC)
