"""Which token an operation uses: read from its home when needed, shown to its own coderd only.

A connection names the home: the stack's config, or a Kubernetes Secret. Nothing of a token is kept
in any state, so nothing there goes stale. A look reads; only an operation that changes coderd may
log in for another token when coderd refuses the one at home (CP10).
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import SecretStr

from coder_stack.cluster.secret import SecretAbsent, SecretKeyRef
from coder_stack.coderd import CoderdError, CredentialMissing, Unauthenticated
from coder_stack.config_keys import command_to_set
from coder_stack.dynamic.runtime.config import StackConfig
from coder_stack.dynamic.runtime.operator_secret import OperatorSecret, read

__all__ = ["Credential", "OperatorToken", "Renewal", "Tokens"]

Credential = Literal["config"] | SecretKeyRef
Renewal = Callable[[SecretKeyRef, OperatorSecret], SecretStr]
"""Makes a new token for the account in that Secret, and keeps it there."""
_USE = "use the operator's token"


class Tokens:
    """The tokens that this process knows, each for one coderd; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[str, Credential | None], SecretStr] = {}
        self._ways: dict[SecretStr, set[str]] = {}
        self.renewing = threading.Lock()
        """Held while one thread logs in, so that four deletes make one token."""

    def remember(self, way: str, home: Credential, token: SecretStr) -> None:
        """Use it from now on for that coderd."""
        with self._lock:
            self._known[way, home] = self._known[way, None] = token

    def hand_over(self, way: str, home: Credential, token: SecretStr) -> None:
        """Use the token that the program gave, and know which coderd it is for."""
        self.remember(way, home, token)
        with self._lock:
            self._ways.setdefault(token, set()).add(way)

    def given_for(self, token: SecretStr) -> set[str]:
        """The coderds for which the program gave this token in this run."""
        with self._lock:
            return set(self._ways.get(token, ()))

    def known(self, way: str, home: Credential | None) -> SecretStr | None:
        """What the program gave, or what was read at that home before; None: at any home."""
        with self._lock:
            return self._known.get((way, home))


@dataclass(frozen=True)
class OperatorToken:
    """The token for one coderd, as the client asks for it (coderd.TokenSource)."""

    way: str
    home: Credential
    config: StackConfig
    tokens: Tokens
    kept: SecretStr | None = None
    """The copy in a state that an earlier version wrote; used until the token has its home."""
    renewal: Renewal | None = None

    def token(self) -> SecretStr:
        """From this run, from its home, or from an old state."""
        known = self.tokens.known(self.way, self.home)
        if known is not None:
            return known
        last = self.kept or self.tokens.known(self.way, None)
        try:
            found, why = self._at_home()
        except CoderdError:
            if last is None:
                raise
            return last
        if found is not None:
            self.remember(found)
        token = found or last
        if token is None:
            missing = Unauthenticated if self.home == "config" else CredentialMissing
            raise missing(_USE, why, credential="session token")
        return token

    def remember(self, token: SecretStr) -> None:
        """Let every operation of this process on this connection use it."""
        self.tokens.remember(self.way, self.home, token)

    def after_refusal(self, refused: SecretStr) -> SecretStr | None:
        """Look at home again: it may have been renewed since. Else log in, if that is allowed."""
        with self.tokens.renewing:
            known = self.tokens.known(self.way, None)
            if known is not None and known != refused:
                return known
            found = self._newer(refused)
            if found is not None:
                self.remember(found)
            return found

    def _newer(self, refused: SecretStr) -> SecretStr | None:
        try:
            found, _ = self._at_home()
            if found is not None and found != refused:
                return found
            if self.renewal is None or self.home == "config":
                return None
            secret = read(self.home, self.config.kubernetes)
            return self.renewal(self.home, secret) if secret.account else None
        except (CoderdError, SecretAbsent):
            return None  # what coderd said of the token is the error to show

    def _at_home(self) -> tuple[SecretStr | None, str]:
        """The token there, or why there is none."""
        if self.home == "config":
            if self.config.token is None:
                return None, f"there is none; set it with: {command_to_set('token')}"
            # Without an address in the config, the program says whose the token is.
            ways = {self.config.way} - {""} or self.tokens.given_for(self.config.token)
            if self.way not in ways:
                self._refuse_if_for(next(iter(sorted(ways)), ""))
            return self.config.token, ""
        place = self.home
        try:
            secret = read(place, self.config.kubernetes)
        except SecretAbsent as absent:
            if absent.exists:
                return None, f"{place.label}: {absent}"
            why = "does not exist; `pulumi up` makes it, unless the token is yours: then create it."
            return None, f"{place.label} {why}"
        self._refuse_if_for(secret.way if secret.account else self.config.way)
        if secret.token is None:
            return None, f"{place.label} holds none yet; `pulumi up` makes one."
        return secret.token, ""

    def _refuse_if_for(self, way: str) -> None:
        """A credential is shown to nobody but the coderd that it belongs to."""
        if way and way != self.way:
            why = (
                f"it is for {way} and is not sent to {self.way}; run `pulumi up` without --refresh."
            )
            raise Unauthenticated(_USE, why, credential="session token")
