"""Requests to one API server: JSON in and out, errors as `ApiError`, a limited number of retries.

It is thread-safe.
"""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

from sandbox.kubernetes_plugin.errors import ApiError, Cancelled, NoSuchKind, Unreachable
from sandbox.kubernetes_plugin.objects import Kind, kind_of, name_of, namespace_of
from sandbox.kubernetes_plugin.values import Object, as_list, as_object, as_text, dig, from_json

JSON: Final = "application/json"
APPLY: Final = "application/apply-patch+yaml"
JSON_PATCH: Final = "application/json-patch+json"
RETRIES: Final = 5
CONNECT_SECONDS: Final = 5.0
READ_SECONDS: Final = 60.0

Result = TypeVar("Result")


class Api:
    """A client for one cluster with one set of credentials."""

    def __init__(self, configuration: Any, cancelled: threading.Event) -> None:
        import urllib3  # noqa: PLC0415 - kept off the start-up path
        from kubernetes.client.rest import RESTClientObject  # noqa: PLC0415

        if not configuration.verify_ssl:
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        configuration.connection_pool_maxsize = 64
        rest: Any = RESTClientObject(configuration)
        self._pool: Any = rest.pool_manager
        self._configuration: Any = configuration
        self._errors: Any = urllib3.exceptions
        self._timeout: Any = urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
        self._cancelled = cancelled
        self._discovered: dict[str, dict[str, tuple[str, bool]]] = {}
        self.server: str = str(configuration.host)

    # -- kinds -----------------------------------------------------------------------------------

    def is_namespaced(self, kind: Kind) -> bool:
        """Return whether the kind is namespaced."""
        return self._resource(kind)[1]

    def serves(self, kind: Kind) -> bool:
        """Return whether the cluster has this kind now."""
        try:
            self._resource(kind)
        except NoSuchKind:
            return False
        return True

    def _resource(self, kind: Kind) -> tuple[str, bool]:
        known = self._discovered.get(kind.api_version, {})
        if kind.name not in known:
            known = self._discover(kind.api_version)
            self._discovered[kind.api_version] = known
        if kind.name not in known:
            raise NoSuchKind(kind.api_version, kind.name)
        return known[kind.name]

    def _discover(self, api_version: str) -> dict[str, tuple[str, bool]]:
        try:
            answer = self.request("GET", _root(api_version))
        except ApiError as error:
            if error.not_found:
                return {}
            raise
        return {
            as_text(dig(entry, "kind")): (
                as_text(dig(entry, "name")),
                dig(entry, "namespaced") is True,
            )
            for entry in as_list(answer.get("resources"))
            if "/" not in as_text(dig(entry, "name"))
        }

    def path(self, kind: Kind, namespace: str, name: str = "") -> str:
        """Return the URL path of an object, or without a name of its collection."""
        plural, namespaced = self._resource(kind)
        parts = [_root(kind.api_version)]
        if namespaced:
            parts += ["namespaces", quote(namespace or "default", safe="")]
        parts.append(plural)
        if name:
            parts.append(quote(name, safe=""))
        return "/".join(parts)

    # -- objects ---------------------------------------------------------------------------------

    def get(self, kind: Kind, namespace: str, name: str) -> Object:
        """Return the live object."""
        return self.request("GET", self.path(kind, namespace, name))

    def list(self, kind: Kind, namespace: str, **query: str) -> list[Object]:
        """Return the objects of a kind in a namespace."""
        answer = self.request("GET", self.path(kind, namespace), query)
        return [as_object(item) for item in as_list(answer.get("items"))]

    def create(self, obj: Object, **query: str) -> Object:
        """Create an object; not retried, because the first attempt may have created it."""
        path = self.path(kind_of(obj), namespace_of(obj))
        return self.request("POST", path, query, obj, repeat="dryRun" in query)

    def apply(self, obj: Object, **query: str) -> Object:
        """Send a server-side apply patch."""
        path = self.path(kind_of(obj), namespace_of(obj), name_of(obj))
        return self.request("PATCH", path, query, obj, content_type=APPLY)

    def replace(self, obj: Object, **query: str) -> Object:
        """Replace a whole object."""
        path = self.path(kind_of(obj), namespace_of(obj), name_of(obj))
        return self.request("PUT", path, query, obj)

    def patch_json(self, obj: Object, operations: list[Any]) -> Object:
        """Send a JSON patch."""
        path = self.path(kind_of(obj), namespace_of(obj), name_of(obj))
        return self.request("PATCH", path, {}, operations, content_type=JSON_PATCH)

    def delete(self, kind: Kind, namespace: str, name: str, policy: str) -> None:
        """Request the deletion of an object, and do not wait for it."""
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy}
        self.request("DELETE", self.path(kind, namespace, name), {}, body)

    # -- transport -------------------------------------------------------------------------------

    def request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: object = None,
        *,
        content_type: str = JSON,
        repeat: bool = True,
    ) -> Object:
        """Send a request; with `repeat`, retry on overload and lost connections."""

        def attempt() -> Object:
            return self._send(method, path, query or {}, body, content_type)

        return self._retried(attempt) if repeat else attempt()

    def _send(
        self, method: str, path: str, query: Mapping[str, str], body: object, content_type: str
    ) -> Object:
        headers = {"Accept": JSON, "User-Agent": "pulumi-kubernetes-stand-in"}
        for setting in self._configuration.auth_settings().values():
            if setting["in"] == "header" and setting["value"]:
                headers[setting["key"]] = setting["value"]
        if body is not None:
            headers["Content-Type"] = content_type
        url = self.server + path + (f"?{urlencode(query)}" if query else "")
        try:
            answer: Any = self._pool.request(
                method,
                url,
                body=None if body is None else json.dumps(body),
                headers=headers,
                timeout=self._timeout,
                retries=False,
            )
        except (self._errors.HTTPError, ssl.SSLError, OSError) as error:
            raise Unreachable(
                f"the API server {self.server} does not answer ({_cause(error)})"
            ) from error
        parsed = _parsed(answer.data)
        if answer.status >= 400:
            raise ApiError(
                answer.status, parsed, f"the API server answered {answer.status} to {method} {path}"
            )
        return parsed

    def _retried(self, attempt: Callable[[], Result]) -> Result:
        for turn in range(RETRIES):
            try:
                return attempt()
            except ApiError as error:
                if not error.passing or turn == RETRIES - 1:
                    raise
            except Unreachable:
                if turn >= 2:
                    raise
            self.pause(0.2 * 2**turn)
        raise AssertionError("unreachable: the last turn returns or raises")

    def pause(self, seconds: float) -> None:
        """Sleep; raise Cancelled as soon as the engine cancels."""
        if self._cancelled.wait(seconds):
            raise Cancelled("the operation was cancelled")

    def close(self) -> None:
        """Close idle connections."""
        self._pool.clear()

    def deadline(self, seconds: float) -> Callable[[], bool]:
        """Return a function that returns true after that many seconds."""
        end = time.monotonic() + seconds
        return lambda: time.monotonic() >= end


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _parsed(data: bytes) -> Object:
    try:
        return from_json(json.loads(data)) if data else {}
    except ValueError:
        return {}


def _cause(error: BaseException) -> str:
    """Return the innermost reason of an error; urllib3 wraps it in several layers."""
    reason: object = getattr(error, "reason", None) or error
    text = str(reason).rpartition(": ")[2]
    return text or type(error).__name__
