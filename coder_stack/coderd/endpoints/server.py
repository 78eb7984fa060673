"""The server itself: is it there, and who is it (CP5)."""

from pydantic import TypeAdapter

from coder_stack.coderd.endpoints.base import Endpoints
from coder_stack.coderd.errors import ProtocolError
from coder_stack.coderd.models import BuildInfo
from coder_stack.coderd.request import Request

__all__ = ["ServerEndpoints"]

_BUILD_INFO = TypeAdapter(BuildInfo)


class ServerEndpoints(Endpoints):
    """Health and build."""

    def healthz(self) -> None:
        """Ends without an error once coderd serves requests. It does no checks beyond that."""
        operation = "ask coderd for its health"
        request = Request(operation=operation, method="GET", path=("healthz",), auth="none")
        if self._response(request).body.strip() != b"OK":
            why = "something else than coderd answered; check that the URL leads to coderd."
            raise ProtocolError(operation, why, fault="not-coderd", status=200)

    def build_info(self) -> BuildInfo:
        """Version and deployment id. Needs no token and sends none."""
        request = Request(
            operation="ask coderd for its build",
            method="GET",
            path=("api", "v2", "buildinfo"),
            auth="none",
        )
        return self._ask(request, _BUILD_INFO)
