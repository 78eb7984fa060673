"""The lock that keeps the watcher from a check: what to say of it, and when to tell people (N1).

Pure. Another update mostly ends within minutes. A lock that a killed run on this machine has left
behind is told at once, and any other when it is too old for a running update.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from coder_stack.operate.engine.errors import LeftLockError, LockedError

LONGEST_UPDATE = timedelta(minutes=15)
"""An update takes minutes; one that waits for a person looks like a dead one."""


@dataclass
class LockWait:
    """What was said of the lock that is waited for."""

    say: Callable[[str], None]
    _lock: str = ""
    _since: datetime | None = None
    _told: bool = False

    def must_tell(self, locked: LockedError, now: datetime) -> bool:
        """Take in that it is locked; return True once if people must help."""
        if str(locked) != self._lock:
            self._lock, self._since, self._told = str(locked), _taken_at(locked, now), False
            if not isinstance(locked, LeftLockError):
                self.say(f"waiting: {locked}")
        since = self._since or now
        if self._told or not (isinstance(locked, LeftLockError) or now - since > LONGEST_UPDATE):
            return False
        self._told = True
        return True

    @property
    def is_waiting(self) -> bool:
        """Whether a lock was seen that is not known to have ended."""
        return bool(self._lock)

    def over(self) -> bool:
        """Take in that the stack is not locked; return whether people were told that it was."""
        told, self._lock, self._told = self._told, "", False
        return told


def _taken_at(locked: LockedError, now: datetime) -> datetime:
    """Return when it was taken; now if it does not say, or says a time to come."""
    try:
        taken = datetime.fromisoformat(locked.holder.since if locked.holder else "")
        return min(taken, now)
    except (ValueError, TypeError):
        return now
