"""Settings and requests for the Kubernetes API server of one stack, or of one resource.

The connection follows the kubeconfig's `tls-server-name` and `proxy-url`, or else the environment's
proxy (CP11). The kubernetes library is imported on first use, because it loads slowly.
"""

import json
import os
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal
from urllib.parse import quote

from coder_stack.cluster.kubeconfig import (
    Kubeconfig,
    KubeconfigError,
    find_context,
    kubeconfig_files,
    load_kubeconfig,
)
from coder_stack.coderd.connection import Connection
from coder_stack.coderd.errors import (
    ApiServerRefused,
    CertificateNotTrusted,
    CoderdError,
    InsecureConnection,
    InvalidConnection,
    ProtocolError,
    Unavailable,
)
from coder_stack.coderd.forward_proxy import forward_proxy, proxy_login
from coder_stack.coderd.tls import tls_context

API_SERVER = "connect to the Kubernetes API server"
NOT_VERIFIED = "the kubeconfig's cluster has no TLS, or turns its verification off; correct it."
_TIMEOUT = (3.0, 5.0)
"""Seconds to connect and to read; a refused connection is tried once more."""


def api_settings(own: Kubeconfig, stack: Kubeconfig) -> Any:
    """Return the library's settings for the resource's own cluster, or else for the stack's."""
    from kubernetes import client  # noqa: PLC0415  # slow, and rarely needed

    settings: Any = client.Configuration()
    settings.proxy = None  # the library reads NO_PROXY by other rules than kubectl
    given = own.kubeconfig is not None or own.context is not None
    try:
        _load(own if given else stack, settings)
    except KubeconfigError as error:
        raise InvalidConnection(API_SERVER, f"{error}.") from None
    except Exception:  # noqa: BLE001  # many kinds, and their texts quote the file
        why = "the kubeconfig's credentials cannot be read; check its context and user."
        raise InvalidConnection(API_SERVER, why) from None
    _set_proxy(settings)
    return settings


def _load(which: Kubeconfig, settings: Any) -> None:
    from kubernetes import config  # noqa: PLC0415  # slow, and rarely needed

    library: Any = config
    match kubeconfig_files(which, os.environ):
        case []:
            library.load_incluster_config(client_configuration=settings)
        case [file]:
            found = load_kubeconfig(file, which.context)
            library.kube_config.KubeConfigLoader(
                found.content, found.context, config_base_path=str(file.absolute().parent)
            ).load_and_set(settings)
        case several:
            library.load_kube_config(
                config_file=os.pathsep.join(map(str, several)),
                # The library would take the last file's current context, kubectl the first's.
                context=find_context(several, which.context).name,
                client_configuration=settings,
                persist_config=False,
            )


def _set_proxy(settings: Any) -> None:
    """Choose the proxy once, for the library and for the transport to coderd alike."""
    from urllib3 import make_headers  # noqa: PLC0415  # comes with the kubernetes library

    settings.proxy = forward_proxy(str(settings.host), settings.proxy, os.environ)
    settings.no_proxy = None  # decided above
    if settings.proxy and not str(settings.host).startswith("https://"):
        why = "the kubeconfig's cluster has no TLS, and a proxy would see everything; correct it."
        raise InvalidConnection(API_SERVER, why)
    settings.proxy_ssl_context = tls_context()  # not the cluster's authorities
    if settings.proxy and (login := proxy_login(settings.proxy)):
        settings.proxy_headers = make_headers(proxy_basic_auth=login)


def request(
    own: Kubeconfig,
    stack: Kubeconfig,
    operation: str,
    path: tuple[str, ...],
    *,
    method: Literal["GET", "PATCH", "DELETE"] = "GET",
    query: Mapping[str, str] | None = None,
    apply: Mapping[str, Any] | None = None,
) -> tuple[int, bytes]:
    """Send one request, and return the answer's status and body.

    `apply` is the object of a server-side apply. Raise a CoderdError if there is no answer.
    """
    with connected(own, stack, operation) as http:
        return send(http, operation, path, method=method, query=query, apply=apply)


