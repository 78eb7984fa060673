"""The operator's way in: waits for coderd, uses a given token or makes one, renews it (CP5-CP10).

Everything that talks to coderd depends on this resource, and none keeps a token: each reads it from
the home that its connection names (credential.py). A given token is the caller's to renew. With
`make_token` the first user is created if there is none, and a named token is made with its password
and kept in a Secret; when coderd refuses that token, the next update makes another. A look makes
and revokes nothing.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi import dynamic
from pydantic import SecretStr

from coder_stack.cluster.secret import SecretKeyRef
from coder_stack.coderd import (
    BuildInfo,
    Coderd,
    CoderdError,
    CredentialMissing,
    Unauthenticated,
    User,
)
from coder_stack.coderd.procedures.bootstrap import token_id, token_works
from coder_stack.coderd.procedures.readiness import wait_until_ready
from coder_stack.config_keys import command_to_set
from coder_stack.console import warn
from coder_stack.descriptors import OPERATOR_ACCESS
from coder_stack.dynamic.operator.account import (
    account_problems,
    given_problems,
    next_step,
    own_token,
    refuse_unless_owner,
)
from coder_stack.dynamic.operator.inputs import (
    OperatorAccessInputs,
    OperatorAccessState,
    settled_token_name,
)
from coder_stack.dynamic.operator.teardown import give_up, leave, made_token
from coder_stack.dynamic.runtime.check import CheckRequest, known_connection
from coder_stack.dynamic.runtime.declared import Declared
from coder_stack.dynamic.runtime.props import Problem, Props
from coder_stack.dynamic.runtime.provider import CoderdProvider
from coder_stack.dynamic.runtime.resource import CoderdResource
from coder_stack.dynamic.runtime.session import SESSIONS, Session

__all__ = ["OperatorAccess", "OperatorAccessProvider"]


_ONLY_IN_PROGRAM = (
    "the token is known to the program alone; for `pulumi destroy` and `pulumi refresh`, which do "
    "not run it, keep it in a Secret or set it with:"
)


_WANTED = Declared()
"""Homes of tokens that are made."""


def fingerprint_of(token: SecretStr) -> str:
    """Tells one token from another and gives nothing of it away."""
    return hashlib.sha256(token.get_secret_value().encode()).hexdigest()[:12]


class OperatorAccessProvider(CoderdProvider[OperatorAccessInputs, OperatorAccessState]):
    """One operator in one coderd."""

    descriptor = OPERATOR_ACCESS
    delete_is_best_effort = True

    def check(self, _olds: Props, news: Props) -> dynamic.CheckResult:
        """Use the program's token, if it gives one, for all resources of this run."""
        token, connection = news.get("token"), known_connection(news)
        if pulumi.contains_unknowns(token):
            news = {**news, "given": token}
        elif token and connection is not None:
            SESSIONS.hand_over(connection, SecretStr(token))
            if SecretStr(token) != self._config.token:
                warn(f"{self.noun}: {_ONLY_IN_PROGRAM} {command_to_set('token')}")
        return super().check(_olds, news)

    def examine(
        self, request: CheckRequest[OperatorAccessInputs], session: Session | None
    ) -> tuple[Mapping[str, Any], list[Problem]]:
        """Find the token or the password, and say at preview what is wrong with either."""
        want, old = request.whole, request.old
        values: dict[str, Any] = {"accepted": True, "password_hash": SecretStr("")}
        if "given" not in request.known:
            return values, []  # its token is unknown
        values["given"] = ""
        if want is None or session is None:
            kept = {"given": old.given, "password_hash": old.password_hash} if old else {}
            return {**values, **kept}, []
        values["token_name"] = settled_token_name(want, old)
        if want.make_token:
            _WANTED.add(want.connection, _home(want))
            moving = old is not None and old.connection.credential is None
            found, problems = account_problems(want, self._config, old=old, moving=moving)
        else:
            token, problems = given_problems(session, new=old is None)
            found = {"given": fingerprint_of(token) if token else old.given if old else ""}
        return {**values, **found}, problems

    def create_object(self, session: Session, want: OperatorAccessInputs) -> OperatorAccessState:
        """Wait, then look who the token belongs to, or get one."""
        return self._enter(session, want, _wait(session, want), None)

    def observe(self, session: Session, known: OperatorAccessState) -> OperatorAccessState | None:
        """Whether coderd accepts the token. If not, that is drift; nothing is made here."""
        build = session.coderd.build_info()
        try:
            user = session.coderd.user()
        except Unauthenticated as error:
            missing = isinstance(error, CredentialMissing)  # which says what to do
            said = str(error) if missing else f"{error} {next_step(known)}"
            warn(f"{error.reason}: {self.noun}, read: {said}")
            return known.model_copy(update={"accepted": False, "reason": str(error.reason)})
        return _state(session, known, build, user, token=known.token, password=known.password)

    def update_object(
        self, session: Session, want: OperatorAccessInputs, known: OperatorAccessState
    ) -> OperatorAccessState:
        """A token that still works stays, unless it is to be another one."""
        former = made_token(known, self._config)
        state = self._enter(session, want, _wait(session, want), known)
        if former != session.source.token():
            old = SESSIONS.open(known.connection, self._config, {})
            give_up(old, former, known, want, self._config)
        return state

    def delete_object(self, session: Session, known: OperatorAccessState) -> None:
        """Our token and its Secret, not a given one; the first user stays as coderd's owner.

        Not if the program asks for an operator with that Secret: it has taken the token over.
        """
        if _WANTED.has(known.connection, _home(known)):
            return
        if known.make_token or (known.connection.credential is None and not known.given):
            leave(session, known, self._config)

    def identify(self, state: OperatorAccessState) -> str:
        """By user: the token comes and goes."""
        return state.user

    def _enter(
        self,
        session: Session,
        want: OperatorAccessInputs,
        build: BuildInfo,
        known: OperatorAccessState | None,
    ) -> OperatorAccessState:
        if want.make_token:
            session = session.with_token(own_token(session, want, known, self._config))
        user = session.coderd.user()
        refuse_unless_owner(user)
        return _state(session, want, build, user)

    def is_due(self, olds: Props, news: Props) -> bool:
        """Look whether coderd refuses the token we made, or is another deployment or version."""
        try:
            want = OperatorAccessInputs.model_validate(news)
            known = OperatorAccessState.model_validate(olds)
            session = SESSIONS.open(want.connection, self._config, olds)
            build = session.look(Coderd.build_info)
            if (str(build.deployment_id), build.version) != (known.deployment_id, known.version):
                return True
            return want.make_token and not session.look(token_works)
        except (CoderdError, ValueError):
            return False  # coderd cannot be asked: nothing is known to be wrong


