"""What is recorded of the parts of a stack: all conditions, and a summary of each listed part.

Takes nothing for true of a part in a cluster that the run has left out (M2).
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import pulumi

from coder_stack.components.parts.status import Status
from coder_stack.conditions import (
    Condition,
    LicenseFacts,
    aggregate,
    feature_entitled,
    with_version,
)
from coder_stack.features import HIGH_AVAILABILITY
from coder_stack.left_out import unseen, unseen_summary


class Part(NamedTuple):
    """A component, or an organization."""

    status: pulumi.Output[Status]
    left_out: str = ""
    """Its cluster, if the run has left that out."""

    def conditions(self, known: Status) -> Iterable[Condition]:
        """Return its conditions as far as this run has looked."""
        every = known.conditions
        return [unseen(each, self.left_out) for each in every] if self.left_out else every

    @property
    def summary(self) -> pulumi.Output[dict[str, Any]]:
        """Return its summary as far as this run has looked."""

        def seen(known: Status) -> dict[str, Any]:
            facts = dict(known.summary)
            return unseen_summary(facts, self.left_out) if self.left_out else facts

        return self.status.apply(seen)


def conditions_of_all(
    license_facts: pulumi.Output[LicenseFacts],
    version: pulumi.Output[str],
    parts: Sequence[Part],
    *,
    highly_available: bool,
) -> pulumi.Output[list[dict[str, str]]]:
    """Return the conditions of all parts, and last the aggregate `Ready`."""

    def combined(
        license_: LicenseFacts, version: str, statuses: Iterable[Status]
    ) -> list[dict[str, str]]:
        every = [
            each if part.left_out else with_version(each, version)
            for part, known in zip(parts, statuses, strict=True)
            for each in part.conditions(known)
        ]
        if highly_available:
            kind = "HighAvailabilityEntitled"
            every.append(feature_entitled(kind, "controlPlane", HIGH_AVAILABILITY, license_))
        return [each.model_dump() for each in (*every, aggregate(every))]

    return pulumi.Output.all(license_facts, version, *(each.status for each in parts)).apply(
        lambda known: combined(known[0], known[1] or "", known[2:])
    )
