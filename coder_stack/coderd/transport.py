"""Send one request once. The only module that knows the HTTP library.

Returns a `Response` or a `Failure` and never raises, because the library's exceptions carry URLs,
headers and parts of bodies. Follows no redirects. Keeps no cookies: coderd's login sets one, and
coderd prefers a cookie to the token header.
"""

import contextlib
import json
import logging
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from http.cookiejar import CookieJar, DefaultCookiePolicy
from urllib.parse import quote, urlencode

import httpx
from pydantic import SecretStr

from coder_stack.coderd.connection import Connection
from coder_stack.coderd.errors import InvalidConnection
from coder_stack.coderd.request import Request
from coder_stack.coderd.retry import Deadline
from coder_stack.coderd.tls import tls_context

Transport = httpx.BaseTransport
"""Replaces the network in tests, and adds the API server's credentials."""

_LARGEST_BODY = 16 * 1024 * 1024
_PROBE_TIMEOUT = 5.0
_TOKEN_HEADER = "Coder-Session-Token"  # noqa: S105  # a header's name
_KEY_HEADER = "Coder-Provisioner-Daemon-Key"


class Failure(Enum):
    """Why there is no response."""

    NOT_SENT = "no connection"
    NOT_PASSED_ON = "the proxy in between refused to connect"
    LOST = "sent, then the connection broke or the time was up"
    UNTRUSTED = "the certificate was not trusted"
    TOO_LARGE = "more than any answer of coderd"
    GARBLED = "not decodable"
    UNSENDABLE = "the request itself is not valid HTTP"


@dataclass(frozen=True)
class Response:
    """The parts of a response that decide what it means."""

    status: int
    body: bytes = field(repr=False)
    from_coderd: bool
    """Whether it has coderd's version header, which nothing in front of coderd sets."""
    retry_after: str | None = field(default=None, repr=False)
    location: str | None = field(default=None, repr=False)


class HttpClient:
    """A pool of connections to one coderd; safe to share between threads."""

    def __init__(self, connection: Connection, transport: Transport | None = None) -> None:
        if transport is not None and connection.ca_bundle is not None:
            why = "a CA bundle has no effect on a transport of its own; give it to the transport."
            raise InvalidConnection("connect to coderd", why)
        logging.getLogger("httpcore.http11").addFilter(_no_response_headers)
        self._connection = connection
        self._http = httpx.Client(
            transport=transport,
            verify=tls_context(connection.ca_bundle) if connection.ca_bundle else True,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            follow_redirects=False,
            # A proxy from the environment must not see requests to this machine.
            trust_env=not connection.is_loopback,
            headers={
                "User-Agent": "coder-stack",
                "Accept": "application/json",
                "Accept-Encoding": "identity",
            },
        )

    def close(self) -> None:
        """Close the sockets."""
        self._http.close()

    def send(
        self, request: Request, token: SecretStr | None, deadline: Deadline
    ) -> Response | Failure:
        """Try once, within what is left of the deadline."""
        left = deadline.left()
        if left <= 0:
            return Failure.NOT_SENT
        limits = self._connection.deadlines
        read = min(limits.read, left)
        timeout = httpx.Timeout(connect=min(limits.connect, left), read=read, write=read, pool=left)
        try:
            outgoing = self._http.build_request(
                request.method,
                self._url(request),
                headers=_headers(request, token),
                content=None if request.body is None else json.dumps(request.body, default=_reveal),
                timeout=timeout,
            )
        except (httpx.InvalidURL, ValueError):
            return Failure.UNSENDABLE
        try:
            incoming = self._http.send(outgoing, stream=True)
            with contextlib.closing(incoming):
                body = _read(incoming, deadline)
        except httpx.ProxyError:
            return Failure.NOT_PASSED_ON
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as e:
            return Failure.UNTRUSTED if _is_about_certificates(e) else Failure.NOT_SENT
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError):
            return Failure.UNSENDABLE
        except httpx.DecodingError:
            return Failure.GARBLED
        except (httpx.HTTPError, OSError):
            return Failure.LOST
        return body if isinstance(body, Failure) else _reduce(incoming, body)

    def _url(self, request: Request) -> str:
        path = "/".join(quote(segment, safe="") for segment in request.path)
        query = f"?{urlencode(request.query)}" if request.query else ""
        return f"{self._connection.base_url}/{path}{query}"


