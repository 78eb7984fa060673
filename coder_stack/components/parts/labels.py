"""Labels of a workload of ours: which never change, and which only describe.

A Deployment's selector cannot be changed in place, so it holds nothing that a config can change
but the name. Settings' own labels come below ours: none of them may break a selector.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Labels"]


@dataclass(frozen=True, kw_only=True)
class Labels:
    """`name` is the kind of program, `instance` which one of its kind."""

    name: str
    instance: str
    component: str
    more: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def selector(self) -> dict[str, str]:
        """What tells the pods from all others."""
        return {"app.kubernetes.io/name": self.name, "app.kubernetes.io/instance": self.instance}

    @property
    def all(self) -> dict[str, str]:
        """For every object."""
        return {
            **self.more,
            **self.selector,
            "app.kubernetes.io/component": self.component,
            "app.kubernetes.io/part-of": "coder",
            "app.kubernetes.io/managed-by": "pulumi",
        }
