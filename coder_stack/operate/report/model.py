"""The report of one stack, as data; every renderer starts from it (D2).

`schema` is raised when a field changes its meaning. docs/drift-report.schema.json is generated from
these models. A report holds no secret: the values of a secret property are None, and `secret` is
true.
"""

import json
import sys
from datetime import date, datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from coder_stack.conditions import Condition
from coder_stack.descriptors.descriptor import Origin

Kind = Literal["changed", "missing", "replaced", "unexpected", "unknown"]
Result = Literal["clean", "drift", "error", "recorded"]
Readiness = Literal["ready", "not ready", "unknown"]


class _ReportModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NextStep(_ReportModel):
    """What to do next, in one sentence, and the command for it."""

    text: str
    command: str


class Difference(_ReportModel):
    """One property of one resource, as three sides see it; None where there is no value.

    `wanted` is what the program asks for, `recorded` what Pulumi's state holds since the last
    update or refresh, and `actual` what the cluster or coderd answered.
    """

    path: str
    wanted: str | None = None
    recorded: str | None = None
    actual: str | None = None
    secret: bool = False


class ResourceReport(_ReportModel):
    """One resource that is not as it should be. `cause` explains it in a sentence.

    `origin` is `refresh` if the object itself differs from the state, and `plan` if only the
    program asks for something else than what was applied.
    """

    urn: str
    type: str
    name: str
    kind: Kind
    origin: Origin
    cluster: str | None = None
    """The cluster that did not answer, if that is why the resource is unknown."""
    cause: str
    next_step: NextStep | None = None
    """None if there is nothing to do: it was repaired, or a rule ignores it."""
    properties: tuple[Difference, ...] = ()
    ignored_by: str | None = None
    """The reason in the ignore rule that covers it. A covered resource does not count."""
    ignored_until: date | None = None
    """The last day of that rule."""
    left_because: str | None = None
    """Why reconcile did not repair it."""


class ReportedCondition(Condition):
    """A condition, and the resources found different on which it rests."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    doubted_by: tuple[str, ...] = ()
    """Names of those resources. A condition that was True is then Unknown, for `Drifted`."""
    next_step: NextStep | None = None
    """None if the condition is True."""


class ExpiredRule(_ReportModel):
    """An ignore rule whose last day is over; what it covered counts again."""

    resource: str
    reason: str
    until: date


class LicenseDates(_ReportModel):
    """Dates of the license: grace begins at `license_expires` and ends at `exp`."""

    applied: bool
    license_expires: datetime | None = None
    exp: datetime | None = None
    warn_days: int | None = None
    """From the config: how many days before the grace period to warn."""


class KeyAge(_ReportModel):
    """The key of one provisioner."""

    provisioner: str
    organization: str
    key_name: str
    age_days: int | None = None
    rotate_after_days: int | None = None
    daemons: int | None = None


class ProxySummary(_ReportModel):
    """One workspace proxy, as coderd last saw it."""

    name: str
    health: str
    version: str = ""
    report: str = ""
    """Why coderd does not call it `ok`, in coderd's own words."""


class LastUpdate(_ReportModel):
    """The last operation that wrote the stack's state."""

    at: datetime
    kind: str
    """`update` or `refresh`."""
    succeeded: bool


class Report(_ReportModel):
    """One stack: what was compared, what was found, and whether the stack is ready (R1).

    `result` says what a comparison came to; `recorded` means that nothing was compared, and
    everything is as of `last_update`. Whether the stack is ready is another question: `readiness`.
    """

    schema_: Literal[2] = Field(default=2, alias="schema")
    stack: str
    written_at: datetime
    checked_at: datetime | None
    """When the stack was compared with reality; None: it was not."""
    last_update: LastUpdate | None = None
    result: Result
    readiness: Readiness = "unknown"
    error: str | None = None
    """One sentence, if the result is `error`; `resources` holds what was found before."""
    error_next_step: NextStep | None = None
    resources: tuple[ResourceReport, ...] = ()
    """What is not as it should be, after the repair if there was one."""
    repairs: tuple[ResourceReport, ...] = ()
    """What was found and is repaired now."""
    repaired: bool = False
    """Whether reconcile has changed something."""
    refused: str | None = None
    """One sentence, if reconcile did not repair because of its limits."""
    refused_next_step: NextStep | None = None
    expired_rules: tuple[ExpiredRule, ...] = ()
    conditions: tuple[ReportedCondition, ...] = ()
    license: LicenseDates | None = None
    keys: tuple[KeyAge, ...] = ()
    proxies: tuple[ProxySummary, ...] = ()


def schema_text() -> str:
    """Return the JSON schema of `--json`: one report, or a list for several stacks."""
    schema = TypeAdapter[Report | list[Report]](Report | list[Report]).json_schema(
        by_alias=True, mode="serialization"
    )
    header = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Drift report"}
    return json.dumps({**header, **schema}, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
