"""Sessions with coderd, by which the providers of one process reach it (CP8).

All operations on one connection share a client with its sockets, cached answers and an
outage budget. Which token they use is decided in credentials.py.
"""

import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pydantic import SecretStr, ValidationError, model_validator

from coder_stack.cluster.secret import SecretKeyRef
from coder_stack.cluster.service_proxy import ServiceProxy, service_proxy
from coder_stack.coderd.client import Coderd
from coder_stack.coderd.connection import Connection
from coder_stack.coderd.errors import (
    AnswerLost,
    CoderdError,
    InsecureConnection,
    RateLimited,
    Unauthenticated,
    Unavailable,
)
from coder_stack.dynamic.runtime import operator_secret
from coder_stack.dynamic.runtime.answers import Answer
from coder_stack.dynamic.runtime.cache import AnswerCache
from coder_stack.dynamic.runtime.config import StackConfig, service_target, url_target
from coder_stack.dynamic.runtime.credentials import OperatorToken, TokenLocation, Tokens
from coder_stack.dynamic.runtime.errors import Failed
from coder_stack.dynamic.runtime.operator_secret import OperatorSecret
from coder_stack.dynamic.runtime.outage import OutageBudget
from coder_stack.dynamic.runtime.props import PropsModel

T = TypeVar("T")
FAIL_FAST_SECONDS = 5.0
_DELETE_IN_OUTAGE_SECONDS = 1.0
"""Deadline of a delete after another delete got no answer."""


class ConnectionProps(PropsModel):
    """The input `connection` of every resource: a URL, or coderd's Service behind the API server.

    It holds no secret. `ca_bundle` is PEM text or a path.
    """

    url: str | None = None
    service_proxy: ServiceProxy | None = None
    ca_bundle: str | None = None
    allow_insecure: bool = False
    credential: TokenLocation | None = None
    """Where the operator's token is; None as "config", and in states of an earlier version."""

    @model_validator(mode="after")
    def _url_or_service_proxy(self) -> "ConnectionProps":
        if (self.url is None) == (self.service_proxy is None):
            raise ValueError("give either url or service_proxy")
        return self

    @property
    def identity(self) -> str:
        """Return a key that differs for every other connection."""
        return self.model_dump_json(exclude_none=True)

    @property
    def token_location(self) -> TokenLocation:
        """Return where the operator's token is."""
        return self.credential or "config"

    @property
    def target(self) -> str:
        """Name the coderd that it leads to; a token is sent to one target only (CP10)."""
        if self.service_proxy is not None:
            return service_target(self.service_proxy.namespace, self.service_proxy.service)
        return url_target(self.url or "")


class CoderdInputs(PropsModel):
    """Base of the inputs of every resource, and so of its state."""

    connection: ConnectionProps


@dataclass(frozen=True)
class Shared:
    """What all operations of this process on one connection share."""

    coderd: Coderd
    answers: AnswerCache = field(default_factory=AnswerCache)
    outage: OutageBudget = field(default_factory=OutageBudget)
    licenses: list[str] = field(default_factory=list[str])
    """Hashes of the licenses that this process has applied, newest last."""


