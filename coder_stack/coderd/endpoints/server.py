"""The server itself: is it there, who is it, which organizations does it hold (CP5)."""

from pydantic import TypeAdapter

from coder_stack.coderd.call import Call, quoted
from coder_stack.coderd.caller import Caller
from coder_stack.coderd.errors import ProtocolError
from coder_stack.coderd.models import BuildInfo, List, Organization

__all__ = ["ServerEndpoints"]

_BUILD_INFO = TypeAdapter(BuildInfo)
_ORGANIZATION = TypeAdapter(Organization)
_ORGANIZATIONS = TypeAdapter[tuple[Organization, ...]](List[Organization])


class ServerEndpoints(Caller):
    """Health, build and organizations."""

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

    def organizations(self) -> tuple[Organization, ...]:
        """Those the token's user may read, in no order."""
        call = Call(
            operation="list organizations", method="GET", path=("api", "v2", "organizations")
        )
        return self._ask(call, _ORGANIZATIONS)

    def organization(self, name_or_id: str = "default") -> Organization:
        """By name (any case), id, or the word `default`. By id, deleted ones are found too."""
        call = Call(
            operation=f"look up organization {quoted(name_or_id)}",
            method="GET",
            path=("api", "v2", "organizations", name_or_id),
        )
        return self._ask(call, _ORGANIZATION)