def _home(inputs: OperatorAccessInputs) -> str:
    place = inputs.connection.credential
    return place.label if isinstance(place, SecretKeyRef) else ""


def _wait(session: Session, want: OperatorAccessInputs) -> BuildInfo:
    build = wait_until_ready(session.coderd, want.wait_seconds)
    # Those who looked before it was up must not make those who come now believe it is not.
    session.answered()
    return build


def _state(
    session: Session, want: OperatorAccessInputs, build: BuildInfo, user: User, **kept: Any
) -> OperatorAccessState:
    wanted = {name: getattr(want, name) for name in OperatorAccessInputs.model_fields}
    token = session.source.token()
    return OperatorAccessState.model_validate(
        {
            **wanted,
            "accepted": True,
            "url": session.coderd.connection.base_url,
            "deployment_id": str(build.deployment_id),
            "version": build.version,
            "user": user.username,
            "token_id": token_id(token),
            **kept,
        }
    )


class OperatorAccess(CoderdResource, descriptor=OPERATOR_ACCESS):
    """Let the other resources depend on this one: then there is a token where they look for it."""

    url: pulumi.Output[str]
    deployment_id: pulumi.Output[str]
    version: pulumi.Output[str]
    user: pulumi.Output[str]
    token_id: pulumi.Output[str]
    accepted: pulumi.Output[bool]
    reason: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        *,
        connection: pulumi.Input[Mapping[str, Any]],
        token: pulumi.Input[str] | None = None,
        make_token: bool = False,
        username: pulumi.Input[str] | None = None,
        email: pulumi.Input[str] | None = None,
        password_secret: pulumi.Input[Mapping[str, Any]] | None = None,
        owner: str | None = None,
        token_name: pulumi.Input[str] | None = None,
        token_days: pulumi.Input[int] | None = None,
        wait_seconds: pulumi.Input[int] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        props = {
            "connection": connection,
            "token": token,
            "make_token": make_token,
            "username": username,
            "email": email,
            "password_secret": password_secret,
            "owner": owner,
            "token_name": token_name,
            "token_days": token_days,
            "wait_seconds": wait_seconds,
            # A placeholder: what `check` answers is a secret only if an input of that name was one.
            "password_hash": "",
        }
        super().__init__(OperatorAccessProvider(), name, props, opts)
