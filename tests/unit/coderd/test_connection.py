"""CP8: where the client may send secrets, and which headers it sends."""

import json

import httpx
import pytest
from pydantic import SecretStr

from coder_stack.coderd.connection import Connection, Deadlines, direct_url, service_proxy_url
from coder_stack.coderd.errors import (
    InsecureConnection,
    InvalidConnection,
    InvalidRequest,
    KeyRejected,
    Unauthenticated,
)
from tests.unit.coderd.every_call import CARRY_NO_SECRET, EVERY_CALL
from tests.unit.coderd.fakes import (
    KEY,
    LICENSE,
    SECRETS,
    TOKEN,
    answer,
    coderd,
    error_of,
    shown,
)
from tests.unit.coderd.good_answers import BUILD, GOOD, KEY_ITEM, LICENSE_ITEM

WITH_SECRET = tuple(name for name in EVERY_CALL if name not in CARRY_NO_SECRET)
PROXY_PATH = "/api/v1/namespaces/ns/services/http:coder:80/proxy"


class Recorder:
    """Answers every request of one method well and keeps what was asked."""

    def __init__(self, method: str = "build_info", **headers: str) -> None:
        self._good = GOOD[method]
        self._headers = headers
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return answer(*self._good, **self._headers)


@pytest.mark.parametrize("url", ["http://coder.test", "http://10.0.0.8:3000", "http://8.8.8.8"])
@pytest.mark.parametrize("method", WITH_SECRET)
def test_CP8_no_secret_goes_over_plain_http(method: str, url: str) -> None:
    server = Recorder(method)

    error = error_of(lambda: EVERY_CALL[method](coderd(server, url=url)))

    assert isinstance(error, InsecureConnection)
    assert server.requests == []


@pytest.mark.parametrize(
    "url",
    [
        "https://coder.test",
        "http://127.0.0.1:3000",
        "http://127.8.9.1",
        "http://localhost:3000",
        "http://coder.localhost",
        "http://[::1]:3000",
        "http://[::ffff:127.0.0.1]:3000",
        "https://k8s.test:6443" + PROXY_PATH,
        "http://127.0.0.1:8001" + PROXY_PATH,
    ],
)
@pytest.mark.parametrize("method", EVERY_CALL)
def test_CP8_https_and_this_machine_are_safe(method: str, url: str) -> None:
    server = Recorder(method)

    EVERY_CALL[method](coderd(server, url=url))

    assert len(server.requests) == 1


@pytest.mark.parametrize("method", EVERY_CALL)
def test_CP8_a_setting_allows_plain_http(method: str) -> None:
    server = Recorder(method)

    EVERY_CALL[method](coderd(server, url="http://coder.test", allow_insecure=True))

    assert len(server.requests) == 1


@pytest.mark.parametrize("method", CARRY_NO_SECRET)
def test_calls_without_a_secret_send_none_and_may_use_http(method: str) -> None:
    server = Recorder(method)

    EVERY_CALL[method](coderd(server, url="http://coder.test"))

    assert TOKEN not in str(server.requests[0].headers.raw)


def test_a_call_that_needs_a_token_is_not_sent_without_one() -> None:
    server = Recorder("licenses")

    error = error_of(coderd(server, token=None).licenses)

    assert isinstance(error, Unauthenticated)
    assert server.requests == []


@pytest.mark.parametrize(
    "url",
    [
        "",
        "coder.test",
        "ftp://coder.test",
        "file:///etc/passwd",
        "https://",
        "https:///api",
        "https://user:SECRETpassword@coder.test",
        "https://coder.test?x=SECRET",
        "https://coder.test/#SECRET",
        "http://127.0.0.1\\@coder.test",
        "http://127.0.0.1@coder.test",
        "http://coder.test:0",
        "http://coder.test:99999",
        "http://coder.test:3000:4000",
        "https://coder.test/a/../b",
        "https://cod er.test",
        "https://coder.test\nHost: x",
        "https://cödex.test",
    ],
)
def test_a_url_that_could_be_misread_is_refused_and_not_repeated(url: str) -> None:
    error = error_of(lambda: Connection(base_url=url))

    assert isinstance(error, InvalidConnection)
    assert "SECRET" not in str(error)


