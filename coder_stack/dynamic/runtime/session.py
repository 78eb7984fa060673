"""How the providers of one process reach coderd (CP8).

A connection says where coderd is and where the operator's token is kept (credential.py); it holds
no secret. What all operations on one connection share in a process is kept here: the client with
its sockets, lists, and how long a silent coderd is waited for.
"""

import copy
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pydantic import SecretStr, ValidationError, model_validator

from coder_stack.cluster.secret import SecretKeyRef
from coder_stack.cluster.service_proxy import ServiceProxy, service_proxy
from coder_stack.coderd import (
    AnswerLost,
    Coderd,
    CoderdError,
    Connection,
    InsecureConnection,
    RateLimited,
    Unauthenticated,
    Unavailable,
)
from coder_stack.dynamic.runtime import operator_secret
from coder_stack.dynamic.runtime.cache import ListCache
from coder_stack.dynamic.runtime.config import StackConfig, service_way, url_way
from coder_stack.dynamic.runtime.credentials import Credential, OperatorToken, Tokens
from coder_stack.dynamic.runtime.errors import Failed
from coder_stack.dynamic.runtime.operator_secret import OperatorSecret
from coder_stack.dynamic.runtime.outage import OutageBudget
from coder_stack.dynamic.runtime.props import PropsModel

__all__ = ["SESSIONS", "CoderdInputs", "ConnectionProps", "Session", "Sessions"]

T = TypeVar("T")
QUICK_SECONDS = 5.0
"""How long one attempt in passing waits for coderd."""
HURRIED_SECONDS = 1.0
"""The same for a delete, once another has found nobody there."""


class ConnectionProps(PropsModel):
    """The input `connection` of every resource: a URL, or coderd's Service behind the API server.

    Holds no secret: `credential` only says where the operator's token is. `ca_bundle` is PEM text
    or a path.
    """

    url: str | None = None
    service_proxy: ServiceProxy | None = None
    ca_bundle: str | None = None
    allow_insecure: bool = False
    credential: Credential | None = None
    """None: as "config". Also in states of an earlier version, which kept copies of the token."""

    @model_validator(mode="after")
    def _one_way(self) -> "ConnectionProps":
        if (self.url is None) == (self.service_proxy is None):
            raise ValueError("give either url or service_proxy")
        return self

    @property
    def identity(self) -> str:
        """What tells one connection from another in this process."""
        return self.model_dump_json(exclude_none=True)

    @property
    def home(self) -> Credential:
        """Where its token is."""
        return self.credential or "config"

    @property
    def way(self) -> str:
        """Which coderd it leads to; a credential belongs to one of these."""
        if self.service_proxy is not None:
            return service_way(self.service_proxy.namespace, self.service_proxy.service)
        return url_way(self.url or "")


class CoderdInputs(PropsModel):
    """What every resource is given; its State model inherits from its Inputs model."""

    connection: ConnectionProps


@dataclass(frozen=True)
class Shared:
    """What all operations of this process on one connection have in common."""

    coderd: Coderd
    lists: ListCache = field(default_factory=ListCache)
    outage: OutageBudget = field(default_factory=OutageBudget)
    licenses: list[str] = field(default_factory=list[str])
    """Hashes of the licenses that this process has applied, newest last."""


