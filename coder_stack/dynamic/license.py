"""One license: uploaded once, found by its content, rotated by replacement (L1-L10).

A new JWT is another license: Pulumi uploads it first and deletes the old one afterwards, so there
is no gap. Only the license in this state is ever deleted, and not while the program declares the
same text (L10). What the license allows is in entitlements.py.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

import pulumi
from pydantic import AfterValidator, SecretStr

from coder_stack.coderd.errors import CoderdError, RouteAbsent
from coder_stack.coderd.license import LicenseClaims, fingerprint, read_license
from coder_stack.coderd.license_problems import LicenseProblem, license_problems
from coder_stack.coderd.models import BuildInfo
from coder_stack.coderd.procedures.licenses import apply, find, remove, stored
from coder_stack.coderd.reasons import Reason, license_reason
from coder_stack.console import warn
from coder_stack.descriptors import LICENSE
from coder_stack.dynamic.runtime import answers
from coder_stack.dynamic.runtime.check import CheckRequest
from coder_stack.dynamic.runtime.declared import Declared
from coder_stack.dynamic.runtime.errors import Failed
from coder_stack.dynamic.runtime.props import Problem, PropsSecret
from coder_stack.dynamic.runtime.provider import CoderdProvider
from coder_stack.dynamic.runtime.resource import CoderdResource
from coder_stack.dynamic.runtime.session import CoderdInputs, Session

_AGPL = "This build of coderd has no licenses; nothing was uploaded."
_DECLARED = Declared()
"""Hashes of license texts."""
# An applied license that runs out must not block every other change of the stack (E5).
_TOLERATED_ONCE_APPLIED = frozenset({"Expired", "NotYetValid"})


def _trimmed(jwt: SecretStr) -> SecretStr:
    return SecretStr(jwt.get_secret_value().strip())


class LicenseInputs(CoderdInputs):
    """`supported` is a live fact that `check` fills in: an AGPL build has no licenses (L7)."""

    jwt: Annotated[PropsSecret, AfterValidator(_trimmed)]
    deployment_id: str | None = None
    needed_features: tuple[str, ...] = ()
    warn_days: int = 30
    supported: bool = True


class LicenseState(LicenseInputs):
    """With what coderd made of it. `last_applied_hash` is the sha256 of the trimmed JWT (L3)."""

    license_id: str = ""
    uuid: str = ""
    last_applied: str = ""
    last_applied_hash: str
    license_expires: str = ""
    exp: str = ""
    applied: bool = True
    reason: str = "Applied"
    message: str = ""


def split(
    findings: Sequence[LicenseProblem], *, applied: bool
) -> tuple[list[LicenseProblem], list[LicenseProblem]]:
    """Separate errors from warnings (L8)."""
    errors = [
        finding
        for finding in findings
        if finding.severity == "error"
        and not (applied and finding.reason in _TOLERATED_ONCE_APPLIED)
    ]
    return errors, [finding for finding in findings if finding not in errors]


class LicenseProvider(CoderdProvider[LicenseInputs, LicenseState]):
    """The license with this text."""

    descriptor = LICENSE
    replace_on = ("jwt", "supported")
    delete_is_best_effort = True

    def examine(
        self, request: CheckRequest[LicenseInputs], session: Session | None
    ) -> tuple[Mapping[str, Any], list[Problem]]:
        """Check the license offline, and whether this build of coderd has licenses."""
        old = request.old
        build, supported = _look(session, believed=old.supported if old else True)
        if not supported:
            warn(f"{Reason.NOT_SUPPORTED}: {_AGPL}")
        jwt = request.known.get("jwt")
        if not isinstance(jwt, SecretStr):
            return {"supported": supported}, []
        # The path is left empty: Pulumi would print the property's value beside the message.
        if not jwt.get_secret_value():
            why = "the license is empty; check the Secret, its key and its value."
            return {}, [Problem("", f"{Reason.SECRET_MISSING}: {why}")]
        if session is not None:
            _DECLARED.add(session.target, fingerprint(jwt.get_secret_value()))
        findings = license_problems(
            jwt.get_secret_value(),
            datetime.now(UTC),
            request.known.get("deployment_id") or (build and str(build.deployment_id)),
            request.known.get("needed_features", ()),
            request.known.get("warn_days", 30),
            telemetry=build.telemetry if build else None,
        )
        errors, warnings = split(findings, applied=old is not None and old.jwt == jwt)
        for each in warnings:
            warn(f"{each.reason}: {each.message}")
        problems = [Problem("", f"{each.reason}: {each.message}") for each in errors]
        return {"supported": supported}, problems

    def create_object(self, session: Session, want: LicenseInputs) -> LicenseState:
        """Upload, or adopt the very same text if it is there already (L5, U3)."""
        claims = read_license(want.jwt.get_secret_value())
        if session.token is None:
            why = "there is no operator access yet; the license is uploaded once there is."
            raise Failed(Reason.PENDING, self.noun, "create", why)
        try:
            kept = apply(session.coderd, want.jwt, claims)
        except RouteAbsent:
            warn(f"{Reason.NOT_SUPPORTED}: {_AGPL}")
            return _state(want, claims, **_NOT_SUPPORTED)
        session.shared.licenses.append(claims.sha256)
        return _state(
            want,
            claims,
            supported=True,
            license_id=str(kept.id),
            uuid=str(kept.uuid),
            last_applied=_second(datetime.now(UTC)),
        )

    def observe(self, session: Session, known: LicenseState) -> LicenseState | None:
        """Find it; gone only if a complete list lacks it (L6, U1)."""
        claims = read_license(known.jwt.get_secret_value())
        try:
            kept = find(claims, known.license_id, stored(session.coderd))
        except RouteAbsent:
            warn(f"{Reason.NOT_SUPPORTED}: {_AGPL}")
            return known.model_copy(update=_NOT_SUPPORTED)
        if kept is None:
            return None
        return _state(
            known,
            claims,
            **_APPLIED,
            license_id=str(kept.id),
            uuid=str(kept.uuid),
            last_applied=known.last_applied or _second(kept.uploaded_at),
        )

    def update_object(
        self, session: Session, want: LicenseInputs, known: LicenseState
    ) -> LicenseState:
        """Keep the license; upload it if this coderd does not have it."""
        seen = self.observe(session, known)
        if seen is None:
            return self.create_object(session, want)
        return LicenseState.model_validate({**dict(seen), **dict(want)})

    def delete_object(self, session: Session, known: LicenseState) -> None:
        """Delete the license with this id and content.

        Not if the program declares the same text again: then it is in use (L10). While the program
        declares another license, an outage is a failure, and the next run tries again (L4, X1); so
        is a refusal in the run that rotated it. Otherwise, as in a destroy, it is a warning (K6).
        """
        if not known.license_id or _DECLARED.has(session.target, known.last_applied_hash):
            return
        claims = read_license(known.jwt.get_secret_value())
        try:
            remove(session.coderd, claims, known.license_id)
        except CoderdError as error:
            rotated = session.shared.licenses[-1:] not in ([], [known.last_applied_hash])
            again = rotated or (_DECLARED.any(session.target) and not error.permanent)
            why = f"{error} It is superseded; the next run tries again." if again else str(error)
            label = f"license {known.license_id}"
            raise Failed(self.reason(error), label, "delete", why, again=again) from error

    def identify(self, state: LicenseState) -> str:
        """Return part of its hash: coderd's number changes with a new upload."""
        return state.last_applied_hash[:16]

    def reason(self, error: CoderdError) -> Reason:
        """Narrow it to the reasons of condition LicenseApplied (L7)."""
        return license_reason(error.reason)