def api_server_transport(
    *,
    ca_file: str | None = None,
    cert_file: str | None = None,
    key_file: str | None = None,
    bearer: Callable[[], SecretStr] | None = None,
    server_name: str | None = None,
    proxy: str | None = None,
) -> Transport:
    """Return a transport with a kubeconfig's credentials.

    `bearer` is called for every request, because tokens of exec plugins expire. `server_name` is
    verified in place of the URL's host. Verification cannot be turned off.
    """
    context = tls_context(ca_file, server_name)
    if cert_file is not None:
        try:
            context.load_cert_chain(cert_file, key_file)
        except (OSError, ValueError):
            why = "the client certificate of the kubeconfig cannot be read; check its files."
            raise InvalidConnection("connect to the Kubernetes API server", why) from None
    # The kubeconfig's CA is the cluster's, not that of an https proxy.
    own = tls_context() if proxy and proxy.startswith("https:") else None
    between = httpx.Proxy(proxy, ssl_context=own) if proxy else None
    inner = httpx.HTTPTransport(verify=context, proxy=between)
    return inner if bearer is None else _WithBearer(inner, bearer)


def why_unreachable(url: str, transport: Transport, *, verify: bool = True) -> str:
    """Return why nothing answers a GET; empty if something does, with whatever status.

    Without `verify`, a certificate that is not trusted counts as an answer.
    """
    try:
        with (
            httpx.Client(transport=transport, timeout=_PROBE_TIMEOUT) as http,
            http.stream("GET", url),
        ):
            return ""
    except httpx.ProxyError as error:
        return f"the proxy answers {error}"
    except (httpx.InvalidURL, httpx.HTTPError) as error:
        if not verify and _is_about_certificates(error):
            return ""
        os_error = next((each for each in _causes(error) if isinstance(each, OSError)), None)
        return (os_error and os_error.strerror) or str(error) or type(error).__name__


class _WithBearer(httpx.BaseTransport):
    """Adds the API server's credential, which it removes before it forwards the request."""

    def __init__(self, inner: httpx.BaseTransport, bearer: Callable[[], SecretStr]) -> None:
        self._inner = inner
        self._bearer = bearer

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.headers["Authorization"] = f"Bearer {self._bearer().get_secret_value()}"
        return self._inner.handle_request(request)

    def close(self) -> None:
        self._inner.close()


def _headers(request: Request, token: SecretStr | None) -> dict[str, str]:
    headers = {} if request.body is None else {"Content-Type": "application/json"}
    if request.auth == "token" and token is not None:
        headers[_TOKEN_HEADER] = token.get_secret_value()
    if request.auth == "key" and request.key is not None:
        headers[_KEY_HEADER] = request.key.get_secret_value()
    return headers


def _reveal(value: object) -> object:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return str(value)  # UUIDs


def _read(incoming: httpx.Response, deadline: Deadline) -> bytes | Failure:
    """Read the body by chunks, because the library's read timeout starts anew with each."""
    body = bytearray()
    for chunk in incoming.iter_bytes():
        body += chunk
        if len(body) > _LARGEST_BODY:
            return Failure.TOO_LARGE
        if deadline.left() <= 0:
            return Failure.LOST
    return bytes(body)


def _reduce(incoming: httpx.Response, body: bytes) -> Response:
    return Response(
        status=incoming.status_code,
        body=body,
        from_coderd="X-Coder-Build-Version" in incoming.headers,
        retry_after=incoming.headers.get("Retry-After"),
        location=incoming.headers.get("Location"),
    )


def _is_about_certificates(error: BaseException) -> bool:
    return any(isinstance(each, ssl.SSLCertVerificationError) for each in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _no_response_headers(record: logging.LogRecord) -> bool:
    """Keep the session cookie of a login out of the library's debug log."""
    return not record.getMessage().startswith("receive_response_headers.complete")
