"""The server itself: is it there, and who is it (CP5)."""

from pydantic import TypeAdapter

from coder_stack.coderd.call import Call
from coder_stack.coderd.caller import Caller
from coder_stack.coderd.errors import ProtocolError
from coder_stack.coderd.models import BuildInfo

__all__ = ["ServerEndpoints"]

_BUILD_INFO = TypeAdapter(BuildInfo)


class ServerEndpoints(Caller):
    """Health and build."""

    def healthz(self) -> None:
        """Ends without an error once coderd serves requests. It does no checks beyond that."""
        operation = "ask coderd for its health"
        call = Call(operation=operation, method="GET", path=("healthz",), auth="none")
        if self._answer(call).body.strip() != b"OK":
            why = "something else than coderd answered; check that the URL leads to coderd."
            raise ProtocolError(operation, why, fault="not-coderd", status=200)

    def build_info(self) -> BuildInfo:
        """Version and deployment id. Needs no token and sends none."""
        call = Call(
            operation="ask coderd for its build",
            method="GET",
            path=("api", "v2", "buildinfo"),
            auth="none",
        )
        return self._ask(call, _BUILD_INFO)
