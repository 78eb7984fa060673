"""What a scheduled look for drift passes over, and how much a repair may do by itself."""

from datetime import date
from typing import Annotated

from pydantic import BeforeValidator, Field

from coder_stack.settings.part import Part

__all__ = ["Drift", "IgnoreRule"]


# How Pulumi hands over a date that YAML took for one.
_AT_MIDNIGHT = " 00:00:00 +0000 UTC"


def _day(value: object) -> object:
    return value.removesuffix(_AT_MIDNIGHT) if isinstance(value, str) else value


class IgnoreRule(Part):
    """Differences that are known and accepted until a day."""

    resource: str = Field(
        min_length=1, description="Pattern for the resource's URN or type; `*` stands for anything."
    )
    properties: tuple[str, ...] = Field(
        default=(), strict=False, description="Property paths. Default: all of the resource."
    )
    reason: str = Field(min_length=1, description="Why; shown in every report.")
    until: Annotated[date, BeforeValidator(_day, json_schema_input_type=date)] = Field(
        strict=False, description="Last day on which it is passed over, as 2027-01-31."
    )


class Drift(Part):
    """Rules for `coder-stack drift` and `coder-stack reconcile`."""

    ignore: tuple[IgnoreRule, ...] = Field(
        default=(), strict=False, description="What is not counted as drift."
    )
    max_deletes: int = Field(
        default=0, ge=0, description="Resources that a reconcile may delete by itself."
    )
    max_replaces: int = Field(
        default=5,
        ge=0,
        description="Resources that a reconcile may replace by itself, beside keys due by age.",
    )
