"""The client of one coderd, with one method per route that this project uses (endpoints/).

Synchronous and thread-safe. Every method returns a model of models.py or raises an error of
errors.py.
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


class Coderd(
    ServerEndpoints,
    AccessEndpoints,
    LicenseEndpoints,
    OrganizationEndpoints,
    ProvisionerEndpoints,
    ProxyEndpoints,
):
    """A coderd at `connection`; `transport` replaces the network (tests, Kubernetes)."""

    def __init__(
        self,
        connection: Connection,
        *,
        transport: Transport | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(connection, HttpClient(connection, transport), clock or Clock())

    def with_token(self, token: SecretStr) -> Self:
        """Return a client for another user; both share sockets, and closing one closes both."""
        twin = copy(self)
        twin.connection = replace(self.connection, token=token)
        twin.token_source = None
        return twin

    def with_token_source(self, source: TokenSource) -> Self:
        """Return a client for the user whose token the source finds when one is needed."""
        twin = copy(self)
        twin.connection = replace(self.connection, token=None)
        twin.token_source = source
        return twin

    def with_deadline(self, seconds: float) -> Self:
        """Return a client whose requests take no longer, with all their retries."""
        twin = copy(self)
        deadlines = replace(self.connection.deadlines, total=seconds)
        twin.connection = replace(self.connection, deadlines=deadlines)
        return twin

    def close(self) -> None:
        """Close the sockets."""
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
