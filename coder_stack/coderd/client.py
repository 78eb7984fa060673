"""The client: one coderd, one method per route that this project uses.

Synchronous and safe to share between threads. Every method ends in a model of models.py or an error
of errors.py. The routes are in endpoints/; how a call is made, repeated and judged is in caller.py
and below it.
"""

from copy import copy
from dataclasses import replace
from types import TracebackType
from typing import Self

from pydantic import SecretStr

from coder_stack.coderd.connection import Connection, TokenSource
from coder_stack.coderd.endpoints.access import AccessEndpoints
from coder_stack.coderd.endpoints.licenses import LicenseEndpoints
from coder_stack.coderd.endpoints.organizations import OrganizationEndpoints
from coder_stack.coderd.endpoints.provisioners import ProvisionerEndpoints
from coder_stack.coderd.endpoints.proxies import ProxyEndpoints
from coder_stack.coderd.endpoints.server import ServerEndpoints
from coder_stack.coderd.retry import Clock
from coder_stack.coderd.transport import HttpClient, Transport

__all__ = ["Coderd"]


class Coderd(
    ServerEndpoints,
    AccessEndpoints,
    LicenseEndpoints,
    OrganizationEndpoints,
    ProvisionerEndpoints,
    ProxyEndpoints,
):
    """A coderd, reached by `connection`; `transport` is another way in (tests, Kubernetes)."""

    def __init__(
        self,
        connection: Connection,
        *,
        transport: Transport | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(connection, HttpClient(connection, transport), clock or Clock())

    def with_token(self, token: SecretStr) -> Self:
        """The same coderd for another user; they share sockets, closing one closes both."""
        twin = copy(self)
        twin.connection = replace(self.connection, token=token)
        twin.token_source = None
        return twin

    def with_token_source(self, source: TokenSource) -> Self:
        """The same coderd for the user whose token the source finds when one is needed."""
        twin = copy(self)
        twin.connection = replace(self.connection, token=None)
        twin.token_source = source
        return twin

    def close(self) -> None:
        """Give the sockets back."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
