"""Which token an operation uses (CP10).

A connection names where the token is: in the stack's config, or in a Kubernetes Secret. It is read
when needed, sent to its own coderd only, and copied into no state. Only an operation that changes
coderd may log in for another token when coderd refuses the stored one.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import SecretStr

from coder_stack.cluster.secret import SecretAbsent, SecretKeyRef
from coder_stack.coderd.errors import CoderdError, CredentialMissing, Unauthenticated
from coder_stack.config_keys import command_to_set
from coder_stack.dynamic.runtime.config import StackConfig
from coder_stack.dynamic.runtime.operator_secret import OperatorSecret, read

TokenLocation = Literal["config"] | SecretKeyRef
Renewal = Callable[[SecretKeyRef, OperatorSecret], SecretStr]
"""Creates a token for the account in that Secret, and writes it there."""
_USE = "use the operator's token"


class Tokens:
    """The tokens that this process knows, by target and location; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[str, TokenLocation | None], SecretStr] = {}
        self._given: dict[SecretStr, set[str]] = {}
        self.renewing = threading.Lock()
        """Held while one thread logs in, so that parallel deletes create one token."""

    def remember(self, target: str, location: TokenLocation, token: SecretStr) -> None:
        """Use the token for that coderd from now on."""
        with self._lock:
            self._known[target, location] = self._known[target, None] = token

    def remember_given(self, target: str, location: TokenLocation, token: SecretStr) -> None:
        """Use the token that the program gave, and record its target."""
        self.remember(target, location, token)
        with self._lock:
            self._given.setdefault(token, set()).add(target)

    def given_targets(self, token: SecretStr) -> set[str]:
        """Return the targets for which the program gave this token in this run."""
        with self._lock:
            return set(self._given.get(token, ()))

    def known(self, target: str, location: TokenLocation | None) -> SecretStr | None:
        """Return a token that was given or read before; without a location, the last one."""
        with self._lock:
            return self._known.get((target, location))


@dataclass(frozen=True)
class OperatorToken:
    """The token for one target: the TokenSource of a client."""

    target: str
    location: TokenLocation
    config: StackConfig
    tokens: Tokens
    from_old_state: SecretStr | None = None
    """The copy in a state of an earlier version, used until an update moves it (CP10)."""
    renewal: Renewal | None = None

    def token(self) -> SecretStr:
        """Return the token of this run, the one at its location, or the one of an old state."""
        known = self.tokens.known(self.target, self.location)
        if known is not None:
            return known
        last = self.from_old_state or self.tokens.known(self.target, None)
        try:
            found, why = self._stored()
        except CoderdError:
            if last is None:
                raise
            return last
        if found is not None:
            self.remember(found)
        token = found or last
        if token is None:
            missing = Unauthenticated if self.location == "config" else CredentialMissing
            raise missing(_USE, why, credential="session token")
        return token

    def remember(self, token: SecretStr) -> None:
        """Use the token for every operation of this process on this connection."""
        self.tokens.remember(self.target, self.location, token)

    def after_refusal(self, refused: SecretStr) -> SecretStr | None:
        """Read the location again, because another run may have renewed it; else log in."""
        with self.tokens.renewing:
            known = self.tokens.known(self.target, None)
            if known is not None and known != refused:
                return known
            found = self._newer(refused)
            if found is not None:
                self.remember(found)
            return found

    def _newer(self, refused: SecretStr) -> SecretStr | None:
        try:
            found, _ = self._stored()
            if found is not None and found != refused:
                return found
            if self.renewal is None or self.location == "config":
                return None
            secret = read(self.location, self.config.kubernetes)
            return self.renewal(self.location, secret) if secret.account else None
        except (CoderdError, SecretAbsent):
            return None  # coderd's refusal is the error to show

    def _stored(self) -> tuple[SecretStr | None, str]:
        """Return the token at its location, or why there is none."""
        if self.location == "config":
            if self.config.token is None:
                return None, f"there is none; set it with: {command_to_set('token')}"
            # If the config names no target, the program may have given the token for one.
            targets = {self.config.target} - {""} or self.tokens.given_targets(self.config.token)
            if self.target not in targets:
                self._refuse_other_target(min(targets, default=""))
            return self.config.token, ""
        ref = self.location
        try:
            secret = read(ref, self.config.kubernetes)
        except SecretAbsent as absent:
            if absent.exists:
                return None, f"{ref.label}: {absent}"
            why = "does not exist; `pulumi up` makes it, unless the token is yours: then create it."
            return None, f"{ref.label} {why}"
        target = self.config.canonical(secret.target) if secret.account else self.config.target
        self._refuse_other_target(target)
        if secret.token is None:
            return None, f"{ref.label} holds none yet; `pulumi up` makes one."
        return secret.token, ""

    def _refuse_other_target(self, target: str) -> None:
        """Raise Unauthenticated if the token is for another coderd."""
        if target and target != self.target:
            where = f"it is for {target} and is not sent to {self.target}"
            why = f"{where}; run `pulumi up` without --refresh."
            raise Unauthenticated(_USE, why, credential="session token")
