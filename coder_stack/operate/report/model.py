"""The report of one stack, as data; every renderer starts from it (D2).

`schema` is raised when a field changes its meaning. docs/drift-report.schema.json is generated from
these models. A report holds no secret: `recorded` and `actual` are then None, and `secret` is true.
"""

import json
import sys
from datetime import date, datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from coder_stack.conditions import Condition

Kind = Literal["changed", "missing", "replaced", "unexpected", "unknown"]
Result = Literal["clean", "drift", "error"]


class _ReportModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Difference(_ReportModel):
    """One property of one resource: the value in Pulumi's state, and the one in reality.

    Where only the program asks for another value, `recorded` is that value.
    """

    path: str
    recorded: str | None = None
    actual: str | None = None
    secret: bool = False


class ResourceReport(_ReportModel):
    """One resource that differs from its recorded state. `cause` explains it in a sentence."""

    urn: str
    type: str
    name: str
    kind: Kind
    cause: str
    properties: tuple[Difference, ...] = ()
    ignored_by: str | None = None
    """The reason in the ignore rule that covers it. A covered resource does not count."""


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


class Report(_ReportModel):
    """One stack. In a report of `status`, the result `drift` means that it is not Ready."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    stack: str
    checked_at: datetime
    result: Result
    resources: tuple[ResourceReport, ...] = ()
    conditions: tuple[Condition, ...] = ()
    error: str | None = None
    """One sentence, if the result is `error`; `resources` holds what was found before."""
    license: LicenseDates | None = None
    keys: tuple[KeyAge, ...] = ()
    expired_rules: tuple[ExpiredRule, ...] = ()
    proxies: tuple[ProxySummary, ...] = ()
    refused: str | None = None
    """One sentence, if reconcile did not repair because of its limits."""
    repaired: bool = False
    """Whether reconcile changed something before this check."""


def schema_text() -> str:
    """Return the JSON schema of `--json`: one report, or a list for several stacks."""
    schema = TypeAdapter[Report | list[Report]](Report | list[Report]).json_schema(
        by_alias=True, mode="serialization"
    )
    header = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Drift report"}
    return json.dumps({**header, **schema}, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
