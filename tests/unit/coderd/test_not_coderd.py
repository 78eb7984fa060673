"""Responses that are not coderd's are never taken for coderd's."""

import httpx
import pytest

from coder_stack.coderd.errors import ApiServerRefused, NotFound, ProtocolError, Unavailable
from tests.unit.coderd.every_call import CHANGE_SOMETHING, EVERY_CALL
from tests.unit.coderd.fakes import FakeClock, always, answer, coderd, error_of, shown
from tests.unit.coderd.refusals import GONE


@pytest.mark.parametrize("method", EVERY_CALL)
@pytest.mark.parametrize(
    "body",
    [
        b"<html><h1>404 page not found</h1></html>",
        b"default backend - 404",
        b'{"message": "no Route matched with those values"}',
        b"",
        b"null",
    ],
)
def test_U1_a_404_of_an_ingress_or_gateway_is_never_gone(method: str, body: bytes) -> None:
    client = coderd(always(answer(404, body, ours=False)))

    error = error_of(lambda: EVERY_CALL[method](client))

    assert isinstance(error, ProtocolError)
    assert error.fault == "not-coderd"


@pytest.mark.parametrize("status", [401, 403, 409])
def test_U1_refusals_of_a_gateway_are_not_coderds(status: int) -> None:
    """A 401 from something in front of coderd must not make the program renew a good token."""
    client = coderd(always(answer(status, {"message": "Unauthorized"}, ours=False)))

    error = error_of(lambda: EVERY_CALL["user"](client))

    assert isinstance(error, ProtocolError)


def kubernetes(code: int, text: str) -> httpx.Response:
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": text}
    return answer(code, status | {"code": code, "metadata": {}}, ours=False)


@pytest.mark.parametrize("method", EVERY_CALL)
@pytest.mark.parametrize("code", [400, 401, 403, 404, 405])
def test_CP8_a_refusal_of_the_api_server_is_told_apart(method: str, code: int) -> None:
    client = coderd(always(kubernetes(code, 'services "coder" not found')))

    error = error_of(lambda: EVERY_CALL[method](client))

    assert isinstance(error, ApiServerRefused)
    assert not error.may_have_happened


@pytest.mark.parametrize(
    ("text", "touched"),
    [
        ('no endpoints available for service "coder"', False),
        ("error trying to reach service: dial tcp 10.0.0.1:8080: connect: refused", False),
        ("error trying to reach service: EOF", True),
    ],
)
def test_CP8_no_ready_endpoint_is_unavailable(text: str, touched: bool) -> None:
    client = coderd(always(kubernetes(503, text)), clock=FakeClock())

    error = error_of(lambda: EVERY_CALL["create_provisioner_key"](client))

    assert isinstance(error, Unavailable)
    assert error.may_have_happened is touched


def test_a_status_object_that_coderd_itself_sent_is_not_taken_for_kubernetes() -> None:
    body = {"kind": "Status", "apiVersion": "v1", "message": GONE}
    client = coderd(always(answer(404, body)))

    assert isinstance(error_of(lambda: EVERY_CALL["workspace_proxy"](client)), NotFound)


@pytest.mark.parametrize("method", EVERY_CALL)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_said_so(method: str, status: int) -> None:
    asked: list[httpx.Request] = []

    def elsewhere(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return answer(status, b"", location="https://else" + "where.test/")

    error = error_of(lambda: EVERY_CALL[method](coderd(elsewhere)))

    assert isinstance(error, ProtocolError)
    assert error.fault == "redirect"
    assert len(asked) == 1
    assert "redirect" in str(error)
    assert "elsewhere.test" not in shown(error)


def test_a_redirect_to_https_says_to_set_https() -> None:
    handler = always(answer(308, b"", location="https://127.0.0.1/healthz"))

    error = error_of(coderd(handler, url="http://127.0.0.1:3000").healthz)

    assert "set the URL to https" in str(error)


@pytest.mark.parametrize("method", EVERY_CALL)
@pytest.mark.parametrize("status", [202, 299, 418, 451, 501, 520])
def test_a_status_that_coderd_never_gives_is_an_error(method: str, status: int) -> None:
    error = error_of(lambda: EVERY_CALL[method](coderd(always(answer(status, {})))))

    assert error.status == status
    assert error.may_have_happened is (method in CHANGE_SOMETHING)


@pytest.mark.parametrize("method", EVERY_CALL)
def test_a_web_page_instead_of_json_is_an_error(method: str) -> None:
    """Coderd serves its web page, status 200, outside the API: a wrong URL looks like this."""
    client = coderd(always(answer(200, b"<!doctype html><title>Coder</title>")))

    error = error_of(lambda: EVERY_CALL[method](client))

    assert isinstance(error, ProtocolError)
    assert error.may_have_happened is (method in CHANGE_SOMETHING)
