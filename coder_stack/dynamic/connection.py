"""How the providers of one process reach coderd, and which token they use (CP8, design: tokens).

A token is never part of checked inputs, so its renewal is no change of anything. `check` hands it
over here, in memory; each state keeps a copy as a secret. An operation takes the newest it can
know: the stack config's, then what this run handed over, then the copy in its own state.
"""

import copy
import json
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pydantic import SecretStr, ValidationError, model_validator

from coder_stack.coderd import (
    AnswerLost,
    Coderd,
    CoderdError,
    Connection,
    InsecureConnection,
    RateLimited,
    Unavailable,
)
from coder_stack.dynamic.api_server import ServiceProxy, service_proxy
from coder_stack.dynamic.failure import Failed
from coder_stack.dynamic.kubeconfig import Kubeconfig
from coder_stack.dynamic.listing import SharedLists
from coder_stack.dynamic.patience import Patience
from coder_stack.dynamic.wire import WireModel

__all__ = ["CoderdInputs", "ConnectionProps", "Connections", "Link", "StackConfig"]

T = TypeVar("T")
QUICK_SECONDS = 5.0
"""How long one attempt in passing waits for coderd."""
HURRIED_SECONDS = 1.0
"""The same for a delete, once another has found nobody there."""
CONFIG = "coder-stack"
"""Namespace of what we read in the stack's config, whatever the project is called: a `token` of
somebody else's project is not meant for coderd."""


class ConnectionProps(WireModel):
    """The input `connection` of every resource: a URL, or coderd's Service behind the API server.

    Holds no secret and no token. `ca_bundle` is PEM text or a path.
    """

    url: str | None = None
    service_proxy: ServiceProxy | None = None
    ca_bundle: str | None = None
    allow_insecure: bool = False

    @model_validator(mode="after")
    def _one_way(self) -> "ConnectionProps":
        if (self.url is None) == (self.service_proxy is None):
            raise ValueError("give either url or service_proxy")
        return self

    @property
    def identity(self) -> str:
        """What tells one connection from another in this process."""
        return self.model_dump_json(exclude_none=True)


class CoderdInputs(WireModel):
    """What every resource is given; its State model inherits from its Inputs model."""

    connection: ConnectionProps


class StackConfig(WireModel):
    """What the stack's config says about reaching coderd."""

    token: SecretStr | None = None
    kubernetes: Kubeconfig = Kubeconfig()

    @classmethod
    def read(cls, get: Callable[[str], str | None]) -> "StackConfig":
        """From Pulumi's config, in which everything is text."""
        token = get(f"{CONFIG}:token")
        try:
            text = get(f"{CONFIG}:kubernetes") or "{}"
            kubernetes = Kubeconfig.model_validate(json.loads(text))
        except (ValueError, ValidationError):
            kubernetes = Kubeconfig()  # the program reports what is wrong in it
        return cls(token=SecretStr(token) if token else None, kubernetes=kubernetes)


@dataclass(frozen=True)
class Shared:
    """What all operations of this process on one connection have in common."""

    coderd: Coderd
    lists: SharedLists = field(default_factory=SharedLists)
    patience: Patience = field(default_factory=Patience)
    licenses: list[str] = field(default_factory=list[str])
    """Hashes of the licenses that this process has applied, newest last."""


@dataclass(frozen=True)
class Link:
    """One coderd as one operation sees it."""

    coderd: Coderd
    token: SecretStr | None
    """The one in use, for the copy in state."""
    connection: ConnectionProps
    shared: Shared
    _hand_over: Callable[[SecretStr], None]

    @property
    def lists(self) -> SharedLists:
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
        patience = self.shared.patience
        seconds = patience.for_a_look()
        if seconds <= 0:
            why = "it did not answer a moment ago; look at its pods."
            raise Unavailable("look at coderd", why)
        try:
            found = fetch(self._within(min(seconds, QUICK_SECONDS)))
        except Unavailable:
            raise
        except CoderdError:
            patience.answered()
            raise
        patience.answered()
        return found

    def answered(self) -> None:
        """Coderd is there, as somebody has found out who waited for it."""
        self.shared.patience.answered()

    @contextmanager
    def deleting(self) -> Generator["Link"]:
        """The link for one delete: in a hurry, once another got no answer within its deadline."""
        patience = self.shared.patience
        try:
            hurried = patience.gave_up
            yield replace(self, coderd=self._within(HURRIED_SECONDS)) if hurried else self
        except (CoderdError, Failed) as error:
            why = error.__cause__ if isinstance(error, Failed) else error
            if isinstance(why, Unavailable | AnswerLost) and not isinstance(why, RateLimited):
                patience.give_up()
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

    def with_token(self, token: SecretStr) -> "Link":
        """The same way with another token, which all providers of this process use from now on."""
        self._hand_over(token)
        return replace(self, coderd=self.coderd.with_token(token), token=token)

    def listed(self, key: str, fetch: Callable[[Coderd], T]) -> T:
        """A list shared by a burst of reads; `key` names it, e.g. `keys/<organization>`."""
        return self.lists.get(key, lambda: fetch(self.coderd))


class Connections:
    """What this process knows of each connection, and its token; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shared: dict[str, Shared] = {}
        self._tokens: dict[str, SecretStr] = {}

    def hand_over(self, connection: ConnectionProps, token: SecretStr) -> None:
        """This run knows a token: everybody who uses the connection takes it from now on."""
        with self._lock:
            self._tokens[connection.identity] = token

    def handed_over(self, connection: ConnectionProps) -> SecretStr | None:
        """What was handed over last."""
        with self._lock:
            return self._tokens.get(connection.identity)

    def link(
        self, connection: ConnectionProps, config: StackConfig, own: Mapping[str, Any]
    ) -> Link:
        """The way to coderd with the newest token; `own` is the state's bag, or empty."""
        kept = own.get("token")
        token = (
            config.token
            or self.handed_over(connection)
            or (SecretStr(kept) if isinstance(kept, str) and kept else None)
        )
        shared = self._of(connection, config)
        return Link(
            coderd=shared.coderd.with_token(token) if token else shared.coderd,
            token=token,
            connection=connection,
            shared=shared,
            _hand_over=lambda new: self.hand_over(connection, new),
        )

    def _of(self, connection: ConnectionProps, config: StackConfig) -> Shared:
        key = connection.identity
        with self._lock:
            if key not in self._shared:
                self._shared[key] = Shared(_coderd(connection, config))
            return self._shared[key]


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
