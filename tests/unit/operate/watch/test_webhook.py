"""The webhook: what counts as taken, and what happens with the rest (N2)."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import SecretStr

from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.watch.notifier import Notifier
from coder_stack.operate.watch.single_run import deliver
from coder_stack.operate.watch.transitions import Notice
from coder_stack.operate.watch.webhook import NotTakenError, Webhook
from tests.http_server import QuietHandler, serve
from tests.waiting import eventually

PATH = "/services/T0/B0/never-to-be-seen"
NOTICE = Notice("dev", "drift", "1 resource differs.")


@dataclass
class Endpoint:
    """Somebody's webhook: answers with these statuses in turn, then with 200."""

    statuses: list[int] = field(default_factory=list[int])
    port: int = 0
    bodies: list[Any] = field(default_factory=list[Any])

    @property
    def webhook(self) -> Webhook:
        return Webhook(SecretStr(f"http://127.0.0.1:{self.port}{PATH}"), timeout=10)


@contextmanager
def endpoint(*statuses: int) -> Iterator[Endpoint]:
    found = Endpoint([*statuses])

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            assert self.path == PATH, "nobody follows a redirect"
            found.bodies.append(json.loads(self.read_body()))
            status = found.statuses.pop(0) if found.statuses else 200
            location = {"Location": "/elsewhere"} if status // 100 == 3 else {}
            self.reply(status, b"", **location)

        def do_GET(self) -> None:
            self.do_POST()

    with serve(Handler) as found.port:
        yield found


@pytest.mark.parametrize("status", [200, 201, 204])
def test_N2_a_success_is_taken(status: int) -> None:
    with endpoint(status) as there:
        there.webhook.post(NOTICE)
    assert there.bodies[0]["summary"] == "1 resource differs."


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (500, "The webhook answers 500."),
        (404, "The webhook answers 404."),
        (302, "The webhook redirects (302), which is not followed."),
        (307, "The webhook redirects (307), which is not followed."),
    ],
)
def test_N2_anything_else_is_one_sentence(status: int, sentence: str) -> None:
    with endpoint(status) as there, pytest.raises(NotTakenError) as refused:
        there.webhook.post(NOTICE)
    assert str(refused.value) == sentence
    assert len(there.bodies) == 1


def test_N2_a_webhook_that_hangs_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = SecretStr(f"http://127.0.0.1:{listener.getsockname()[1]}{PATH}")
        with pytest.raises(NotTakenError) as refused:
            Webhook(url, timeout=0.2).post(NOTICE)
    assert str(refused.value) == "The webhook does not answer in time."


def test_N2_no_error_names_the_url() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(NotTakenError) as refused:
        Webhook(SecretStr(f"http://127.0.0.1:{port}{PATH}"), timeout=10).post(NOTICE)
    assert "cannot be reached" in str(refused.value)
    assert str(port) not in str(refused.value)
    assert "never-to-be-seen" not in repr(Webhook(SecretStr(f"https://x.example.com{PATH}")))


@pytest.mark.parametrize(
    "url", ["", "x.example.com/hook", "ftp://x.example.com", "http://x.example.com/h", "https://["]
)
def test_N2_a_url_that_cannot_be_used_is_one_sentence_without_it(url: str) -> None:
    with pytest.raises(OperationError) as refused:
        Webhook(SecretStr(url))
    assert str(refused.value).startswith("The secret config `notifyUrl` must be an https URL")
    assert "example.com" not in str(refused.value)


def notifier(there: Endpoint, said: list[str], attempts: list[bool]) -> Notifier:
    found = Notifier(there.webhook, said.append, attempts.append, first_pause=0.01)
    found.start()
    return found


def test_N2_a_failure_is_logged_and_tried_again_in_order() -> None:
    said, attempts = list[str](), list[bool]()
    with endpoint(500, 302, 200) as there:
        queue = notifier(there, said, attempts)
        queue.tell(NOTICE)
        queue.tell(Notice("dev", "repaired", "Repaired."))
        queue.flush(30)
    assert attempts == [False, False, True, True]
    assert [each["transition"] for each in there.bodies] == ["drift"] * 3 + ["repaired"]
    assert said[0] == "notice not delivered, trying again in 0 s. The webhook answers 500."


def test_N2_a_webhook_that_hangs_holds_up_nobody() -> None:
    release = threading.Event()

    class Hanging(QuietHandler):
        def do_POST(self) -> None:
            release.wait(10)
            self.reply(200, b"")

    with serve(Hanging) as port:
        attempts = list[bool]()
        queue = notifier(Endpoint(port=port), [], attempts)
        queue.tell(NOTICE)
        queue.flush(0.1)
        assert attempts == []
        release.set()
        assert eventually(lambda: attempts == [True])


def test_N2_a_single_run_tries_a_few_times() -> None:
    pauses = list[float]()
    with endpoint(500, 500) as there:
        assert deliver(there.webhook, NOTICE, pauses.append) == ""
    with endpoint(500, 500, 500) as there:
        assert deliver(there.webhook, NOTICE, pauses.append) == "The webhook answers 500."
    assert len(there.bodies) == 3
