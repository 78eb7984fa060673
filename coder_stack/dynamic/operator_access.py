"""Operator access: wait for coderd, and use a given token or create and renew one (CP5-CP10).

Everything that talks to coderd depends on this resource, and reads the token from where its
connection says (runtime/credentials.py). A given token is the caller's to renew. With `make_token`
the first user is created if there is none, and a named token is created with its password and
stored in a Secret; when coderd refuses that token, the next update creates another one. `check`,
`diff` and `read` create and revoke nothing.

During an upgrade the program gives `expected_version`, and update waits until coderd answers with
it (operator/waiting.py).
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi import dynamic
from pydantic import SecretStr

from coder_stack.cluster.secret import SecretKeyRef
from coder_stack.coderd.errors import (
    CoderdError,
    CredentialMissing,
    Unauthenticated,
)
from coder_stack.coderd.models import BuildInfo, User
from coder_stack.coderd.procedures.bootstrap import token_id
from coder_stack.coderd.versions import is_version
from coder_stack.config_keys import command_to_set
from coder_stack.console import warn
from coder_stack.descriptors import OPERATOR_ACCESS
from coder_stack.dynamic.operator.account import (
    check_account,
    check_given_token,
    ensure_token,
    next_step,
    refuse_unless_owner,
)
from coder_stack.dynamic.operator.inputs import (
    OperatorAccessInputs,
    OperatorAccessState,
    choose_token_name,
)
from coder_stack.dynamic.operator.teardown import (
    created_token,
    remove_former_token,
    remove_token,
)
from coder_stack.dynamic.operator.version_warning import warn_if_untried
from coder_stack.dynamic.operator.waiting import (
    expect,
    expected_version,
    wait_for_coderd,
)
from coder_stack.dynamic.runtime import answers
from coder_stack.dynamic.runtime.check import CheckRequest, known_connection
from coder_stack.dynamic.runtime.declared import Declared
from coder_stack.dynamic.runtime.props import Problem, Props
from coder_stack.dynamic.runtime.provider import CoderdProvider
from coder_stack.dynamic.runtime.resource import CoderdResource
from coder_stack.dynamic.runtime.session import SESSIONS, Session

_ONLY_IN_PROGRAM = (
    "the token is known to the program alone; for `pulumi destroy` and `pulumi refresh`, which do "
    "not run it, keep it in a Secret or set it with:"
)
_SECRETS = Declared()
"""Secrets of created tokens."""


def fingerprint_of(token: SecretStr) -> str:
    """Return a short hash by which a changed token is noticed."""
    return hashlib.sha256(token.get_secret_value().encode()).hexdigest()[:12]


class OperatorAccessProvider(CoderdProvider[OperatorAccessInputs, OperatorAccessState]):
    """The operator's access to one coderd."""

    descriptor = OPERATOR_ACCESS
    delete_is_best_effort = True

    def check(self, _olds: Props, news: Props) -> dynamic.CheckResult:
        """Use the program's token, if any, for all resources of this run."""
        token, connection = news.get("token"), known_connection(news)
        if connection is not None:
            version, deployment = news.get("expected_version"), news.get("expected_deployment")
            expect(connection.target, str(version or ""), str(deployment or ""))
        if pulumi.contains_unknowns(token):
            news = {**news, "given": token}
        elif token and connection is not None:
            SESSIONS.use_given_token(connection, SecretStr(token))
            if SecretStr(token) != self._config.token:
                warn(f"{self.noun}: {_ONLY_IN_PROGRAM} {command_to_set('token')}")
        return super().check(_olds, news)

    def examine(
        self, request: CheckRequest[OperatorAccessInputs], session: Session | None
    ) -> tuple[Mapping[str, Any], list[Problem]]:
        """Find the token or the password, and report at preview what is wrong with either."""
        want, old = request.whole, request.old
        values: dict[str, Any] = {"accepted": True, "password_hash": SecretStr("")}
        if "given" not in request.known:
            return values, []  # its token is unknown
        values["given"] = ""
        if want is None or session is None:
            last = {"given": old.given, "password_hash": old.password_hash} if old else {}
            return {**values, **last}, []
        values["token_name"] = choose_token_name(want, old)
        if want.make_token:
            _SECRETS.add(session.target, _secret_label(want))
            moving = old is not None and old.connection.credential is None
            found, problems = check_account(want, self._config, old=old, moving=moving)
        else:
            token, problems = check_given_token(session, new=old is None)
            found = {"given": fingerprint_of(token) if token else old.given if old else ""}
        return {**values, **found}, problems

    def create_object(self, session: Session, want: OperatorAccessInputs) -> OperatorAccessState:
        """Wait for coderd, then verify the given token or create one."""
        return self._apply(session, want, wait_for_coderd(session, want), None)

    def observe(self, session: Session, known: OperatorAccessState) -> OperatorAccessState | None:
        """Ask coderd who the token belongs to; a refused token is drift, and is not renewed."""
        build = session.cached(answers.BUILD)
        warn_if_untried(self.noun, session.target, build.version)
        try:
            user = session.cached(answers.user_of(session.token))
        except Unauthenticated as error:
            missing = isinstance(error, CredentialMissing)  # its message has the next step
            said = str(error) if missing else f"{error} {next_step(known)}"
            warn(f"{error.reason}: {self.noun}, read: {said}")
            return known.model_copy(update={"accepted": False, "reason": str(error.reason)})
        return _state(session, known, build, user, token=known.token, password=known.password)

    def update_object(
        self, session: Session, want: OperatorAccessInputs, known: OperatorAccessState
    ) -> OperatorAccessState:
        """Keep the token if it is accepted and still the wanted one; else create another one."""
        former = created_token(known, self._config)
        state = self._apply(session, want, wait_for_coderd(session, want), known)
        if former != session.source.token():
            old = SESSIONS.open(known.connection, self._config, {})
            remove_former_token(old, former, known, want, self._config)
        return state

    def delete_object(self, session: Session, known: OperatorAccessState) -> None:
        """Remove our token and its Secret, but neither a given token nor the first user.

        Keep both if the program declares another operator access with that Secret.
        """
        if _SECRETS.has(session.target, _secret_label(known)):
            return
        if known.make_token or (known.connection.credential is None and not known.given):
            remove_token(session, known, self._config)

    def identify(self, state: OperatorAccessState) -> str:
        """Return the user name, which outlives every token."""
        return state.user

    def _apply(
        self,
        session: Session,
        want: OperatorAccessInputs,
        build: BuildInfo,
        known: OperatorAccessState | None,
    ) -> OperatorAccessState:
        warn_if_untried(self.noun, session.target, build.version)
        if want.make_token:
            session = session.with_token(ensure_token(session, want, known, self._config))
        user = session.coderd.user()
        refuse_unless_owner(user)
        return _state(session, want, build, user)

    def is_due(self, olds: Props, news: Props) -> bool:
        """Tell whether coderd refuses our token, or is another deployment or version."""
        expected = ""
        try:
            want = OperatorAccessInputs.model_validate(news)
            expected = expected_version(want)
            known = OperatorAccessState.model_validate(olds)
            session = SESSIONS.open(want.connection, self._config, olds)
            build = session.peek_cached(answers.BUILD)
            warn_if_untried(self.noun, session.target, build.version)
            if (str(build.deployment_id), build.version) != (known.deployment_id, known.version):
                return True
            if not is_version(build.version, expected):
                return True
            if want.make_token:
                session.peek_cached(answers.user_of(session.token))
        except Unauthenticated:
            return True
        except (CoderdError, ValueError):
            return bool(expected)  # else unknown is no reason for an update
        return False


def _secret_label(inputs: OperatorAccessInputs) -> str:
    ref = inputs.connection.credential
    return ref.label if isinstance(ref, SecretKeyRef) else ""


def _state(
    session: Session, want: OperatorAccessInputs, build: BuildInfo, user: User, **old: Any
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
            **old,
        }
    )


class OperatorAccess(CoderdResource, descriptor=OPERATOR_ACCESS):
    """The operator's access; the other resources depend on it, so that they find a token."""

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
        expected_version: str | None = None,
        expected_deployment: str | None = None,
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
            "expected_version": expected_version or None,
            "expected_deployment": expected_deployment or None,
            # A placeholder: what `check` returns is secret only if the input of that name was.
            "password_hash": "",
        }
        super().__init__(OperatorAccessProvider(), name, props, opts)
