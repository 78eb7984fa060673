"""The ASGI application: handle one request in coderd's order: CSRF, rate limits, route.

It also applies faults, writes the request log, and calls `changed` after a change of the state.
"""

import asyncio
import base64
import os
from collections.abc import Callable

from starlette.datastructures import Headers, QueryParams
from starlette.types import Receive, Scope, Send

from sandbox.coderd import csrf, responses, routes_table
from sandbox.coderd.faults import Fault, Faults
from sandbox.coderd.request_context import RequestContext, routed_path
from sandbox.coderd.request_log import Entry, RequestLog, safe_path, safe_query
from sandbox.coderd.responses import HttpResponse
from sandbox.coderd.router import BASE
from sandbox.coderd.routes import controls
from sandbox.coderd.rules.go_text import timestamp
from sandbox.coderd.rules.identifiers import new_uuid
from sandbox.coderd.rules.rate_limit import RateLimiter
from sandbox.coderd.rules.refusal import RefusalError
from sandbox.coderd.rules.state import CoderdState

_LOGIN = f"{BASE}/users/login"
_PAGE = b"Slim build of Coder, does not contain the frontend static files."


class Application:
    """Serve one simulated coderd over HTTP."""

    def __init__(
        self, state: CoderdState, changed: Callable[[CoderdState], None] = lambda _state: None
    ) -> None:
        self.state = state
        self.faults = Faults()
        self.log = RequestLog()
        self._changed = changed
        self._router = routes_table.build(enterprise=state.flags.enterprise)
        self._controls = controls.Controls(self.log, self.faults)
        self._api_limit = RateLimiter()
        self._login_limit = RateLimiter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI event; only HTTP is supported."""
        if scope["type"] != "http":
            return
        ctx = await self._read(scope, receive)
        if ctx.path.startswith(controls.PREFIX):
            await _send(self._guarded(ctx, self._controls.serve), send)
            self._changed(self.state)
            return
        fault = self.faults.next_for(ctx.method, ctx.path)
        response = await self._respond(ctx, fault)
        if response is None:
            await _drop(receive, send)
        else:
            await _send(response, send, without_body=ctx.method == "HEAD")

    async def _respond(self, ctx: RequestContext, fault: Fault | None) -> HttpResponse | None:
        """Return the response after faults; None closes the connection."""
        if fault and fault.kind == "delay":
            await asyncio.sleep(fault.seconds)
        route = self._router.pattern_of(ctx.routed_path)
        response: HttpResponse | None
        if fault and fault.kind in {"status", "garbage", "html"}:
            response = fault.response()
        elif fault and fault.kind == "drop_before":
            response = None
        else:
            response = self._work(ctx)
            if ctx.method != "GET":
                self._changed(self.state)
            if fault and fault.kind == "drop_after":
                response = None
        entry = Entry(
            method=ctx.method,
            path=safe_path(ctx.path, route),
            query=safe_query(ctx.query),
            route=route,
            status=response.status if response else None,
            time=timestamp(self.state.now()),
            who=ctx.who,
            fault=fault.kind if fault else None,
        )
        self.log.add(entry)
        return response

    def _work(self, ctx: RequestContext) -> HttpResponse:
        self.state.refresh_if_due()
        response = csrf.refusal(ctx) or self._guarded(ctx, self._route)
        response.headers.extend(ctx.response_headers)
        return _dressed(response, ctx)

    def _route(self, ctx: RequestContext) -> HttpResponse:
        if ctx.path == "/healthz":
            return responses.plain(200, "OK")
        if not (ctx.path == BASE or ctx.path.startswith(f"{BASE}/")):
            # The dashboard returns a page for every other path.
            return HttpResponse(200, _PAGE, [("Content-Type", "text/html; charset=utf-8")])
        flags = self.state.flags
        self._limit(ctx, self._api_limit, flags.api_rate_limit)
        if ctx.routed_path == _LOGIN and ctx.method == "POST":
            self._limit(ctx, self._login_limit, flags.login_rate_limit)
        return self._router.serve(ctx)[0]

    def _limit(self, ctx: RequestContext, limiter: RateLimiter, limit: int) -> None:
        if limit <= 0:
            return
        decision = limiter.check(ctx.client, ctx.path, limit, self.state.now())
        names = {name for name, _ in decision.headers()}
        ctx.response_headers = [h for h in ctx.response_headers if h[0] not in names]
        ctx.response_headers.extend(decision.headers())
        if not decision.allowed:
            raise RefusalError(429, decision.message)

    def _guarded(
        self, ctx: RequestContext, serve: Callable[[RequestContext], HttpResponse]
    ) -> HttpResponse:
        try:
            return serve(ctx)
        except RefusalError as refusal:
            return responses.refused(refusal)

    async def _read(self, scope: Scope, receive: Receive) -> RequestContext:
        chunks: list[bytes] = []
        more = True
        while more:
            event = await receive()
            chunks.append(event.get("body", b""))
            more = event.get("more_body", False)
        client = scope.get("client")
        return RequestContext(
            state=self.state,
            method=scope["method"],
            path=scope["path"],
            routed_path=routed_path(scope["path"]),
            headers=Headers(scope=scope),
            query=QueryParams(scope["query_string"]),
            body=b"".join(chunks),
            client=client[0] if client else "",
        )


def _dressed(response: HttpResponse, ctx: RequestContext) -> HttpResponse:
    """Add the headers of every response of coderd."""
    response.headers += [
        ("X-Coder-Build-Version", ctx.state.flags.version),
        ("X-Coder-Request-Id", new_uuid()),
        ("X-Content-Type-Options", "nosniff"),
        ("Vary", "Origin"),
        ("Vary", "Cookie"),
    ]
    if "csrf_token" not in ctx.cookies:
        token = base64.b64encode(os.urandom(32)).decode()
        cookie = f"csrf_token={token}; Path=/; HttpOnly; SameSite=Lax"
        response.headers.insert(0, ("Set-Cookie", cookie))
    return response


async def _send(response: HttpResponse, send: Send, *, without_body: bool = False) -> None:
    headers = [
        (name.lower().encode("latin-1"), v.encode("latin-1", "replace"))
        for name, v in response.headers
    ]
    if response.status != 204:
        headers.append((b"content-length", str(len(response.body)).encode()))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if without_body else response.body})


async def _drop(receive: Receive, send: Send) -> None:
    """Close the connection without a response.

    ASGI cannot do that. uvicorn's `send` is a method of its request cycle, which has the transport.
    """
    transport = getattr(getattr(send, "__self__", None), "transport", None)
    if transport is None:
        raise RuntimeError("this server does not let the simulation drop connections")
    transport.abort()
    while (await receive())["type"] != "http.disconnect":
        pass
