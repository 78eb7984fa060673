"""The cache of answers: shared by concurrent reads, short-lived, dropped on a change."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from coder_stack.dynamic.runtime.cache import AnswerCache


class Source:
    """An answer that counts its fetches and may block them."""

    def __init__(self) -> None:
        self.fetches = 0
        self.unblocked = threading.Event()
        self.unblocked.set()
        self.started = threading.Event()

    def fetch(self) -> int:
        self.fetches += 1
        count = self.fetches
        self.started.set()
        assert self.unblocked.wait(10)
        return count


def test_an_entry_is_fetched_once_and_again_after_its_time() -> None:
    now = [0.0]
    source, cache = Source(), AnswerCache(seconds=5, now=lambda: now[0])
    assert [cache.get("a", source.fetch) for _ in range(3)] == [1, 1, 1]
    now[0] = 5.1
    assert cache.get("a", source.fetch) == 2


def test_an_entry_in_use_lives_longer_but_not_forever() -> None:
    """A refresh of a large stack takes long, and reads the same answers all the time."""
    now = [0.0]
    source, cache = Source(), AnswerCache(seconds=5, longest=20, now=lambda: now[0])
    answers: list[int] = []
    for now[0] in (0.0, 4.0, 8.0, 12.0, 16.0, 20.0, 20.1):
        answers.append(cache.get("a", source.fetch))
    assert answers == [1, 1, 1, 1, 1, 1, 2]


def test_each_name_has_its_own_answer() -> None:
    source, cache = Source(), AnswerCache()
    assert (cache.get("a", source.fetch), cache.get("b", source.fetch)) == (1, 2)


def test_four_threads_share_one_fetch() -> None:
    source, cache = Source(), AnswerCache()
    source.unblocked.clear()
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(cache.get, "a", source.fetch) for _ in range(4)]
        assert source.started.wait(10)
        source.unblocked.set()
        assert {answer.result(10) for answer in answers} == {1}


def test_a_fetch_that_began_before_a_change_is_not_cached() -> None:
    source, cache = Source(), AnswerCache()
    source.unblocked.clear()
    with ThreadPoolExecutor(1) as pool:
        early = pool.submit(cache.get, "a", source.fetch)
        assert source.started.wait(10)
        cache.forget()
        source.unblocked.set()
        assert early.result(10) == 1
    assert cache.get("a", source.fetch) == 2


def test_an_error_is_not_cached() -> None:
    source, cache = Source(), AnswerCache()

    def fail() -> int:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        cache.get("a", fail)
    assert cache.get("a", source.fetch) == 1