@dataclass(frozen=True)
class Session:
    """The connection of one operation to coderd."""

    coderd: Coderd
    """Client that looks up the operator's token when a request first needs it."""
    connection: ConnectionProps
    shared: Shared
    source: OperatorToken

    @property
    def target(self) -> str:
        """Name the coderd that it leads to, the same for all its addresses in the config."""
        return self.source.target

    @property
    def token(self) -> SecretStr | None:
        """Return the operator's token; None if there is none now."""
        try:
            return self.source.token()
        except Unauthenticated:
            return None

    @property
    def fail_fast(self) -> Coderd:
        """Return a client that waits five seconds at most, for one attempt of many."""
        return self.coderd.with_deadline(FAIL_FAST_SECONDS)

    def peek(self, fetch: Callable[[Coderd], T]) -> T:
        """Read something in `check` or `diff` within the outage budget.

        Raise Unavailable at once while the budget is spent.
        """
        outage = self.shared.outage
        seconds = outage.seconds_left()
        if seconds <= 0:
            why = "it did not answer a moment ago; look at its pods."
            raise Unavailable("look at coderd", why)
        try:
            found = fetch(self.coderd.with_deadline(min(seconds, FAIL_FAST_SECONDS)))
        except Unavailable:
            raise
        except CoderdError:
            outage.reset()
            raise
        outage.reset()
        return found

    @contextmanager
    def deleting(self) -> Generator["Session"]:
        """Yield a session for one delete, with a short deadline after a delete got no answer."""
        outage = self.shared.outage
        try:
            if outage.delete_failed:
                yield replace(self, coderd=self.coderd.with_deadline(_DELETE_IN_OUTAGE_SECONDS))
            else:
                yield self
        except (CoderdError, Failed) as error:
            why = error.__cause__ if isinstance(error, Failed) else error
            if isinstance(why, Unavailable | AnswerLost) and not isinstance(why, RateLimited):
                outage.delete_failed = True
            raise

    def refuse_if_insecure(self) -> None:
        """Raise InsecureConnection before a token or key would be sent over plain http (CP8)."""
        if not self.coderd.connection.may_carry_secrets:
            why = (
                "tokens would go over plain http to another machine; use https, service_proxy, or "
                "set allow_insecure."
            )
            raise InsecureConnection("connect to coderd", why)

    def with_token(self, token: SecretStr) -> "Session":
        """Return a session with another token, which all providers of this process use now."""
        self.source.remember(token)
        return replace(self, coderd=self.coderd.with_token(token))

    @contextmanager
    def changing(self) -> Generator[None]:
        """Drop cached answers after a change, also after a failed one."""
        try:
            yield
        finally:
            self.shared.answers.forget()

    def cached(self, answer: Answer[T]) -> T:
        """Return an answer that concurrent reads share."""
        return self.shared.answers.get(answer.name, lambda: answer.fetch(self.coderd))

    def peek_cached(self, answer: Answer[T]) -> T:
        """Return such an answer in `check` or `diff`, which a read may have got a moment ago."""
        return self.shared.answers.get(answer.name, lambda: self.peek(answer.fetch))


class Sessions:
    """What this process shares per connection, and its tokens; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shared: dict[str, Shared] = {}
        self._tokens = Tokens()

    def use_given_token(self, connection: ConnectionProps, token: SecretStr) -> None:
        """Use the token that the program gave for this connection, in this run."""
        self._tokens.remember_given(connection.target, connection.token_location, token)

    def open(
        self,
        connection: ConnectionProps,
        config: StackConfig,
        state: Mapping[str, Any],
        *,
        may_renew: bool = False,
    ) -> Session:
        """Return a session. `state` is the resource's, or empty.

        `may_renew`: log in for another token if coderd refuses the stored one. Never for a read.
        """
        shared = self._of(connection, config)
        target = config.canonical(connection.target)
        old = state.get("token") if config.canonical(_target_in(state)) == target else None

        def renew(ref: SecretKeyRef, stored: OperatorSecret) -> SecretStr:
            account = stored.account
            assert account is not None, "only a Secret of ours is renewed"  # noqa: S101
            return operator_secret.renew(shared.coderd, ref, config, target, account, stored)

        source = OperatorToken(
            target=target,
            location=connection.token_location,
            config=config,
            tokens=self._tokens,
            from_old_state=SecretStr(old) if isinstance(old, str) and old else None,
            renewal=renew if may_renew else None,
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
"""The sessions of this process."""


def _target_in(state: Mapping[str, Any]) -> str:
    """Return the coderd that a state was applied to; empty if it does not say."""
    try:
        return ConnectionProps.model_validate(state.get("connection")).target
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
