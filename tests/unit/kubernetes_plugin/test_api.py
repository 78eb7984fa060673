"""Requests: what is repeated, what is not, and how failures read."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from sandbox.kubernetes_plugin.api import Api
from sandbox.kubernetes_plugin.errors import ApiError, Cancelled, Unreachable

RESOURCES = {"resources": [{"name": "configmaps", "kind": "ConfigMap", "namespaced": True}]}
CONFIG_MAP: Any = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}


@contextmanager
def server(*answers: tuple[int, Any]) -> Iterator[tuple[str, list[str]]]:
    """An API server that gives these answers in turn, after discovery; and what it was asked."""
    asked: list[str] = []
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path == "/api/v1":
                status, body = 200, RESOURCES
            else:
                asked.append(self.command)
                status, body = left.pop(0)
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Stay silent."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}", asked
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


@contextmanager
def api(address: str, cancelled: threading.Event | None = None) -> Iterator[Api]:
    from kubernetes.client.configuration import Configuration  # noqa: PLC0415 - slow

    configuration = Configuration(host=address)
    client = Api(configuration, cancelled or threading.Event())
    try:
        yield client
    finally:
        client.close()


@contextmanager
def talking(
    *answers: tuple[int, Any], cancelled: threading.Event | None = None
) -> Iterator[tuple[Api, list[str]]]:
    """A client, and what its server was asked."""
    with server(*answers) as (address, asked), api(address, cancelled) as client:
        yield client, asked


def status(reason: str, **details: Any) -> Any:
    return {"kind": "Status", "reason": reason, "message": f"it is {reason}", "details": details}


def test_overload_is_tried_again() -> None:
    overload = (503, status("ServiceUnavailable"))
    with talking(overload, overload, (200, {"ok": True})) as (client, asked):
        assert client.request("GET", "/x") == {"ok": True}
    assert asked == ["GET"] * 3


def test_a_create_is_never_repeated() -> None:
    overload = (503, status("ServiceUnavailable"))
    with talking(overload) as (client, asked), pytest.raises(ApiError, match="it is Service"):
        client.create(CONFIG_MAP)
    assert asked == ["POST"]


@pytest.mark.parametrize(
    "answer",
    [
        (403, status("Forbidden")),
        (404, status("NotFound")),
        (409, status("AlreadyExists")),
        (409, status("Conflict", causes=[{"reason": "FieldManagerConflict"}])),
        (422, status("Invalid")),
    ],
    ids=lambda answer: answer[1]["reason"],
)
def test_a_definite_refusal_is_not_repeated(answer: tuple[int, Any]) -> None:
    with talking(answer) as (client, asked), pytest.raises(ApiError):
        client.apply(CONFIG_MAP)
    assert asked == ["PATCH"]


def test_a_lost_race_is_tried_again() -> None:
    with talking((409, status("Conflict")), (200, {})) as (client, asked):
        client.patch_json(CONFIG_MAP, [])
    assert asked == ["PATCH"] * 2


def test_giving_up_tells_what_the_server_said() -> None:
    busy = (429, status("TooManyRequests"))
    with talking(*[busy] * 5) as (client, asked), pytest.raises(ApiError, match="it is TooMany"):
        client.request("GET", "/x")
    assert len(asked) == 5


def test_cancelling_ends_the_retries() -> None:
    cancelled = threading.Event()
    cancelled.set()
    with talking((503, {}), cancelled=cancelled) as (client, asked), pytest.raises(Cancelled):
        client.request("GET", "/x")
    assert asked == ["GET"]


def test_a_server_that_does_not_answer_is_named() -> None:
    with server() as (address, _):
        pass
    with api(address) as client, pytest.raises(Unreachable, match=rf"{address} does not answer"):
        client.request("GET", "/x")


def test_an_answer_that_is_not_json_is_told_by_its_status() -> None:
    told = "answered 400 to GET /x"
    with talking((400, "plain")) as (client, _), pytest.raises(ApiError, match=told):
        client.request("GET", "/x")
