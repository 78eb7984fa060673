"""What drift detection ignores, and how much a reconcile may change by itself."""

from datetime import date
from typing import Annotated

from pydantic import BeforeValidator, Field

from coder_stack.settings.part import Part

# Pulumi passes a YAML date in this form.
_AT_MIDNIGHT = " 00:00:00 +0000 UTC"


def _day(value: object) -> object:
    return value.removesuffix(_AT_MIDNIGHT) if isinstance(value, str) else value


class IgnoreRule(Part):
    """Differences to ignore until a date."""

    resource: str = Field(
        min_length=1, description="Pattern for the resource's URN or type; `*` matches anything."
    )
    properties: tuple[str, ...] = Field(
        default=(), strict=False, description="Property paths. Default: the whole resource."
    )
    reason: str = Field(min_length=1, description="Why it is ignored. Shown in every report.")
    until: Annotated[date, BeforeValidator(_day, json_schema_input_type=date)] = Field(
        strict=False, description="Last day of the rule, e.g. 2027-01-31."
    )


class DriftSettings(Part):
    """Rules for `coder-stack drift` and `coder-stack reconcile`."""

    ignore: tuple[IgnoreRule, ...] = Field(
        default=(), strict=False, description="Differences that do not count as drift."
    )
    max_deletes: int = Field(
        default=0, ge=0, description="How many resources a reconcile may delete."
    )
    max_replaces: int = Field(
        default=5,
        ge=0,
        description="How many resources a reconcile may replace, not counting keys due by age.",
    )
    max_creates: int = Field(
        default=10,
        ge=0,
        description=(
            "How many resources a reconcile may create that were not there before. What somebody "
            "deleted is created again without a limit."
        ),
    )
