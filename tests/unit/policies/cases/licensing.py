"""Rules about the license and what it allows."""

from tests.unit.policies import compliant
from tests.unit.policies.cases.row import JWT, Row, it
from tests.unit.policies.judge import MISSING, UNKNOWN

LICENSED = compliant.entitlements(
    high_availability="entitled", external_provisioner_daemons="grace_period"
)

LICENSING = {
    "features-entitled": Row(
        {"it": compliant.deployment(replicas=2), "key": compliant.key(), "seen": LICENSED},
        violates={
            "seen/features.high_availability.entitlement": "not_entitled",
            "seen/features.external_provisioner_daemons.entitlement": "not_entitled",
        },
        violates_at={"it/spec.replicas", "key/enabled"},
        missing={"seen/features": MISSING},
        missing_at={"it/spec.replicas", "key/enabled"},
        unknown={"seen/tier": UNKNOWN, "seen/features": UNKNOWN},
    ),
    "license-expiry": Row(
        it(compliant.license_()),
        violates=it(compliant.license_(days=10)),
        violates_at={"it/license_expires"},
        missing={"it/license_expires": MISSING},
        unknown={"it/license_expires": UNKNOWN},
    ),
    "license-owner": Row(
        {"first": compliant.license_(), "it": compliant.license_(jwt=JWT)},
        violates={"it/jwt": f"{compliant.license_().props['jwt']}\n"},
        missing={"it/jwt": MISSING, "first/jwt": MISSING},
        unknown={"it/jwt": UNKNOWN},
    ),
}
