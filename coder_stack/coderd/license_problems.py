"""Find the problems of a license offline, before anything changes (L8). Pure.

An error means that coderd would refuse the license, or that it lacks what the program needs. A
warning means that it is good for now. The signature is not checked: only coderd has the key.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from coder_stack.coderd.license import LicenseClaims, NotALicense, read_license

LicenseProblemReason = Literal[
    "NotAJwt", "InvalidClaims", "Expired", "NotYetValid", "WrongDeployment", "FeatureMissing",
    "TelemetryRequired", "InGrace", "ExpiringSoon",
]  # fmt: skip

# Clocks differ: a license that was issued just now must not seem to start in the future.
_CLOCK_SKEW = timedelta(minutes=1)


@dataclass(frozen=True)
class LicenseProblem:
    """One problem of a license; the message is a stable sentence without secrets."""

    severity: Literal["error", "warning"]
    reason: LicenseProblemReason
    message: str


def license_problems(
    text: str,
    now: datetime,
    deployment_id: str | None = None,
    needed_features: Iterable[str] = (),
    warn_days: int = 30,
    *,
    telemetry: bool | None = None,
) -> list[LicenseProblem]:
    """List all problems of a license, errors first.

    `deployment_id` and `telemetry` are None while they are unknown, and then not checked.
    """
    try:
        claims = read_license(text)
    except NotALicense as error:
        return [LicenseProblem("error", "NotAJwt", f"The license {error}.")]
    return claims_problems(
        claims, now, deployment_id, needed_features, warn_days, telemetry=telemetry
    )


def claims_problems(
    claims: LicenseClaims,
    now: datetime,
    deployment_id: str | None = None,
    needed_features: Iterable[str] = (),
    warn_days: int = 30,
    *,
    telemetry: bool | None = None,
) -> list[LicenseProblem]:
    """List all problems of claims that have been read already, errors first."""
    findings = [
        *_claims(claims, now),
        *_dates(claims, now, warn_days),
        *_deployment(claims, deployment_id),
        *_features(claims, needed_features),
        *_telemetry(claims, telemetry),
    ]
    return sorted(findings, key=lambda finding: finding.severity)


def _claims(claims: LicenseClaims, now: datetime) -> Iterator[LicenseProblem]:
    """Find what coderd refuses on any date."""
    wrong = [
        name
        for name, good in (
            ("alg", claims.algorithm == "EdDSA"),
            ("kid", bool(claims.key_id)),
            ("version", claims.version == 3),
            ("iat", claims.issued_at is not None and claims.issued_at <= now + _CLOCK_SKEW),
            ("nbf", claims.not_before is not None),
            ("license_expires", claims.license_expires is not None),
            ("exp", claims.expires is not None),
            ("account_type", bool(claims.account_type)),
            ("account_id", bool(claims.account_id)),
        )
        if not good
    ]
    if wrong:
        names = ", ".join(wrong)
        message = f"Coderd will refuse the license: {names} missing or wrong; ask for a new one."
        yield LicenseProblem("error", "InvalidClaims", message)


def _dates(claims: LicenseClaims, now: datetime, warn_days: int) -> Iterator[LicenseProblem]:
    if claims.not_before is not None and claims.not_before > now + _CLOCK_SKEW:
        message = f"The license is not valid before {_day(claims.not_before)}; apply it then."
        yield LicenseProblem("error", "NotYetValid", message)
    if claims.expires is not None and claims.expires <= now:
        message = f"The license expired on {_day(claims.expires)}; ask for a new one."
        yield LicenseProblem("error", "Expired", message)
    elif claims.license_expires is None:
        return
    elif claims.license_expires <= now:
        end = f", which ends on {_day(claims.expires)}" if claims.expires else ""
        since = _day(claims.license_expires)
        yield LicenseProblem(
            "warning", "InGrace", f"The license is in grace since {since}{end}; renew it."
        )
    elif claims.license_expires - now <= timedelta(days=warn_days):
        message = f"The license expires on {_day(claims.license_expires)}; renew it."
        yield LicenseProblem("warning", "ExpiringSoon", message)


def _deployment(claims: LicenseClaims, deployment_id: str | None) -> Iterator[LicenseProblem]:
    if deployment_id is None or not claims.deployment_ids:
        return
    if deployment_id.lower() not in {bound.lower() for bound in claims.deployment_ids}:
        message = (
            "The license is bound to another deployment; "
            f"ask for one with the deployment id {deployment_id}."
        )
        yield LicenseProblem("error", "WrongDeployment", message)


def _features(claims: LicenseClaims, needed: Iterable[str]) -> Iterator[LicenseProblem]:
    missing = sorted(set(needed) - claims.granted)
    if missing:
        message = f"The license lacks {', '.join(missing)}; ask for one that grants it."
        yield LicenseProblem("error", "FeatureMissing", message)


def _telemetry(claims: LicenseClaims, telemetry: bool | None) -> Iterator[LicenseProblem]:
    if claims.require_telemetry and telemetry is False:
        # coderd stores it, and from then on grants nothing, not even by other licenses.
        message = (
            "The license requires telemetry, which is off; turn it on or ask for another license."
        )
        yield LicenseProblem("error", "TelemetryRequired", message)


def _day(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d")
