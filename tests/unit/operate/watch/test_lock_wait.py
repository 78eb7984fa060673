"""The lock that keeps the watcher from a check: what is said of it, and what is told (N1)."""

from datetime import UTC, datetime, timedelta

import pytest

from coder_stack.operate.engine.errors import LeftLockError, LockHolder, locked
from coder_stack.operate.watch.lock_wait import LONGEST_UPDATE, LockWait

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SOON = timedelta(seconds=1)
TEN_MINUTES = timedelta(minutes=10)


def holder(since: datetime = NOW, pid: int = 42) -> LockHolder:
    return LockHolder("ann@laptop", str(pid), since.isoformat())


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def wait(said: list[str]) -> LockWait:
    return LockWait(said.append)


def test_N1_another_update_is_named_once_and_told_only_if_it_lasts(
    wait: LockWait, said: list[str]
) -> None:
    update = locked(holder())
    assert not wait.must_tell(update, NOW)
    assert not wait.must_tell(update, NOW + LONGEST_UPDATE)
    assert said == [f"waiting: {update}"]
    assert wait.must_tell(update, NOW + LONGEST_UPDATE + SOON)
    assert not wait.must_tell(update, NOW + 2 * LONGEST_UPDATE), "once"


def test_N1_one_update_after_the_other_is_no_lock_that_stays(wait: LockWait) -> None:
    for number in range(6):
        begin = NOW + number * TEN_MINUTES
        update = locked(holder(begin, pid=number))
        assert not wait.must_tell(update, begin)
        assert not wait.must_tell(update, begin + TEN_MINUTES - SOON)


def test_N1_what_a_killed_run_has_left_behind_is_told_at_once_and_once(
    wait: LockWait, said: list[str]
) -> None:
    left = LeftLockError(holder())
    assert wait.must_tell(left, NOW)
    assert not wait.must_tell(left, NOW + SOON)
    assert said == [], "what is told is no waiting"


def test_N1_a_lock_that_was_old_before_the_watcher_started_is_told_at_once(wait: LockWait) -> None:
    assert wait.must_tell(locked(holder(NOW - timedelta(days=1))), NOW)


@pytest.mark.parametrize("since", ["", "yesterday", "2026-01-01T00:00:00", "2027-01-01T00:00:00Z"])
def test_N1_a_lock_without_a_time_counts_from_when_it_was_seen(wait: LockWait, since: str) -> None:
    for update in (locked(LockHolder("ann@laptop", "42", since)), locked()):
        assert not wait.must_tell(update, NOW)
        assert wait.must_tell(update, NOW + LONGEST_UPDATE + SOON)


def test_N1_a_lock_that_has_ended_is_forgotten(wait: LockWait) -> None:
    assert not wait.must_tell(locked(), NOW)
    wait.over()
    assert not wait.must_tell(locked(), NOW + LONGEST_UPDATE + SOON), "another one"