@dataclass(frozen=True)
class Session:
    """One coderd as one operation sees it."""

    coderd: Coderd
    """With the operator's token, which is looked up when a call first needs it."""
    connection: ConnectionProps
    shared: Shared
    source: OperatorToken

    @property
    def token(self) -> SecretStr | None:
        """The operator's token; None if there is none to be had now."""
        try:
            return self.source.token()
        except Unauthenticated:
            return None

    @property
    def lists(self) -> ListCache:
        """See `listed`."""
        return self.shared.lists

    @property
    def quick(self) -> Coderd:
        """The same coderd for one attempt of many: gives up after five seconds."""
        return self._within(QUICK_SECONDS)

    def look(self, fetch: Callable[[Coderd], T]) -> T:
        """A look in passing, in `check` and `diff`.

        All looks of this process at a silent coderd wait five seconds together, not each.
        """
        outage = self.shared.outage
        seconds = outage.for_a_look()
        if seconds <= 0:
            why = "it did not answer a moment ago; look at its pods."
            raise Unavailable("look at coderd", why)
        try:
            found = fetch(self._within(min(seconds, QUICK_SECONDS)))
        except Unavailable:
            raise
        except CoderdError:
            outage.answered()
            raise
        outage.answered()
        return found

    def answered(self) -> None:
        """Reset the outage budget after an answer."""
        self.shared.outage.answered()

    @contextmanager
    def deleting(self) -> Generator["Session"]:
        """Hurry, once another delete got no answer within its deadline."""
        outage = self.shared.outage
        try:
            hurried = outage.gave_up
            yield replace(self, coderd=self._within(HURRIED_SECONDS)) if hurried else self
        except (CoderdError, Failed) as error:
            why = error.__cause__ if isinstance(error, Failed) else error
            if isinstance(why, Unavailable | AnswerLost) and not isinstance(why, RateLimited):
                outage.give_up()
            raise

    def _within(self, seconds: float) -> Coderd:
        twin = copy.copy(self.coderd)
        deadlines = replace(twin.connection.deadlines, total=seconds)
        twin.connection = replace(twin.connection, deadlines=deadlines)
        return twin

    def refuse_if_insecure(self) -> None:
        """CP8, before anything is sent: tokens and keys travel on every connection."""
        if not self.coderd.connection.may_carry_secrets:
            why = (
                "tokens would go over plain http to another machine; use https, service_proxy, or "
                "set allow_insecure."
            )
            raise InsecureConnection("connect to coderd", why)

    def with_token(self, token: SecretStr) -> "Session":
        """The same way with another token, which all providers of this process use from now on."""
        self.source.remember(token)
        return replace(self, coderd=self.coderd.with_token(token))

    @contextmanager
    def changing(self) -> Generator[None]:
        """Drop cached lists after a change, whatever comes of it."""
        try:
            yield
        finally:
            self.lists.forget()

    def listed(self, key: str, fetch: Callable[[Coderd], T]) -> T:
        """A list shared by a burst of reads; `key` names it, e.g. `keys/<organization>`."""
        return self.lists.get(key, lambda: fetch(self.coderd))


class Sessions:
    """What this process knows of each connection, and its tokens; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shared: dict[str, Shared] = {}
        self._tokens = Tokens()

    def hand_over(self, connection: ConnectionProps, token: SecretStr) -> None:
        """Use the token that the program gave for this connection, in this run."""
        self._tokens.hand_over(connection.way, connection.home, token)

    def open(
        self,
        connection: ConnectionProps,
        config: StackConfig,
        own: Mapping[str, Any],
        *,
        may_renew: bool = False,
    ) -> Session:
        """The way to coderd. `own` is the resource's state, or empty.

        `may_renew`: log in for another token if coderd refuses the one at home. Never for a look.
        """
        shared = self._of(connection, config)
        kept = own.get("token") if _way_in(own) == connection.way else None

        def renewed(place: SecretKeyRef, home: OperatorSecret) -> SecretStr:
            account = home.account
            assert account is not None, "only a Secret of ours is renewed"  # noqa: S101
            return operator_secret.renew(
                shared.coderd, place, config, connection.way, account, home
            )

        source = OperatorToken(
            way=connection.way,
            home=connection.home,
            config=config,
            tokens=self._tokens,
            kept=SecretStr(kept) if isinstance(kept, str) and kept else None,
            renewal=renewed if may_renew else None,
        )
        return Session(
            coderd=shared.coderd.with_token_source(source),
            connection=connection,
            shared=shared,
            source=source,
        )

    def _of(self, connection: ConnectionProps, config: StackConfig) -> Shared:
        key = connection.identity
        with self._lock:
            if key not in self._shared:
                self._shared[key] = Shared(_coderd(connection, config))
            return self._shared[key]


SESSIONS = Sessions()
"""Of this process; the only thing that outlives a call."""


def _way_in(state: Mapping[str, Any]) -> str:
    """The coderd that a state was applied to; empty if it does not say."""
    try:
        return ConnectionProps.model_validate(state.get("connection")).way
    except ValidationError:
        return ""


def _coderd(connection: ConnectionProps, config: StackConfig) -> Coderd:
    if connection.service_proxy is not None:
        url, transport = service_proxy(connection.service_proxy, config.kubernetes)
        return Coderd(Connection(base_url=url), transport=transport)
    return Coderd(
        Connection(
            base_url=connection.url or "",
            ca_bundle=connection.ca_bundle,
            allow_insecure=connection.allow_insecure,
        )
    )
