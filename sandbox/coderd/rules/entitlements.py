"""Compute the entitlements of a deployment from its licenses.

Licenses are merged in the order of their ids. Of feature sets and limits, the better grant wins. A
single feature is overwritten, so a newer license in its grace period can downgrade an older one.
"""

import math
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from sandbox.coderd.rules import features, license_claims
from sandbox.coderd.rules.features import (
    AGENT_LIMIT,
    ENTITLED,
    GRACE,
    NOT_ENTITLED,
    USER_LIMIT,
    FeatureGrant,
)
from sandbox.coderd.rules.license_claims import Claims, InvalidLicenseError, NotValidYetError
from sandbox.coderd.rules.records import LicenseRow

_AGENT_LIMITS = {f"{AGENT_LIMIT}_soft": "soft", f"{AGENT_LIMIT}_hard": "hard"}
_DEFAULT_AGENTS = 1000
# Older than any license with an agent limit, so that a license's own limit always wins.
_DEFAULT_AGENTS_ISSUED = datetime(2025, 7, 1, tzinfo=UTC)
_OWN_WARNINGS = frozenset({USER_LIMIT, AGENT_LIMIT, "high_availability", "multiple_external_auth"})


@dataclass
class EntitlementSet:
    """The body of GET /entitlements."""

    features: dict[str, FeatureGrant]
    refreshed_at: datetime
    warnings: list[str] = field(default_factory=list[str])
    errors: list[str] = field(default_factory=list[str])
    has_license: bool = False
    trial: bool = False
    require_telemetry: bool = False

    def enabled(self, name: str) -> bool:
        """Return whether the feature is enabled."""
        return self.features[name].enabled

    def offer(self, name: str, feature: FeatureGrant) -> None:
        """Set the feature if it grants more than the current one."""
        self.features[name] = features.better(feature, self.features[name], name)


def nothing() -> EntitlementSet:
    """Return the entitlements before they are computed: every feature is off."""
    return EntitlementSet(
        {n: FeatureGrant() for n in features.NAMES}, datetime(1, 1, 1, tzinfo=UTC)
    )


def compute(
    licenses: list[LicenseRow], now: datetime, *, active_users: int, replicas: int = 1
) -> EntitlementSet:
    """Compute the entitlements at a time."""
    start = {name: FeatureGrant(enabled=name in features.SWITCHED_ON) for name in features.NAMES}
    result = EntitlementSet(start | {USER_LIMIT: FeatureGrant(actual=active_users)}, now)
    terms: list[tuple[datetime, datetime]] = []
    for stored in sorted(licenses, key=lambda item: item.id):
        if stored.exp <= now:
            continue
        claims = _read(stored, now, result)
        if claims is None:
            continue
        terms.append((claims.not_before, claims.license_expires))
        if claims.not_before <= now:
            _apply(claims, stored, now, result, active_users)
    _warn_of_expiry(terms, now, result)
    _warn_of_replicas(replicas, result)
    if result.has_license:
        _count_agents(result)
        _warn_of_users(active_users, result)
        _warn_of_features(result)
    for name, feature in result.features.items():
        if feature.entitlement == NOT_ENTITLED:
            result.features[name] = replace(feature, enabled=False)
    return result


def _read(stored: LicenseRow, now: datetime, result: EntitlementSet) -> Claims | None:
    try:
        return license_claims.parse(stored.jwt, now)
    except NotValidYetError:
        # It only delays the warning of expiry.
        return license_claims.parse(stored.jwt, now, ignore_start=True)
    except InvalidLicenseError as error:
        result.errors.append(f"Invalid license ({stored.uuid}) parsing claims: {error}")
        return None


