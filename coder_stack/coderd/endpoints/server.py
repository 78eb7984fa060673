"""The server's health and build (CP5)."""

from pydantic import TypeAdapter

from coder_stack.coderd.endpoints.base import Endpoints
from coder_stack.coderd.errors import ProtocolError
from coder_stack.coderd.models import BuildInfo
from coder_stack.coderd.request import Request

_BUILD_INFO = TypeAdapter(BuildInfo)


class ServerEndpoints(Endpoints):
    """The server's health and build."""

    def healthz(self) -> None:
        """Raise an error unless coderd serves requests; coderd itself checks nothing else."""
        operation = "ask coderd for its health"
        request = Request(operation=operation, method="GET", path=("healthz",), auth="none")
        if self._response(request).body.strip() != b"OK":
            why = "something else than coderd answered; check that the URL leads to coderd."
            raise ProtocolError(operation, why, fault="not-coderd", status=200)

    def build_info(self) -> BuildInfo:
        """Return version and deployment id. The route needs no token, so none is sent."""
        request = Request(
            operation="ask coderd for its build",
            method="GET",
            path=("api", "v2", "buildinfo"),
            auth="none",
        )
        return self._ask(request, _BUILD_INFO)
