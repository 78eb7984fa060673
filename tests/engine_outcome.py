"""What one engine operation did, as data."""

from dataclasses import dataclass, field

from pulumi.automation.events import StepEventMetadata

_UNCHANGING = {"same", "read", "refresh"}


@dataclass(frozen=True)
class Step:
    """One thing the engine does or would do to one resource."""

    op: str
    type: str
    name: str
    properties: dict[str, str]
    """Path → kind of difference, as the engine's detailed diff has it."""

    @classmethod
    def of(cls, metadata: StepEventMetadata) -> "Step":
        return cls(
            op=str(metadata.op.value),
            type=metadata.type,
            name=metadata.urn.split("::")[-1],
            properties={
                path: str(difference.diff_kind.value)
                for path, difference in (metadata.detailed_diff or {}).items()
            },
        )


@dataclass
class Outcome:
    """What one engine operation did and printed."""

    steps: list[Step] = field(default_factory=list[Step])
    text: str = ""
    events: list[str] = field(default_factory=list[str])
    """Every engine event as JSON, to search for what must not be in it."""

    @property
    def changes(self) -> list[Step]:
        """The steps that change something."""
        return [step for step in self.steps if step.op not in _UNCHANGING]

    def of_kind(self, kind: str) -> list[Step]:
        """Return the changes of resources of one kind, e.g. `Deployment`."""
        return [step for step in self.changes if step.type.split(":")[-1] == kind]

    def ops(self, kind: str) -> list[str]:
        """Return what is done to resources of one kind, e.g. `["create"]`."""
        return [step.op for step in self.of_kind(kind)]

    def properties(self, kind: str) -> set[str]:
        """Return the top-level properties that the engine gives as reasons for the changes."""
        paths = [path for step in self.of_kind(kind) for path in step.properties]
        return {path.split(".")[0].split("[")[0] for path in paths}
