"""One list for a burst of reads: shared, short-lived, dropped on a change, safe between threads."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from coder_stack.dynamic.runtime.cache import ListCache


class Source:
    """Counts how often it is asked; may be held back."""

    def __init__(self) -> None:
        self.asked = 0
        self.open = threading.Event()
        self.open.set()
        self.entered = threading.Event()

    def fetch(self) -> int:
        self.asked += 1
        asked = self.asked
        self.entered.set()
        assert self.open.wait(10)
        return asked


def test_a_burst_asks_once_and_a_later_one_again() -> None:
    now = [0.0]
    source, lists = Source(), ListCache(seconds=5, now=lambda: now[0])
    assert [lists.get("a", source.fetch) for _ in range(3)] == [1, 1, 1]
    now[0] = 5.1
    assert lists.get("a", source.fetch) == 2


def test_each_key_has_its_own_list() -> None:
    source, lists = Source(), ListCache()
    assert (lists.get("a", source.fetch), lists.get("b", source.fetch)) == (1, 2)


def test_four_threads_wait_for_one_answer() -> None:
    source, lists = Source(), ListCache()
    source.open.clear()
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(lists.get, "a", source.fetch) for _ in range(4)]
        assert source.entered.wait(10)
        source.open.set()
        assert {answer.result(10) for answer in answers} == {1}


def test_after_a_change_nobody_gets_a_list_that_was_begun_before_it() -> None:
    source, lists = Source(), ListCache()
    source.open.clear()
    with ThreadPoolExecutor(1) as pool:
        early = pool.submit(lists.get, "a", source.fetch)
        assert source.entered.wait(10)
        lists.forget()
        source.open.set()
        assert early.result(10) == 1
    assert lists.get("a", source.fetch) == 2


def test_an_error_is_not_kept() -> None:
    source, lists = Source(), ListCache()

    def fail() -> int:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        lists.get("a", fail)
    assert lists.get("a", source.fetch) == 1
