"""What a look at one stack found, as data: the one thing that every report is made of (D2).

`schema` is raised when a field changes its meaning; docs/drift-report.schema.json is generated from
here. Values of secrets never get here: `recorded` and `actual` are then None and `secret` is true.
"""

import json
import sys
from datetime import date, datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from coder_stack.conditions import Condition

__all__ = [
    "Difference",
    "ExpiredRule",
    "KeyAge",
    "Kind",
    "LicenseDates",
    "ProxyReport",
    "Report",
    "ResourceReport",
    "Result",
    "schema_text",
]

Kind = Literal["changed", "missing", "replaced", "unexpected", "unknown"]
Result = Literal["clean", "drift", "error"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Difference(_Part):
    """One property of one resource: what Pulumi's state has, and what the world has.

    Where only the program asks for something else, `recorded` is what it asks for.
    """

    path: str
    recorded: str | None = None
    actual: str | None = None
    secret: bool = False


class ResourceReport(_Part):
    """One resource that is not as it was left. `cause` is a sentence for people."""

    urn: str
    type: str
    name: str
    kind: Kind
    cause: str
    properties: tuple[Difference, ...] = ()
    ignored_by: str | None = None
    """The reason given by the ignore rule that covers it; then it does not count."""


class ExpiredRule(_Part):
    """An ignore rule whose last day is over: what it covered counts again."""

    resource: str
    reason: str
    until: date


class LicenseDates(_Part):
    """For the timeline: grace begins at `license_expires` and ends at `exp`."""

    applied: bool
    license_expires: datetime | None = None
    exp: datetime | None = None


class KeyAge(_Part):
    """One provisioner's key."""

    provisioner: str
    organization: str
    key_name: str
    age_days: int | None = None
    rotate_after_days: int | None = None
    daemons: int | None = None


class ProxyReport(_Part):
    """One workspace proxy, as coderd saw it last."""

    name: str
    health: str
    version: str = ""


class Report(_Part):
    """One stack. Of `status`, the result `drift` means that the stack is not Ready."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    stack: str
    checked_at: datetime
    result: Result
    resources: tuple[ResourceReport, ...] = ()
    conditions: tuple[Condition, ...] = ()
    error: str | None = None
    """One sentence, if the result is `error`; `resources` is then what was seen before."""
    license: LicenseDates | None = None
    keys: tuple[KeyAge, ...] = ()
    expired_rules: tuple[ExpiredRule, ...] = ()
    proxies: tuple[ProxyReport, ...] = ()
    refused: str | None = None
    """One sentence, if a reconcile left drift alone because of its limits."""
    repaired: bool = False
    """Whether a reconcile changed something before this look."""


def schema_text() -> str:
    """What `--json` writes: one report, or a list of them if several stacks were asked for."""
    schema = TypeAdapter[Report | list[Report]](Report | list[Report]).json_schema(
        by_alias=True, mode="serialization"
    )
    named = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Drift report"}
    return json.dumps({**named, **schema}, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
