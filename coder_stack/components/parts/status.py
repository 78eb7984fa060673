"""What is known of a component, as one value that components hand to each other.

An object and not a mapping: `Output.all` copies every mapping and list that it is given into
Outputs of their own, again for each who asks: an eighth of the time of a preview of fifty of them.
Mappings are for the border, where a component or the stack registers its outputs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pulumi

from coder_stack.conditions import Condition

__all__ = ["Status", "conditions_of", "observed", "summary_of"]

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Status:
    """As of the last look."""

    conditions: tuple[Condition, ...]
    summary: Mapping[str, Any] = field(default_factory=dict[str, Any])


def observed(kind: Callable[..., T], **facts: pulumi.Input[Any]) -> pulumi.Output[T]:
    """Observed facts, with `kind`'s own defaults for holes.

    A refresh that runs the program hands it None for every output of what it has found gone.
    """
    return pulumi.Output.all(**facts).apply(
        lambda found: kind(**{name: fact for name, fact in found.items() if fact is not None})
    )


def conditions_of(status: pulumi.Output[Status]) -> pulumi.Output[list[dict[str, str]]]:
    """As the stack exports them."""
    return status.apply(lambda known: [each.model_dump() for each in known.conditions])


def summary_of(status: pulumi.Output[Status]) -> pulumi.Output[dict[str, Any]]:
    """As the stack exports it."""
    return status.apply(lambda known: dict(known.summary))
