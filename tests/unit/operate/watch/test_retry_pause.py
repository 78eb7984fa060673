"""How long a stream waits before it connects again (N1)."""

from coder_stack.operate.watch.retry_pause import Ending, RetryPause


def waits(pause: RetryPause, ending: Ending, times: int) -> list[float]:
    return [pause.after(ending, lived=False) for _ in range(times)]


def test_N1_a_stream_that_lived_needs_no_pause() -> None:
    pause = RetryPause()
    assert [pause.after("ended", lived=True) for _ in range(3)] == [0, 0, 0]


def test_N1_streams_that_end_at_once_wait_longer_each_time() -> None:
    pause = RetryPause()
    assert waits(pause, "ended", 8) == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert pause.after("ended", lived=True) == 0
    assert waits(pause, "ended", 1) == [0.5]


def test_N1_one_expiry_needs_no_pause_but_the_next_one_does() -> None:
    pause = RetryPause()
    assert waits(pause, "expired", 4) == [0, 0.5, 1, 2]
    assert pause.after("expired", lived=True) == 0
    assert waits(pause, "expired", 2) == [0.5, 1]


def test_N1_a_failure_needs_a_short_pause_after_a_stream_that_lived() -> None:
    pause = RetryPause()
    assert waits(pause, "failed", 7) == [0.5, 1, 2, 4, 8, 16, 30]
    assert pause.after("failed", lived=True) == 0.5


def test_N1_a_refusal_may_wait_for_minutes_and_a_failure_after_it_does_not() -> None:
    pause = RetryPause()
    assert waits(pause, "refused", 11)[-3:] == [128, 256, 300]
    assert waits(pause, "failed", 2) == [0.5, 1]
