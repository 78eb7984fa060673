"""A router with the order of checks of chi, coderd's router.

A mounted prefix runs its guards for all paths below it, even for unknown ones; an endpoint has a
list of its own. Then an unknown path gets 404, and another method of a known path an empty 405.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox.coderd.request_context import RequestContext
from sandbox.coderd.responses import HttpResponse
from sandbox.coderd.rules.refusal import NoSuchRouteError

Guard = Callable[[RequestContext], None]
Handler = Callable[[RequestContext], HttpResponse]
BASE = "/api/v2"
_PARAMETER = re.compile(r"\{([a-z_]+)\}")
# These segments are routes: a proxy named `me` or an API key `tokens` cannot be addressed.
_VALUES = {"workspaceproxy": r"(?!me(?:/|$))[^/]+", "keyid": r"(?!tokens(?:/|$))[^/]+"}


@dataclass(frozen=True)
class Endpoint:
    """One method on one path."""

    method: str
    pattern: str
    expression: re.Pattern[str]
    guards: tuple[Guard, ...]
    handler: Handler


@dataclass(frozen=True)
class Mount:
    """A prefix and its guards."""

    expression: re.Pattern[str]
    guards: tuple[Guard, ...]
    depth: int


@dataclass
class Router:
    """The routes in order; the first match wins."""

    endpoints: list[Endpoint] = field(default_factory=list[Endpoint])
    mounts: list[Mount] = field(default_factory=list[Mount])
    roots: set[str] = field(default_factory=set[str])

    def mount(self, prefix: str, *guards: Guard) -> None:
        """Run these guards for all paths below a prefix."""
        expression = re.compile(f"{_expression(BASE + prefix)}(?:/.*)?")
        self.mounts.append(Mount(expression, guards, prefix.count("/")))
        self.roots.add(BASE + prefix)

    def add(self, method: str, path: str, handler: Handler, *guards: Guard) -> None:
        """Add an endpoint below /api/v2 with its guards in order."""
        pattern = BASE + path
        # The root of a subrouter matches with and without a slash.
        ending = "/?" if pattern in self.roots else ""
        expression = re.compile(_expression(pattern) + ending)
        self.endpoints.append(Endpoint(method, pattern, expression, guards, handler))

    def serve(self, ctx: RequestContext) -> tuple[HttpResponse, str]:
        """Handle a request; return the response and the matched pattern."""
        other_methods: list[Endpoint] = []
        for endpoint in self.endpoints:
            match = endpoint.expression.fullmatch(ctx.routed_path)
            if not match:
                continue
            if endpoint.method != ctx.method:
                other_methods.append(endpoint)
                continue
            ctx.params = match.groupdict()
            for guard in endpoint.guards:
                guard(ctx)
            return endpoint.handler(ctx), endpoint.pattern
        self._pass_mount(ctx)
        if other_methods:
            allowed = [("Allow", endpoint.method) for endpoint in other_methods]
            return HttpResponse(405, headers=allowed), other_methods[0].pattern
        raise NoSuchRouteError

    def pattern_of(self, path: str) -> str:
        """Return the pattern that matches a path with any method."""
        for endpoint in self.endpoints:
            if endpoint.expression.fullmatch(path):
                return endpoint.pattern
        return ""

    def _pass_mount(self, ctx: RequestContext) -> None:
        matching = [m for m in self.mounts if m.expression.fullmatch(ctx.routed_path)]
        if not matching:
            return
        deepest = max(matching, key=lambda mount: mount.depth)
        match = deepest.expression.fullmatch(ctx.routed_path)
        ctx.params = match.groupdict() if match else {}
        for guard in deepest.guards:
            guard(ctx)


def _expression(pattern: str) -> str:
    return _PARAMETER.sub(
        lambda found: f"(?P<{found[1]}>{_VALUES.get(found[1], '[^/]+')})", pattern
    )
