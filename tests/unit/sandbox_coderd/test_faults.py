"""Faults on demand: each kind does what it says, as often as it says, and to nobody else."""

import time

import httpx
import pytest

from tests.unit.sandbox_coderd.simulation import KEYS, running


def test_a_status_comes_with_its_body_and_headers() -> None:
    with running() as simulation:
        simulation.fault("status", status=429, headers={"Retry-After": "7"}, body={"message": "no"})
        answer = simulation.owner("GET", KEYS)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
        assert answer.json() == {"message": "no"}
        assert simulation.owner("GET", KEYS).status_code == 200


def test_a_fault_hits_only_what_it_names_and_only_so_often() -> None:
    with running() as simulation:
        simulation.fault("status", method="POST", path="*/provisionerkeys", count=2, skip=1)
        answers = [
            simulation.owner("POST", KEYS, json={"name": name}).status_code for name in "abcd"
        ]
        assert answers == [201, 503, 503, 201]
        assert simulation.key_names() == ["a", "d"]
        assert simulation.http.get("/_sim/faults").json() == []


def test_drop_before_cuts_the_connection_and_nothing_has_happened() -> None:
    with running() as simulation:
        simulation.fault("drop_before", method="POST")
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            simulation.new_key("lost")
        assert simulation.key_names() == []


def test_drop_after_cuts_the_connection_when_the_work_is_done() -> None:
    with running() as simulation:
        simulation.fault("drop_after", method="POST")
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            simulation.new_key("made")
        assert simulation.key_names() == ["made"]


def test_a_delay_only_takes_time() -> None:
    with running() as simulation:
        simulation.fault("delay", seconds=0.2)
        before = time.monotonic()
        assert simulation.owner("GET", KEYS).json() == []
        assert time.monotonic() - before >= 0.2


def test_garbage_looks_like_json_and_is_not() -> None:
    with running() as simulation:
        simulation.fault("garbage")
        answer = simulation.owner("GET", KEYS)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
        with pytest.raises(ValueError, match="Unterminated"):
            answer.json()


def test_html_is_what_a_gateway_sends() -> None:
    with running() as simulation:
        simulation.fault("html")
        answer = simulation.owner("GET", KEYS)
        assert (answer.status_code, answer.headers["content-type"]) == (502, "text/html")


def test_a_fault_without_end_lasts_until_it_is_cleared() -> None:
    with running() as simulation:
        simulation.fault("status", count=-1)
        assert {simulation.owner("GET", KEYS).status_code for _ in range(5)} == {503}
        simulation.http.delete("/_sim/faults")
        assert simulation.owner("GET", KEYS).status_code == 200


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ({"kind": "earthquake"}, "kind must be one of"),
        ({"kind": "status", "often": 1}, "a fault has no field 'often'"),
        ({"kind": "status", "count": "1"}, "count must be a number"),
        ("status", "a fault is an object"),
    ],
)
def test_nonsense_is_refused_with_a_reason(fault: object, why: str) -> None:
    with running() as simulation:
        answer = simulation.http.post("/_sim/faults", json=fault)
        assert answer.status_code == 400
        assert why in answer.json()["detail"]
