"""The operator's way in: waits for coderd, uses a given token or makes one, renews it (CP5-CP8).

Everything that talks to coderd depends on this resource. A given token is the caller's to renew.
Without one, the first user is created if there is none, and a named token is made with its
password; when coderd no longer accepts that token, refresh and up make another.
"""

import hashlib
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pulumi
from pulumi import dynamic
from pydantic import SecretStr

from coder_stack.coderd import BuildInfo, Coderd, CoderdError, NotFound, Unauthenticated, User
from coder_stack.dynamic.base import CONNECTIONS, CoderdProvider, Proposal
from coder_stack.dynamic.bootstrap import Account, new_token
from coder_stack.dynamic.connection import CoderdInputs, Link
from coder_stack.dynamic.failure import warn
from coder_stack.dynamic.readiness import wait_until_ready
from coder_stack.dynamic.resource import CoderdResource
from coder_stack.dynamic.wire import Problem, Props, WireSecret

__all__ = ["OperatorAccess", "OperatorAccessProvider"]


class OperatorAccessInputs(CoderdInputs):
    """`given` is filled in by `check`: a fingerprint of the token that was given, or empty."""

    username: str = "admin"
    email: str = "admin@example.com"
    initial_password: WireSecret | None = None
    """Of the first user. Without one it is made up, and then known to this state alone."""
    token_name: str = "coder-stack"  # noqa: S105  # a name
    token_days: int = 365
    wait_seconds: int = 180
    given: str = ""


class OperatorAccessState(OperatorAccessInputs):
    """With who it is, where, and by which token. `token_id` is the token's public half."""

    url: str = ""
    deployment_id: str = ""
    version: str = ""
    user: str = ""
    token_id: str = ""
    token: WireSecret
    password: WireSecret | None = None


def fingerprint_of(token: SecretStr) -> str:
    """Tells one token from another and gives nothing of it away."""
    return hashlib.sha256(token.get_secret_value().encode()).hexdigest()[:12]


class OperatorAccessProvider(CoderdProvider[OperatorAccessInputs, OperatorAccessState]):
    """One operator in one coderd."""

    noun = "operator access"
    delete_is_best_effort = True

    def examine(
        self, proposal: Proposal[OperatorAccessInputs], link: Link | None
    ) -> tuple[Mapping[str, Any], list[Problem]]:
        """Which token was given; whether it works is seen in `diff`, which knows the old one."""
        del link
        token = self._config.token or proposal.token
        if isinstance(token, SecretStr):
            return {"given": fingerprint_of(token)}, []
        return {"given": token if token is not None else ""}, []

    def diff(self, _id: str, _olds: Props, _news: Props) -> dynamic.DiffResult:
        """An update is due, though no input changed, once coderd refuses the token we made.

        The old token stands in the outputs, which `check` does not get to see. Another deployment
        behind the same URL is noticed here as well.
        """
        result = super().diff(_id, _olds, _news)
        if not pulumi.contains_unknowns(_news) and self._is_due(_olds, _news):
            result.changes = True
        return result

    def create_object(self, link: Link, want: OperatorAccessInputs) -> OperatorAccessState:
        """Wait, then look who the token belongs to, or get one."""
        build = _wait(link, want)
        return self._enter(link, want, build, want.initial_password or _new_password())

    def observe(self, link: Link, known: OperatorAccessState) -> OperatorAccessState | None:
        """Renews a token of ours that coderd refuses: else nothing else could be refreshed."""
        build = link.coderd.build_info()
        try:
            user = link.coderd.user()
        except Unauthenticated:
            if known.given or known.password is None:
                raise
            warn("operator access: coderd refuses the token; a new one is made.")
            return self._enter(link, known, build, known.password)
        token = link.token or known.token
        coderd = link.with_token(token).coderd
        return _state(coderd, known, build, user, token, known.password)

    def update_object(
        self, link: Link, want: OperatorAccessInputs, known: OperatorAccessState
    ) -> OperatorAccessState:
        """A token that still works stays, unless it is to be another one."""
        build = _wait(link, want)
        password = want.initial_password or known.password or _new_password()
        same = (want.given, want.token_name, want.email) == (
            known.given, known.token_name, known.email,
        )  # fmt: skip
        if same and not want.given and _accepted(link.coderd):
            user = link.coderd.user()
            return _state(link.coderd, want, build, user, link.token or known.token, password)
        now = self._enter(link, want, build, password)
        if not same:
            try:
                _revoke(link.coderd.with_token(now.token), known)
            except CoderdError as error:
                warn(f"operator access: the former token was left in coderd: {error}")
        return now

    def delete_object(self, link: Link, known: OperatorAccessState) -> None:
        """Our token, not a given one; the first user stays: coderd cannot be without an owner."""
        _revoke(link.coderd, known)

    def identify(self, state: OperatorAccessState) -> str:
        """By user: the token comes and goes."""
        return state.user

    def _enter(
        self, link: Link, want: OperatorAccessInputs, build: BuildInfo, password: SecretStr
    ) -> OperatorAccessState:
        if want.given and link.token is not None:
            user = link.coderd.user()
            return _state(link.coderd, want, build, user, link.token, want.initial_password)
        account = Account(
            email=want.email,
            username=want.username,
            password=password,
            token_name=want.token_name,
            lifetime=timedelta(days=want.token_days),
        )
        token = new_token(link.coderd, account).key
        coderd = link.with_token(token).coderd
        return _state(coderd, want, build, coderd.user(), token, password)

    def _is_due(self, olds: Props, news: Props) -> bool:
        try:
            want = OperatorAccessInputs.model_validate(news)
            known = OperatorAccessState.model_validate(olds)
            link = CONNECTIONS.link(want.connection, self._config, olds)
            link = link.with_token(link.token or known.token)
            if str(link.look(Coderd.build_info).deployment_id) != known.deployment_id:
                return True
            return not want.given and not link.look(_accepted)
        except (CoderdError, ValueError):
            return False  # coderd cannot be asked: nothing is known to be wrong


