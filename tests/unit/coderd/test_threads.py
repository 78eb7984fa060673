"""One client, many threads and many faults: no key is lost or doubled, deadlines are kept."""

import json
import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx
import pytest
from pydantic import SecretStr

from coder_stack.coderd.connection import Deadlines
from coder_stack.coderd.errors import Unavailable
from tests.unit.coderd.fakes import TIME, FakeClock, answer, coderd, message
from tests.unit.coderd.good_answers import USER
from tests.unit.coderd.hammer import hammer

TOTAL = 30.0
ROUNDING = 1e-6  # sums of floats


class TruthfulServer:
    """Keeps keys as coderd does, and misbehaves before or after doing what it was asked."""

    def __init__(self, seed: int, fault_rate: float) -> None:
        self._random = random.Random(seed)  # noqa: S311  # faults, not secrets
        self._rate = fault_rate
        self._lock = threading.Lock()
        self.keys: dict[str, str] = {}
        self.created: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        with self._lock:
            fault = self._fault()
            if fault in ("429", "no endpoint", "refused"):
                return self._fail(fault)
            response = self._serve(request)
            return response if fault is None else self._fail(fault)

    def _fault(self) -> str | None:
        if self._random.random() > self._rate:
            return None
        fault = self._random.choice(["429", "no endpoint", "refused", "dropped", "502", "504"])
        self.faults[fault] += 1
        return fault

    def _fail(self, fault: str) -> httpx.Response:
        if fault == "429":
            return answer(429, message("You've been rate limited"), retry_after="2")
        if fault == "no endpoint":
            status = {"kind": "Status", "apiVersion": "v1", "message": "no endpoints available"}
            return answer(503, status, ours=False)
        if fault == "refused":
            raise httpx.ConnectError("refused")
        if fault == "dropped":
            raise httpx.ReadError("dropped")
        return answer(int(fault), b"<html>", ours=False)

    def _serve(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return answer(200, [self._key(name) for name in self.keys])
        if request.method == "POST":
            name = json.loads(request.content)["name"]
            if name in self.keys:
                return answer(409, message(f"Provisioner key with name '{name}' already exists"))
            self.keys[name] = f"material-{uuid4()}"
            self.created[name] += 1
            return answer(201, {"key": self.keys[name]})
        name = request.url.path.rpartition("/")[2]
        if self.keys.pop(name, None) is None:
            return answer(
                404, message("Resource not found or you do not have access to this resource")
            )
        return answer(204, b"")

    def _key(self, name: str) -> dict[str, object]:
        return {
            "id": str(uuid4()),
            "created_at": TIME,
            "organization": str(uuid4()),
            "name": name,
            "tags": {},
        }


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_U3_no_create_is_lost_or_doubled_under_load(seed: int) -> None:
    server, clock = TruthfulServer(seed, fault_rate=0.35), FakeClock()

    report = hammer(
        lambda: coderd(server, clock=clock, deadlines=Deadlines(total=TOTAL)),
        monotonic=clock.clock().monotonic,
    )

    held = {name: material.get_secret_value() for name, material in report.held.items()}
    assert held == server.keys
    assert len(held) + len(report.deleted) == 200
    assert not report.deleted & set(server.keys)
    assert report.slowest_call <= TOTAL + ROUNDING
    assert set(server.faults) == {"429", "no endpoint", "refused", "dropped", "502", "504"}


def test_U3_without_faults_each_key_is_made_by_one_call() -> None:
    server = TruthfulServer(1, fault_rate=0)

    hammer(lambda: coderd(server), threads=20, keys_each=5)

    assert set(server.created.values()) == {1}
    assert len(server.created) == 100


def test_the_deadline_is_kept_when_nothing_ever_works() -> None:
    clock = FakeClock()
    slowest: list[float] = []

    def dead(request: httpx.Request) -> httpx.Response:
        clock.pass_time(request.extensions["timeout"]["read"])
        raise httpx.ReadTimeout("x")

    client = coderd(dead, clock=clock, deadlines=Deadlines(read=3, total=TOTAL))

    def ask(_: int) -> None:
        begun = clock.elapsed
        with pytest.raises(Unavailable):
            client.licenses()
        slowest.append(clock.elapsed - begun)

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(ask, range(40)))

    assert TOTAL - 8 < max(slowest) <= TOTAL + ROUNDING


def test_twins_with_different_tokens_do_not_mix_them_up() -> None:
    def who(request: httpx.Request) -> httpx.Response:
        return answer(200, USER | {"username": request.headers["Coder-Session-Token"]})

    client = coderd(who)

    def ask(number: int) -> bool:
        name = f"token-{number}"
        return client.with_token(SecretStr(name)).user().username == name

    with ThreadPoolExecutor(20) as pool:
        assert all(pool.map(ask, range(400)))
