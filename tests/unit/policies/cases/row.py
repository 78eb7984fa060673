"""One row of the table: a rule, resources that comply, and changes to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.unit.policies.judge import Changes, Res, Resources

SPEC = "it/spec.template.spec"
BOX = f"{SPEC}.containers[0]"
SECRET = "correct-horse-battery"
JWT = "eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiI0MiJ9.c2lnbmF0dXJlLW9m"


@dataclass(frozen=True)
class Row:
    """One rule. `…_at`: where violations are reported; by default, every changed property."""

    passes: Resources
    violates: Changes | Resources
    missing: Changes
    unknown: Changes
    violates_at: set[str] | None = None
    missing_at: set[str] = field(default_factory=set[str])
    """Empty if a missing value is no violation."""
    reads_unknown: bool = True
    """False if the rule reads no property, so that no value can be unknown to it."""
    options: Mapping[str, Any] | None = None


def it(res: Res) -> Resources:
    return {"it": res}
