"""The ASGI application: one request from the wire to the rules and back.

In coderd's order: build version on everything, CSRF, the rate limits, then the route. Around it
stand the simulation's own parts: faults, the request log, and writing the state file after a
change.
"""

import asyncio
import base64
import os
from collections.abc import Callable

from starlette.datastructures import Headers, QueryParams
from starlette.types import Receive, Scope, Send

from sandbox.coderd import answers, csrf, routes_table
from sandbox.coderd.answers import Answer
from sandbox.coderd.call import Call, routed_path
from sandbox.coderd.faults import Fault, Faults
from sandbox.coderd.request_log import Entry, RequestLog, safe_path, safe_query
from sandbox.coderd.router import BASE
from sandbox.coderd.routes import controls
from sandbox.coderd.rules.go_text import timestamp
from sandbox.coderd.rules.identifiers import new_uuid
from sandbox.coderd.rules.rate_limit import RateLimiter
from sandbox.coderd.rules.refusal import RefusalError
from sandbox.coderd.rules.world import World

_LOGIN = f"{BASE}/users/login"
_PAGE = b"Slim build of Coder, does not contain the frontend static files."


class Application:
    """Serves one world over HTTP."""

    def __init__(
        self, world: World, changed: Callable[[World], None] = lambda _world: None
    ) -> None:
        self.world = world
        self.faults = Faults()
        self.log = RequestLog()
        self._changed = changed
        self._router = routes_table.build(enterprise=world.settings.enterprise)
        self._controls = controls.Controls(self.log, self.faults)
        self._api_limit = RateLimiter()
        self._login_limit = RateLimiter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI entry point; only HTTP is spoken."""
        if scope["type"] != "http":
            return
        call = await self._read(scope, receive)
        if call.path.startswith(controls.PREFIX):
            await _send(self._guarded(call, self._controls.serve), send)
            self._changed(self.world)
            return
        fault = self.faults.next_for(call.method, call.path)
        answer = await self._answer(call, fault)
        if answer is None:
            await _drop(receive, send)
        else:
            await _send(answer, send, without_body=call.method == "HEAD")

    async def _answer(self, call: Call, fault: Fault | None) -> Answer | None:
        """The answer after faults; None means the connection is cut."""
        if fault and fault.kind == "delay":
            await asyncio.sleep(fault.seconds)
        route = self._router.pattern_of(call.routed_path)
        answer: Answer | None
        if fault and fault.kind in {"status", "garbage", "html"}:
            answer = fault.answer()
        elif fault and fault.kind == "drop_before":
            answer = None
        else:
            answer = self._work(call)
            if call.method != "GET":
                self._changed(self.world)
            if fault and fault.kind == "drop_after":
                answer = None
        entry = Entry(
            method=call.method,
            path=safe_path(call.path, route),
            query=safe_query(call.query),
            route=route,
            status=answer.status if answer else None,
            time=timestamp(self.world.now()),
            who=call.who,
            fault=fault.kind if fault else None,
        )
        self.log.add(entry)
        return answer

    def _work(self, call: Call) -> Answer:
        self.world.refresh_if_due()
        answer = csrf.refusal(call) or self._guarded(call, self._route)
        answer.headers.extend(call.response_headers)
        return _dressed(answer, call)

    def _route(self, call: Call) -> Answer:
        if call.path == "/healthz":
            return answers.plain(200, "OK")
        if not (call.path == BASE or call.path.startswith(f"{BASE}/")):
            # The dashboard answers every other path with 200 and a page.
            return Answer(200, _PAGE, [("Content-Type", "text/html; charset=utf-8")])
        settings = self.world.settings
        self._limit(call, self._api_limit, settings.api_rate_limit)
        if call.routed_path == _LOGIN and call.method == "POST":
            self._limit(call, self._login_limit, settings.login_rate_limit)
        return self._router.serve(call)[0]

    def _limit(self, call: Call, limiter: RateLimiter, limit: int) -> None:
        if limit <= 0:
            return
        verdict = limiter.check(call.client, call.path, limit, self.world.now())
        names = {name for name, _ in verdict.headers()}
        call.response_headers = [h for h in call.response_headers if h[0] not in names]
        call.response_headers.extend(verdict.headers())
        if not verdict.allowed:
            raise RefusalError(429, verdict.message)

    def _guarded(self, call: Call, serve: Callable[[Call], Answer]) -> Answer:
        try:
            return serve(call)
        except RefusalError as refusal:
            return answers.refused(refusal)

    async def _read(self, scope: Scope, receive: Receive) -> Call:
        chunks: list[bytes] = []
        more = True
        while more:
            event = await receive()
            chunks.append(event.get("body", b""))
            more = event.get("more_body", False)
        client = scope.get("client")
        return Call(
            world=self.world,
            method=scope["method"],
            path=scope["path"],
            routed_path=routed_path(scope["path"]),
            headers=Headers(scope=scope),
            query=QueryParams(scope["query_string"]),
            body=b"".join(chunks),
            client=client[0] if client else "",
        )


def _dressed(answer: Answer, call: Call) -> Answer:
    """The headers that coderd puts on everything."""
    answer.headers += [
        ("X-Coder-Build-Version", call.world.settings.version),
        ("X-Coder-Request-Id", new_uuid()),
        ("X-Content-Type-Options", "nosniff"),
        ("Vary", "Origin"),
        ("Vary", "Cookie"),
    ]
    if "csrf_token" not in call.cookies:
        token = base64.b64encode(os.urandom(32)).decode()
        cookie = f"csrf_token={token}; Path=/; HttpOnly; SameSite=Lax"
        answer.headers.insert(0, ("Set-Cookie", cookie))
    return answer


async def _send(answer: Answer, send: Send, *, without_body: bool = False) -> None:
    headers = [
        (name.lower().encode("latin-1"), v.encode("latin-1", "replace"))
        for name, v in answer.headers
    ]
    if answer.status != 204:
        headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if without_body else answer.body})


async def _drop(receive: Receive, send: Send) -> None:
    """Cut the connection without a byte of an answer.

    ASGI has no word for that. uvicorn's `send` is a method of its request cycle, which holds the
    transport.
    """
    transport = getattr(getattr(send, "__self__", None), "transport", None)
    if transport is None:
        raise RuntimeError("this server does not let the simulation drop connections")
    transport.abort()
    while (await receive())["type"] != "http.disconnect":
        pass
