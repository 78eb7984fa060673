"""The status of a component, computed from facts that its resources report.

Components pass it to each other as an object and not as a mapping: `Output.all` copies every
mapping and list into Outputs of their own, again for each reader, which takes an eighth of the time
of a preview of fifty of them. Mappings are only for registered outputs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pulumi

from coder_stack.conditions import Condition

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Status:
    """Conditions, and a summary for the stack's outputs."""

    conditions: tuple[Condition, ...]
    summary: Mapping[str, Any] = field(default_factory=dict[str, Any])


def collect_facts(kind: Callable[..., T], **facts: pulumi.Input[Any]) -> pulumi.Output[T]:
    """Make a `kind` of facts, with its own defaults for those that are None.

    A refresh that runs the program gives None for every output of a resource that it found gone.
    """
    return pulumi.Output.all(**facts).apply(
        lambda found: kind(**{name: fact for name, fact in found.items() if fact is not None})
    )


def conditions_of(status: pulumi.Output[Status]) -> pulumi.Output[list[dict[str, str]]]:
    """Return the conditions as the stack exports them."""
    return status.apply(lambda known: [each.model_dump() for each in known.conditions])


def summary_of(status: pulumi.Output[Status]) -> pulumi.Output[dict[str, Any]]:
    """Return the summary as the stack exports it."""
    return status.apply(lambda known: dict(known.summary))
