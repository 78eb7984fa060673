"""Many threads on one client, each creating and deleting keys while the server misbehaves.

Every thread follows the one rule of U3: look up before repeating. `hammer` takes any client, so the
same load can be put on any server that plays coderd and whose faults can be switched on.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import SecretStr

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.errors import CoderdError, Conflict, NotFound

__all__ = ["HammerReport", "hammer"]

T = TypeVar("T")


@dataclass
class HammerReport:
    """What the callers know at the end."""

    held: dict[str, SecretStr] = field(default_factory=dict[str, SecretStr])
    deleted: set[str] = field(default_factory=set[str])
    slowest_call: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter[str])


def hammer(
    make_client: Callable[[], Coderd],
    *,
    organization: str = "default",
    threads: int = 20,
    keys_each: int = 10,
    tries: int = 50,
    monotonic: Callable[[], float] = time.monotonic,
) -> HammerReport:
    """Share one client between all threads; delete every third key again."""
    with make_client() as client:
        load = _Load(client, organization, tries, monotonic)
        with ThreadPoolExecutor(threads) as pool:
            start = threading.Barrier(threads)

            def work(thread: int) -> None:
                start.wait()
                load.create_and_delete(f"t{thread}-k{number}" for number in range(keys_each))

            list(pool.map(work, range(threads)))
    return load.report


class _Load:
    def __init__(
        self, client: Coderd, organization: str, tries: int, monotonic: Callable[[], float]
    ) -> None:
        self._client = client
        self._organization = organization
        self._tries = tries
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self.report = HammerReport()

    def create_and_delete(self, names: Iterable[str]) -> None:
        for number, name in enumerate(names):
            material = self._until_done(lambda name=name: self._created(name))
            if number % 3 == 0:
                self._until_done(lambda name=name: self._gone(name))
            with self._lock:
                if number % 3 == 0:
                    self.report.deleted.add(name)
                else:
                    self.report.held[name] = material

    def _created(self, name: str) -> SecretStr:
        try:
            created = self._call(
                lambda: self._client.create_provisioner_key(self._organization, name)
            )
        except CoderdError as error:
            doubt = error.may_have_happened or isinstance(error, Conflict)
            if doubt and self._until_done(lambda: self._exists(name)):
                # Its material went with the lost answer: it is of no use to anybody (K2).
                self._until_done(lambda: self._gone(name))
            raise
        return created.key

    def _exists(self, name: str) -> bool:
        keys = self._call(lambda: self._client.provisioner_keys(self._organization))
        return any(key.name == name for key in keys)

    def _gone(self, name: str) -> bool:
        try:
            self._call(lambda: self._client.delete_provisioner_key(self._organization, name))
        except NotFound:
            return True  # perhaps our own first attempt, whose answer was lost
        return True

    def _until_done(self, step: Callable[[], T]) -> T:
        for _ in range(self._tries):
            try:
                return step()
            except CoderdError as error:
                if error.permanent and not isinstance(error, Conflict):
                    raise
                with self._lock:
                    self.report.reasons[error.reason] += 1
        raise AssertionError(f"not done in {self._tries} tries: {dict(self.report.reasons)}")

    def _call(self, call: Callable[[], T]) -> T:
        begun = self._monotonic()
        try:
            return call()
        finally:
            took = self._monotonic() - begun
            with self._lock:
                self.report.slowest_call = max(self.report.slowest_call, took)