_APPLIED: dict[str, Any] = {
    "supported": True, "applied": True, "reason": "Applied", "message": "",
}  # fmt: skip
_NOT_SUPPORTED: dict[str, Any] = {
    "supported": False, "applied": False, "reason": str(Reason.NOT_SUPPORTED), "message": _AGPL,
    "license_id": "", "uuid": "",
}  # fmt: skip


def _look(session: Session | None, *, believed: bool) -> tuple[BuildInfo | None, bool]:
    """Ask for build and edition, which need no token; without an answer return `believed`."""
    if session is None:
        return None, believed
    try:
        build = session.peek_cached(answers.BUILD)
    except CoderdError:
        return None, believed
    try:
        session.peek_cached(answers.ENTITLEMENTS)
    except RouteAbsent:
        return build, False
    except CoderdError:
        return build, believed
    return build, True


def _state(want: LicenseInputs, claims: LicenseClaims, **more: Any) -> LicenseState:
    derived = {
        "last_applied_hash": fingerprint(want.jwt.get_secret_value()),
        "license_expires": _second(claims.license_expires),
        "exp": _second(claims.expires),
    }
    return LicenseState.model_validate({**dict(want), **derived, **more})


def _second(moment: datetime | None) -> str:
    return moment.isoformat(timespec="seconds") if moment else ""


class License(CoderdResource, descriptor=LICENSE):
    """A license in coderd; `jwt` is kept as a secret whatever the caller passes."""

    license_id: pulumi.Output[str]
    uuid: pulumi.Output[str]
    supported: pulumi.Output[bool]
    last_applied: pulumi.Output[str]
    last_applied_hash: pulumi.Output[str]
    license_expires: pulumi.Output[str]
    exp: pulumi.Output[str]
    applied: pulumi.Output[bool]
    reason: pulumi.Output[str]
    message: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        *,
        connection: pulumi.Input[Mapping[str, Any]],
        jwt: pulumi.Input[str],
        deployment_id: pulumi.Input[str] | None = None,
        needed_features: pulumi.Input[Sequence[str]] = (),
        warn_days: pulumi.Input[int] = 30,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        props = {
            "connection": connection,
            "jwt": jwt,
            "deployment_id": deployment_id,
            "needed_features": needed_features,
            "warn_days": warn_days,
        }
        super().__init__(LicenseProvider(), name, props, opts)