def _wait(link: Link, want: OperatorAccessInputs) -> BuildInfo:
    build = wait_until_ready(link.coderd, want.wait_seconds)
    # Those who looked before it was up must not make those who come now believe it is not.
    link.answered()
    return build


def _accepted(coderd: Coderd) -> bool:
    try:
        coderd.user()
    except Unauthenticated:
        return False
    return True


def _revoke(coderd: Coderd, known: OperatorAccessState) -> None:
    if known.given or not known.token_id:
        return
    try:
        coderd.delete_token(known.token_id)
    except NotFound:
        return


def _new_password() -> SecretStr:
    return SecretStr(secrets.token_urlsafe(24))


def _state(
    coderd: Coderd,
    want: OperatorAccessInputs,
    build: BuildInfo,
    user: User,
    token: SecretStr,
    password: SecretStr | None,
) -> OperatorAccessState:
    return OperatorAccessState.model_validate(
        {
            **dict(want),
            "url": coderd.connection.base_url,
            "deployment_id": str(build.deployment_id),
            "version": build.version,
            "user": user.username,
            "token": token,
            "token_id": token.get_secret_value().partition("-")[0],
            "password": password,
        }
    )


class OperatorAccess(CoderdResource, module="coder", name="OperatorAccess"):
    """Hand `token` and `deployment_id` to the other resources: then they wait for this one."""

    url: pulumi.Output[str]
    deployment_id: pulumi.Output[str]
    version: pulumi.Output[str]
    user: pulumi.Output[str]
    token_id: pulumi.Output[str]
    token: pulumi.Output[str]
    password: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        *,
        connection: pulumi.Input[Mapping[str, Any]],
        token: pulumi.Input[str] | None = None,
        username: pulumi.Input[str] | None = None,
        email: pulumi.Input[str] | None = None,
        initial_password: pulumi.Input[str] | None = None,
        token_name: pulumi.Input[str] | None = None,
        token_days: pulumi.Input[int] | None = None,
        wait_seconds: pulumi.Input[int] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        props = {
            "connection": connection,
            "token": token,
            "username": username,
            "email": email,
            "initial_password": initial_password,
            "token_name": token_name,
            "token_days": token_days,
            "wait_seconds": wait_seconds,
        }
        super().__init__(OperatorAccessProvider(), name, props, opts)
