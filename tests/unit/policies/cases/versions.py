"""Rules about coderd's version."""

from tests.unit.policies import compliant
from tests.unit.policies.cases.row import BOX, Row, it
from tests.unit.policies.judge import MISSING, UNKNOWN

VERSIONS = {
    "coder-image-version": Row(
        it(compliant.deployment()),
        violates={f"{BOX}.image": "ghcr.io/coder/coder:v9.8.7"},
        missing={f"{BOX}.image": MISSING},
        unknown={f"{BOX}.image": UNKNOWN},
    ),
    "coder-version": Row(
        it(compliant.operator_access()),
        violates={"it/version": "v2.19.3+abc1234"},
        missing={"it/version": MISSING},
        unknown={"it/version": UNKNOWN},
    ),
}