def _apply(
    claims: Claims, stored: LicenseRow, now: datetime, result: EntitlementSet, active_users: int
) -> None:
    entitlement = GRACE if now > claims.license_expires else ENTITLED
    result.has_license = True
    result.require_telemetry = result.require_telemetry or claims.require_telemetry
    result.trial = claims.trial
    for name in features.of_set(claims.feature_set):
        result.offer(name, FeatureGrant(entitlement, features.enabled_when_entitled(name)))
    agents: dict[str, int] = {}
    for name, value in claims.features.items():
        if name == AGENT_LIMIT:
            result.errors.append(f"Feature {name} is forbidden to be set in a license.")
        elif name in _AGENT_LIMITS and value >= 0:
            agents[_AGENT_LIMITS[name]] = value
        elif name not in features.NAMES or value <= 0:
            continue
        elif name in features.LIMITS:
            result.offer(
                name, FeatureGrant(entitlement, enabled=True, limit=value, actual=active_users)
            )
        else:
            result.features[name] = FeatureGrant(entitlement, features.enabled_when_entitled(name))
    _apply_agents(claims, stored, entitlement, agents, result)


def _apply_agents(
    claims: Claims,
    stored: LicenseRow,
    entitlement: str,
    agents: dict[str, int],
    result: EntitlementSet,
) -> None:
    issued = claims.issued_at
    if not agents:
        if claims.feature_set.lower() != "premium":
            return
        agents = {"soft": _DEFAULT_AGENTS, "hard": _DEFAULT_AGENTS}
        issued = _DEFAULT_AGENTS_ISSUED
    invalid = f"Invalid license ({stored.uuid}): feature {AGENT_LIMIT}"
    if len(agents) < 2:
        result.errors.append(f"{invalid} has missing soft or hard limit values")
    elif agents["hard"] < agents["soft"]:
        result.errors.append(f"{invalid} has a hard limit less than the soft limit")
    else:
        off = agents["hard"] == 0
        period = features.UsagePeriod(issued, claims.not_before, claims.expires)
        feature = FeatureGrant(
            entitlement,
            enabled=not off,
            limit=agents["hard"],
            soft_limit=0 if off else agents["soft"],
            usage_period=period,
        )
        result.offer(AGENT_LIMIT, feature)


def _count_agents(result: EntitlementSet) -> None:
    agents = result.features[AGENT_LIMIT]
    if agents.usage_period:
        result.features[AGENT_LIMIT] = replace(agents, actual=0)


def _warn_of_expiry(
    terms: list[tuple[datetime, datetime]], now: datetime, result: EntitlementSet
) -> None:
    """Warn of the end of the period that the licenses cover without a gap."""
    terms = sorted(term for term in terms if term[0] <= term[1])
    if not terms:
        return
    end = terms[0][1]
    for starts, ends in terms[1:]:
        if starts > end:
            break
        end = max(end, ends)
    days = math.ceil((end - now).total_seconds() / 86400)
    if 0 < days < (7 if result.trial else 30):
        result.warnings.append(f"Your license expires in {days} {'days' if days > 1 else 'day'}.")


def _warn_of_replicas(replicas: int, result: EntitlementSet) -> None:
    if replicas <= 1:
        return
    entitlement = result.features["high_availability"].entitlement
    if entitlement == GRACE:
        result.warnings.append(
            "You have multiple replicas but your license for high availability is expired. "
            "Reduce to one replica or workspace connections will stop working."
        )
    elif entitlement == NOT_ENTITLED:
        why = (
            "your license is not entitled to high availability"
            if result.has_license
            else "high availability is an Enterprise feature"
        )
        text = f"You have multiple replicas but {why}. You will be unable to connect to workspaces."
        result.errors.append(text)


def _warn_of_users(active_users: int, result: EntitlementSet) -> None:
    limit = result.features[USER_LIMIT]
    start = f"Your deployment has {active_users} active users but"
    if limit.limit is None:
        return
    if active_users > limit.limit:
        result.warnings.append(f"{start} is only licensed for {limit.limit}.")
    elif limit.entitlement == GRACE:
        result.warnings.append(f"{start} the license with the limit {limit.limit} is expired.")


def _warn_of_features(result: EntitlementSet) -> None:
    for name in features.NAMES:
        feature = result.features[name]
        if name in _OWN_WARNINGS or not feature.enabled or feature.entitlement == ENTITLED:
            continue
        why = (
            "your license for this feature is expired"
            if feature.entitlement == GRACE
            else "your license is not entitled to this feature"
        )
        result.warnings.append(f"{features.humanized(name)} is enabled but {why}.")