@pytest.mark.parametrize("token", ["", "  ", "a b", "a\nb", "tökén", "a\x00b"])
def test_a_token_that_no_header_can_carry_is_refused_and_not_repeated(token: str) -> None:
    error = error_of(lambda: Connection(base_url="https://c.test", token=SecretStr(token)))

    assert isinstance(error, InvalidConnection)
    assert token.strip() == "" or token not in str(error)


def test_the_line_break_at_the_end_of_a_token_is_dropped() -> None:
    server = Recorder("user")

    coderd(server, token=TOKEN + "\n").user()

    assert server.requests[0].headers["Coder-Session-Token"] == TOKEN


@pytest.mark.parametrize("seconds", [0, -1])
def test_a_deadline_must_lie_ahead(seconds: float) -> None:
    limits = Deadlines(total=seconds)

    assert isinstance(
        error_of(lambda: Connection(base_url="https://c.test", deadlines=limits)), InvalidConnection
    )


def test_no_secret_shows_in_a_connection_or_a_client() -> None:
    client = coderd(Recorder())

    assert TOKEN not in repr(client.connection)
    assert TOKEN not in repr(vars(client))


def test_cookies_are_neither_kept_nor_sent() -> None:
    """Coderd prefers a cookie to the header: a kept one would make us another user."""
    server = Recorder("login", set_cookie="coder_session_token=stolen; Path=/; HttpOnly")
    client = coderd(server)

    EVERY_CALL["login"](client)
    EVERY_CALL["login"](client)

    assert len(server.requests) == 2
    assert not any("Cookie" in request.headers for request in server.requests)


def test_the_path_of_a_base_url_is_kept() -> None:
    """CP8: the API server's service proxy is a prefix, and the prefix holds colons."""
    server = Recorder()
    url = service_proxy_url("https://k8s.test:6443/", "ns", "coder", 80)

    coderd(server, url=url).build_info()

    assert str(server.requests[0].url) == f"https://k8s.test:6443{PROXY_PATH}/api/v2/buildinfo"


def test_a_service_with_tls_of_its_own_is_reached_by_https_to_the_last_hop() -> None:
    url = service_proxy_url("https://k8s.test", "ns", "coder", "https", tls=True)

    assert url.endswith("/services/https:coder:https/proxy")


@pytest.mark.parametrize("name", ["a/b", "a b", "a?b=c", "a#b", "a%2Fb", "ключ", "..x", "a;b"])
def test_any_name_stays_one_segment_of_the_path(name: str) -> None:
    server = Recorder("workspace_proxy")

    coderd(server).workspace_proxy(name)

    raw = server.requests[0].url.raw_path.decode()
    assert raw.startswith("/api/v2/workspaceproxies/")
    assert raw.count("/") == 4
    assert "?" not in raw


@pytest.mark.parametrize("name", ["", ".", "..", "\ud800"])
def test_a_name_that_would_reach_another_route_is_not_sent(name: str) -> None:
    server = Recorder("delete_workspace_proxy")

    error = error_of(lambda: coderd(server).delete_workspace_proxy(name))

    assert isinstance(error, InvalidRequest)
    assert server.requests == []


def test_K3_the_material_travels_in_the_header_alone() -> None:
    server = Recorder("provisioner_key_of")

    coderd(server).provisioner_key_of(SecretStr(KEY))

    request = server.requests[0]
    assert request.headers["Coder-Provisioner-Daemon-Key"] == KEY
    assert "Coder-Session-Token" not in request.headers
    assert KEY not in str(request.url)


