"""Turn a response into a model or into one error of errors.py. Pure.

A response is coderd's own if it has coderd's version header or a known message (refusals.py). An
ingress or the Kubernetes API server can answer 404 too, and that must never mean "gone" (U1).
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, TypeAdapter, ValidationError

from coder_stack.coderd import refusals
from coder_stack.coderd.errors import (
    AnswerLost,
    ApiServerRefused,
    CertificateNotTrusted,
    CoderdError,
    InvalidConnection,
    ProtocolError,
    ProtocolFault,
    RateLimited,
    RouteAbsent,
    ServerFault,
    Unavailable,
)
from coder_stack.coderd.request import Request
from coder_stack.coderd.retry import seconds_to_wait
from coder_stack.coderd.transport import Failure, Response

T = TypeVar("T")
_CHECK_URL = "check that the URL leads to coderd."


class _KubernetesStatus(BaseModel):
    kind: Literal["Status"]
    apiVersion: Literal["v1"]  # noqa: N815  # Kubernetes' spelling
    message: str = ""


def parse(request: Request, response: Response, shape: TypeAdapter[T]) -> T | ProtocolError:
    """Parse the body of a successful response."""
    try:
        return shape.validate_json(response.body)
    except ValidationError as error:
        is_json = all(problem["type"] != "json_invalid" for problem in error.errors())
    what = "JSON of another shape than coderd's" if is_json else "something that is not JSON"
    why = f"the answer is {what}; {_CHECK_URL}"
    return _protocol_error(request, "shape" if is_json else "not-json", why, response.status)


def error_of(
    request: Request, outcome: Response | Failure, base_url: str, now: datetime
) -> CoderdError | None:
    """Return the error that the outcome of an attempt means; None for a success."""
    if isinstance(outcome, Failure):
        return _FAILURES[outcome](request, base_url)
    if outcome.status in request.success:
        return None
    if 300 <= outcome.status < 400:
        return _redirected(request, outcome, base_url)
    wait = seconds_to_wait(outcome.retry_after, now)
    if outcome.status == 429:
        why = "too many requests in a short time; try again later."
        return RateLimited(request.operation, why, status=429, retry_after=wait)
    by_kubernetes = None if outcome.from_coderd else _model(_KubernetesStatus, outcome.body)
    if by_kubernetes is not None:
        return _of_api_server(request, outcome, by_kubernetes, wait)
    if outcome.status in (502, 503, 504):
        why = "coderd does not answer at the moment; try again later."
        doubt = request.changes_something
        return Unavailable(
            request.operation, why, may_have_happened=doubt, status=outcome.status, retry_after=wait
        )
    return _refused(request, outcome)


def _refused(request: Request, response: Response) -> CoderdError:
    body = _model(refusals.ErrorBody, response.body)
    if body is not None:
        known = refusals.refusal(request, response.status, body, trusted=response.from_coderd)
        if known is not None:
            return known
    if response.from_coderd and response.status >= 500:
        why = "coderd failed internally; look into its log."
        doubt = request.changes_something
        return ServerFault(request.operation, why, may_have_happened=doubt, status=response.status)
    if response.from_coderd and response.status == 405 and request.feature:
        # The AGPL build can list organizations on that path, so it refuses only the method.
        why = "this build of coderd cannot do that; the AGPL build lacks the licensed features."
        return RouteAbsent(request.operation, why, status=405)
    status = response.status
    if response.from_coderd:
        why = f"coderd gave an unexpected answer (status {status}); {_CHECK_URL}"
        return _protocol_error(request, "status", why, status)
    why = f"something else than coderd answered (status {status}); {_CHECK_URL}"
    return _protocol_error(request, "not-coderd", why, status)


def _redirected(request: Request, response: Response, base_url: str) -> ProtocolError:
    why = "the server answered with a redirect, which is not followed; "
    own, target = urlsplit(base_url), _split(response.location)
    if own.scheme == "http" and target == ("https", own.hostname):
        why += "set the URL to https."
    else:
        why += "set the URL to the address where coderd really is."
    return ProtocolError(
        request.operation,
        why,
        fault="redirect",
        # All but 303 say "ask there instead": coderd did nothing.
        may_have_happened=request.changes_something and response.status == 303,
        status=response.status,
    )


def _split(location: str | None) -> tuple[str, str | None] | None:
    try:
        target = urlsplit(location or "")
    except ValueError:
        return None
    return target.scheme, target.hostname


def _of_api_server(
    request: Request, response: Response, status: _KubernetesStatus, wait: float | None
) -> CoderdError:
    if response.status >= 500:
        # The API server says both before it forwards anything to a pod.
        untouched = re.search(r"no endpoints available|dial tcp", status.message) is not None
        why = (
            "the Kubernetes API server finds no ready endpoint of coderd: "
            "its pods are not ready, or it is scaled to zero."
        )
        return Unavailable(
            request.operation,
            why,
            may_have_happened=request.changes_something and not untouched,
            status=response.status,
            retry_after=wait,
        )
    why = _API_SERVER_REFUSALS.get(
        response.status,
        "the Kubernetes API server refused to forward the request; check the connection.",
    )
    return ApiServerRefused(request.operation, why, status=response.status)


_API_SERVER_REFUSALS = {
    401: "the Kubernetes API server did not accept the kubeconfig's credentials; renew them.",
    403: "the kubeconfig's user may not use the proxy of coderd's Service; grant services/proxy.",
    404: "the Kubernetes API server has no such Service; check namespace, name and port.",
}


def _protocol_error(
    request: Request, fault: ProtocolFault, why: str, status: int | None = None
) -> ProtocolError:
    doubt = request.changes_something
    return ProtocolError(
        request.operation, why, fault=fault, may_have_happened=doubt, status=status
    )


def _not_sent(request: Request, base_url: str) -> CoderdError:
    why = f"no connection to coderd at {base_url}; check that it runs and can be reached."
    return Unavailable(request.operation, why)


def _not_passed_on(request: Request, base_url: str) -> CoderdError:
    why = (
        f"the proxy on the way to {base_url} does not connect to it; check proxy-url in the "
        "kubeconfig, or HTTPS_PROXY and NO_PROXY."
    )
    return Unavailable(request.operation, why)


def _lost(request: Request, _: str) -> CoderdError:
    why = "the connection broke or the time was up before an answer came."
    if request.idempotent:
        return Unavailable(request.operation, why, may_have_happened=request.changes_something)
    return AnswerLost(request.operation, why, may_have_happened=True)


def _untrusted(request: Request, base_url: str) -> CoderdError:
    why = f"the certificate of {base_url} is not trusted; set the CA bundle that signed it."
    return CertificateNotTrusted(request.operation, why)


def _unsendable(request: Request, _: str) -> CoderdError:
    return InvalidConnection(
        request.operation, "the request cannot be written as HTTP; check the settings."
    )


def _too_large(request: Request, _: str) -> CoderdError:
    why = f"the answer is larger than any of coderd's; {_CHECK_URL}"
    return _protocol_error(request, "too-large", why)


def _garbled(request: Request, _: str) -> CoderdError:
    why = "the answer cannot be decoded; check the proxies between here and coderd."
    return _protocol_error(request, "not-json", why)


_FAILURES: dict[Failure, Callable[[Request, str], CoderdError]] = {
    Failure.NOT_SENT: _not_sent,
    Failure.NOT_PASSED_ON: _not_passed_on,
    Failure.LOST: _lost,
    Failure.UNTRUSTED: _untrusted,
    Failure.TOO_LARGE: _too_large,
    Failure.GARBLED: _garbled,
    Failure.UNSENDABLE: _unsendable,
}

M = TypeVar("M", bound=BaseModel)


def _model(shape: type[M], body: bytes) -> M | None:
    try:
        return shape.model_validate_json(body)
    except ValidationError:
        return None