@contextmanager
def connected(own: Kubeconfig, stack: Kubeconfig, operation: str) -> Generator[Any]:
    """Yield the library's client, for several requests over one connection."""
    from kubernetes import client  # noqa: PLC0415  # slow, and rarely needed
    from urllib3 import Retry  # noqa: PLC0415  # comes with it

    library: Any = client
    settings = api_settings(own, stack)
    host = Connection(base_url=str(settings.host))
    verified = settings.verify_ssl or not host.base_url.startswith("https:")
    if not (host.may_carry_secrets and verified):
        raise InsecureConnection(operation, NOT_VERIFIED)
    settings.retries = Retry(total=1, read=0, redirect=0, status=0, backoff_factor=0.2)
    with library.ApiClient(settings) as http:
        yield http


def send(
    http: Any,
    operation: str,
    path: tuple[str, ...],
    *,
    method: Literal["GET", "PATCH", "DELETE"] = "GET",
    query: Mapping[str, str] | None = None,
    apply: Mapping[str, Any] | None = None,
) -> tuple[int, bytes]:
    """Send one request with a client of `connected`, as `request` does."""
    from kubernetes import client  # noqa: PLC0415  # slow, and rarely needed
    from urllib3 import exceptions  # noqa: PLC0415  # comes with it

    library: Any = client
    try:
        serialized = http.param_serialize(
            method,
            "/" + "/".join(quote(segment, safe="") for segment in path),
            query_params=list((query or {}).items()),
            header_params={"Content-Type": "application/apply-patch+yaml"} if apply else {},
            body=json.dumps(apply) if apply else None,
            auth_settings=["BearerToken"],
        )
        answer = http.call_api(*serialized, _request_timeout=_TIMEOUT)
        return int(answer.status), bytes(answer.read())
    except (library.ApiException, exceptions.HTTPError) as error:
        untrusted = "CERTIFICATE_VERIFY_FAILED" in str(error)
    if untrusted:
        why = "the API server's certificate is not trusted; check the kubeconfig's CA."
        raise CertificateNotTrusted(operation, why)
    raise Unavailable(operation, "the API server does not answer; check the kubeconfig's server.")


@contextmanager
def lines(
    http: Any,
    operation: str,
    path: str,
    *,
    query: Mapping[str, str],
    accept: str,
    read_timeout: float,
) -> Generator[tuple[int, Iterator[bytes]]]:
    """Send one GET, and yield the answer's status and the lines of its body as they arrive.

    `path` is that of a collection. Raise a CoderdError, also while lines are read, if the API
    server does not answer or falls silent.
    """
    from kubernetes import client  # noqa: PLC0415  # slow, and rarely needed
    from urllib3 import exceptions  # noqa: PLC0415  # comes with it

    library: Any = client
    try:
        serialized = http.param_serialize(
            "GET",
            path,
            query_params=list(query.items()),
            header_params={"Accept": accept},
            auth_settings=["BearerToken"],
        )
        answer = http.call_api(*serialized, _request_timeout=(_TIMEOUT[0], read_timeout))
        try:
            yield int(answer.status), _split(answer.response.stream(amt=None))
        finally:
            answer.response.close()
    except (library.ApiException, exceptions.HTTPError, OSError):
        why = "the API server does not answer; check the kubeconfig's server."
        raise Unavailable(operation, why) from None


def _split(chunks: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
    if rest:
        yield rest


def refused(operation: str, status: int, right: str) -> CoderdError:
    """Return the error for an answer of the API server that is no success."""
    if status in (429, 500, 502, 503, 504):
        why = f"the API server answered {status}; run again."
        return Unavailable(operation, why, status=status)
    why = f"the API server answered {status}; check the kubeconfig and its right to {right}."
    return ApiServerRefused(operation, why, status=status)


def not_kubernetes(operation: str, status: int) -> CoderdError:
    """Return the error for an answer that no Kubernetes API server gives."""
    why = "the answer is not one of a Kubernetes API server; check the kubeconfig's server."
    return ProtocolError(operation, why, fault="shape", status=status)
