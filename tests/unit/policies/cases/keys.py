"""Rules about provisioner keys."""

from tests.unit.policies import compliant
from tests.unit.policies.cases.row import BOX, Row, it
from tests.unit.policies.judge import MISSING, UNKNOWN

KEYS = {
    "key-name": Row(
        it(compliant.key()),
        violates={"it/base_name": "team/gpu-large"},
        missing={"it/base_name": MISSING},
        missing_at={"it/base_name"},
        unknown={"it/base_name": UNKNOWN},
    ),
    "key-name-unique": Row(
        {"first": compliant.key("gpu"), "it": compliant.key("cpu")},
        violates={"it/base_name": "GPU"},
        missing={"it/base_name": MISSING, "first/base_name": MISSING},
        unknown={"it/base_name": UNKNOWN},
    ),
    "key-tags": Row(
        {"first": compliant.key("gpu", tags={}), "it": compliant.key("cpu")},
        violates={"it/tags": {}},
        missing={"it/tags": MISSING},
        missing_at={"it/tags"},
        unknown={"it/tags": UNKNOWN},
    ),
    "key-age": Row(
        it(compliant.key()),
        violates={"it/rotate_after_days": 400.0, "it/issued_on": "2020-01-01"},
        missing={"it/rotate_after_days": MISSING, "it/issued_on": MISSING},
        missing_at={"it/rotate_after_days"},
        unknown={"it/issued_on": UNKNOWN},
    ),
    "key-exact-name": Row(
        {
            "it": compliant.daemons(replicas=2),
            "secret": compliant.key_secret(),
            "key": compliant.key(),
        },
        violates={"key/exact_name": True},
        missing={"key/exact_name": MISSING},
        unknown={"key/exact_name": UNKNOWN},
    ),
    "key-identity": Row(
        it(compliant.daemons()),
        violates={
            f"{BOX}.env[0]": {"name": "CODER_ORGANIZATION", "value": "platform-team"},
            f"{BOX}.args": ["provisionerd", "start", "--tag=pool=gpu-large"],
        },
        violates_at={f"{BOX}.env[0].name", f"{BOX}.args[2]"},
        missing={f"{BOX}.env": MISSING, f"{BOX}.args": MISSING},
        unknown={f"{BOX}.args[0]": UNKNOWN},
    ),
}
