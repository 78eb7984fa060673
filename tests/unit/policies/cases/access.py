"""Rules about connections and permissions."""

from tests.unit.policies import compliant
from tests.unit.policies.cases.row import BOX, Row, it
from tests.unit.policies.judge import MISSING, UNKNOWN

ACCESS = {
    "coderd-over-https": Row(
        {"it": compliant.deployment(), "key": compliant.key()},
        violates={
            f"{BOX}.env[0].value": "http://coder.example.com",
            "key/connection.url": "http://192.0.2.7:3000",
        },
        missing={f"{BOX}.env[0].value": MISSING, "key/connection": MISSING},
        unknown={"key/connection.url": UNKNOWN},
    ),
    "no-wildcard-rbac": Row(
        it(compliant.role()),
        violates={"it/rules[0].verbs": ["get", "*"], "it/rules[0].resources": ["*"]},
        violates_at={"it/rules[0].verbs[1]", "it/rules[0].resources[0]"},
        missing={"it/rules": MISSING},
        unknown={"it/rules[0].verbs": UNKNOWN},
    ),
    "provisioner-rights": Row(
        it(compliant.role()),
        violates={"it/rules[0].resources": ["pods", "secrets"], "it/rules[0].verbs": ["bind"]},
        violates_at={"it/rules[0].resources[1]", "it/rules[0].verbs[0]"},
        missing={"it/rules": MISSING},
        unknown={"it/rules[0].resources[0]": UNKNOWN},
    ),
    "network-policy": Row(
        {"it": compliant.deployment(), "policy": compliant.network_policy()},
        violates={"policy/metadata.namespace": "elsewhere"},
        violates_at={"it/metadata.namespace"},
        missing={"policy/metadata.namespace": MISSING},
        missing_at={"it/metadata.namespace"},
        unknown={"it/metadata.namespace": UNKNOWN},
    ),
}
