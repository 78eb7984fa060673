"""Rules about labels and components."""

from tests.unit.policies import compliant
from tests.unit.policies.cases.row import Row, it
from tests.unit.policies.judge import MISSING, UNKNOWN

COMPONENTLESS = compliant.deployment()
COMPONENTLESS.parents = ()

OWNERSHIP = {
    "labels": Row(
        it(compliant.cluster_object("core/v1:Service")),
        violates={"it/metadata.labels.<app.kubernetes.io/part-of>": ""},
        violates_at={"it/metadata.labels.app.kubernetes.io/part-of"},
        missing={"it/metadata": MISSING},
        missing_at={
            "it/metadata.labels.app.kubernetes.io/part-of",
            "it/metadata.labels.app.kubernetes.io/managed-by",
        },
        unknown={"it/metadata.labels": UNKNOWN},
    ),
    "child-of-component": Row(
        it(compliant.deployment()),
        violates=it(COMPONENTLESS),
        violates_at={"it/parent"},
        missing={"it/metadata": MISSING},
        unknown={"it/metadata": UNKNOWN},
        reads_unknown=False,
    ),
}
