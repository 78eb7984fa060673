"""The table of routes, with the order of things that chi, coderd's router, has.

A mounted prefix runs its guards for everything below it, even for paths and methods that do not
exist; an endpoint has its own full list of guards. An unknown path is then 404, a known path with
another method 405 with an empty body.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox.coderd.answers import Answer
from sandbox.coderd.call import Call
from sandbox.coderd.rules.refusal import NoSuchRouteError

Guard = Callable[[Call], None]
Handler = Callable[[Call], Answer]
BASE = "/api/v2"
_PARAMETER = re.compile(r"\{([a-z_]+)\}")
# Words of their own in those places: a proxy named `me` and an API key `tokens` are out of reach.
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
    """A prefix with guards of its own."""

    expression: re.Pattern[str]
    guards: tuple[Guard, ...]
    depth: int


@dataclass
class Router:
    """Routes are added in order; the first that matches wins."""

    endpoints: list[Endpoint] = field(default_factory=list[Endpoint])
    mounts: list[Mount] = field(default_factory=list[Mount])
    roots: set[str] = field(default_factory=set[str])

    def mount(self, prefix: str, *guards: Guard) -> None:
        """Everything under this prefix passes these guards first."""
        expression = re.compile(f"{_expression(BASE + prefix)}(?:/.*)?")
        self.mounts.append(Mount(expression, guards, prefix.count("/")))
        self.roots.add(BASE + prefix)

    def add(self, method: str, path: str, handler: Handler, *guards: Guard) -> None:
        """One endpoint under /api/v2 with its guards in order."""
        pattern = BASE + path
        # A subrouter's own root answers with and without the slash.
        ending = "/?" if pattern in self.roots else ""
        expression = re.compile(_expression(pattern) + ending)
        self.endpoints.append(Endpoint(method, pattern, expression, guards, handler))

    def serve(self, call: Call) -> tuple[Answer, str]:
        """Run the request; also returns the pattern it matched, for the log."""
        other_methods: list[Endpoint] = []
        for endpoint in self.endpoints:
            match = endpoint.expression.fullmatch(call.routed_path)
            if not match:
                continue
            if endpoint.method != call.method:
                other_methods.append(endpoint)
                continue
            call.params = match.groupdict()
            for guard in endpoint.guards:
                guard(call)
            return endpoint.handler(call), endpoint.pattern
        self._pass_mount(call)
        if other_methods:
            allowed = [("Allow", endpoint.method) for endpoint in other_methods]
            return Answer(405, headers=allowed), other_methods[0].pattern
        raise NoSuchRouteError

    def pattern_of(self, path: str) -> str:
        """The pattern that a path belongs to, whatever the method."""
        for endpoint in self.endpoints:
            if endpoint.expression.fullmatch(path):
                return endpoint.pattern
        return ""

    def _pass_mount(self, call: Call) -> None:
        matching = [m for m in self.mounts if m.expression.fullmatch(call.routed_path)]
        if not matching:
            return
        deepest = max(matching, key=lambda mount: mount.depth)
        match = deepest.expression.fullmatch(call.routed_path)
        call.params = match.groupdict() if match else {}
        for guard in deepest.guards:
            guard(call)


def _expression(pattern: str) -> str:
    return _PARAMETER.sub(
        lambda found: f"(?P<{found[1]}>{_VALUES.get(found[1], '[^/]+')})", pattern
    )