@pytest.mark.parametrize("material", ["", "a b", "a\r\nX: y", "ключ"])
def test_K3_material_that_can_be_no_key_is_rejected_unasked(material: str) -> None:
    server = Recorder("provisioner_key_of")

    error = error_of(lambda: coderd(server).provisioner_key_of(SecretStr(material)))

    assert isinstance(error, KeyRejected)
    assert server.requests == []


def test_L1_a_license_is_uploaded_trimmed() -> None:
    server = Recorder("add_license")

    coderd(server).add_license(SecretStr(f"  {LICENSE}\n"))

    assert json.loads(server.requests[0].content) == {"license": LICENSE}


def test_a_twin_with_another_token_shares_the_way_but_not_the_user() -> None:
    server = Recorder("user")
    client = coderd(server)

    client.with_token(SecretStr("other-token")).user()
    client.user()

    sent = [request.headers["Coder-Session-Token"] for request in server.requests]
    assert sent == ["other-token", TOKEN]


def test_secrets_in_the_librarys_errors_stay_there() -> None:
    """httpx puts URLs, headers and bodies into its exceptions."""

    def broken(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadError(f"{request.headers.raw} {request.content!r}", request=request)

    for call in EVERY_CALL.values():
        error = error_of(lambda call=call: call(coderd(broken)))
        assert not any(secret in shown(error) for secret in SECRETS)
        assert error.__cause__ is None
        assert error.__context__ is None


def test_answers_of_a_later_coderd_are_read() -> None:
    """Unknown fields are ignored everywhere."""
    new = {"fresh": [1, {"a": None}]}

    assert coderd(lambda _: answer(200, BUILD | new)).build_info().version == "v2.30.0+abc1234"
    assert coderd(lambda _: answer(200, [LICENSE_ITEM | new])).licenses()[0].id == 3
    assert coderd(lambda _: answer(200, [KEY_ITEM | new])).provisioner_keys("dev")[0].name == "gpu"


def test_U2_the_environment_lowers_every_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODER_STACK_DEADLINE", "2.5")
    lowered = Connection(base_url="https://coder.test", deadlines=Deadlines(connect=1)).deadlines
    assert lowered == Deadlines(connect=1, read=2.5, total=2.5)


@pytest.mark.parametrize("text", ["soon", "0", "-1"])
def test_U2_a_deadline_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("CODER_STACK_DEADLINE", text)
    with pytest.raises(InvalidConnection):
        Connection(base_url="https://coder.test")


@pytest.mark.parametrize(
    ("url", "through_api_server", "wanted"),
    [
        (None, None, None),
        (None, True, None),
        (None, False, "https://access.test"),
        ("https://own.test", None, "https://own.test"),
        ("https://own.test", False, "https://own.test"),
    ],
)
def test_F2_CP8_the_api_server_leads_to_coderd_unless_a_url_is_asked_for(
    url: str | None, through_api_server: bool | None, wanted: str | None
) -> None:
    """On a first deployment the access URL's name leads nowhere yet."""
    found = direct_url(url, "https://access.test", through_api_server=through_api_server)
    assert found == wanted


@pytest.mark.parametrize(
    ("url", "through_api_server", "wanted"),
    [
        (None, None, "https://access.test"),
        (None, False, "https://access.test"),
        (None, True, None),
        ("https://own.test", None, "https://own.test"),
    ],
)
def test_M3_CP8_a_coderd_that_is_there_already_is_reached_at_its_access_url(
    url: str | None, through_api_server: bool | None, wanted: str | None
) -> None:
    """Its name leads somewhere; its Service may be in a cluster that the stack does not know."""
    access_url = "https://access.test"
    found = direct_url(url, access_url, through_api_server=through_api_server, deployed=False)
    assert found == wanted


def test_F2_CP8_without_an_access_url_only_the_api_server_is_left() -> None:
    assert direct_url(None, None, through_api_server=False) is None
