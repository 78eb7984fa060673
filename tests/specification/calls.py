"""Every call that the client can make: each public method, with all and with the least arguments.

Values are made up from the signatures, so that a new method or argument is covered by itself.
`Recorder` is the client with a transport that answers at once; it notes what was sent, which
statuses are expected, and the model of the answer.
"""

import contextlib
import inspect
import json
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import httpx
from pydantic import SecretStr, TypeAdapter

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.connection import Connection
from coder_stack.coderd.endpoints.base import Endpoints
from coder_stack.coderd.errors import CoderdError
from coder_stack.coderd.request import Request
from coder_stack.coderd.transport import Response

MAKE_NO_CALL = {"with_token", "with_token_source", "with_deadline", "close"}
_VALUES: dict[Any, Any] = {
    SecretStr: SecretStr("the-secret"),
    UUID: UUID("5f0f4a44-7d1e-4a7c-9d3c-0d7f7f0c1b11"),
    int: 7,
    bool: True,
    timedelta: timedelta(days=7),
    Sequence[str]: ("coder:all",),
    Mapping[str, str]: {"pool": "gpu"},
}
_CONNECTION = Connection(base_url="https://coder.test", token=SecretStr("the-token"))


class NoValueError(LookupError):
    """An argument has a type that this module has no value for."""


@dataclass(frozen=True)
class Call:
    """One call of one method of the client, as it was sent."""

    name: str
    invoke: Callable[[Coderd], object] = field(repr=False)
    method: str
    path: str
    query: Mapping[str, str]
    body: Any
    values: Collection[str]
    """Arguments as text: what may fill a parameter of the path."""
    success: Collection[int]
    shape: TypeAdapter[Any] | None
    """The model of the answer; None if nothing of it is read."""


def endpoint_methods() -> dict[str, Callable[..., Any]]:
    """Return the public methods of all groups of endpoints."""
    return {
        name: method
        for group in Endpoints.__subclasses__()
        for name, method in vars(group).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }


def every_call() -> list[Call]:
    """Make every call, and return what was sent."""
    return [
        _recorded(name, method, arguments)
        for name, method in endpoint_methods().items()
        for arguments in _variants(method)
    ]


def client(handler: Callable[[httpx.Request], httpx.Response]) -> Coderd:
    """Return a client whose requests the handler answers."""
    return Coderd(_CONNECTION, transport=httpx.MockTransport(handler))


def _variants(method: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    hints = get_type_hints(method)
    given = [each for each in inspect.signature(method).parameters.values() if each.name != "self"]
    yield {each.name: _value(each.name, hints[each.name]) for each in given}
    least = [each for each in given if each.default is each.empty]
    if len(least) < len(given):
        yield {each.name: _value(each.name, hints[each.name]) for each in least}


def _value(name: str, kind: Any) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(each for each in get_args(kind) if each is not types.NoneType)
    if kind is str:
        return f"the-{name}"
    try:
        return _VALUES[kind]
    except (KeyError, TypeError):
        why = f"argument {name} of the client has type {kind}: add a value to {__name__}"
        raise NoValueError(why) from None


class _Recorder(Coderd):
    """Answers every request with `{}`; notes the request and the model of its answer."""

    def __init__(self) -> None:
        self.sent: httpx.Request | None = None
        self.expected: Request | None = None
        self.shape: TypeAdapter[Any] | None = None
        super().__init__(_CONNECTION, transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        assert self.expected is not None
        self.sent = request
        headers = {"X-Coder-Build-Version": "v2.30.0"}
        return httpx.Response(max(self.expected.success), content=b"{}", headers=headers)

    def _response(self, request: Request) -> Response:
        self.expected = request
        return super()._response(request)

    def _parse(self, request: Request, response: Response, shape: TypeAdapter[Any]) -> Any:
        self.shape = shape
        return super()._parse(request, response, shape)


def _recorded(name: str, method: Callable[..., Any], arguments: dict[str, Any]) -> Call:
    recorder = _Recorder()
    bound = inspect.signature(method).bind(recorder, **arguments)
    bound.apply_defaults()
    with contextlib.suppress(CoderdError):  # `{}` is no answer of coderd
        method(recorder, **arguments)
    sent, expected = recorder.sent, recorder.expected
    assert sent is not None, f"{name} has sent nothing"
    assert expected is not None
    return Call(
        name=name,
        invoke=lambda coderd: getattr(coderd, name)(**arguments),
        method=sent.method,
        path=sent.url.path,
        query=dict(sent.url.params),
        body=json.loads(sent.content) if sent.content else None,
        values={
            str(each) for each in bound.arguments.values() if isinstance(each, str | UUID | int)
        },
        success=expected.success,
        shape=None if method.__annotations__.get("return") is None else recorder.shape,
    )
