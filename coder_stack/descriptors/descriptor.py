"""What a descriptor says about one kind of resource. Pure, and cheap to import."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

TYPE_PREFIX = "pulumi-python:dynamic/coder:"
Origin = Literal["refresh", "plan"]


@dataclass(frozen=True, kw_only=True)
class Drift:
    """How one resource differs, as far as a sentence about it needs to know.

    `origin` is "refresh" if a refresh found it, and "plan" if only the plan has it. `declared` are
    the properties as recorded before somebody changed them, or as the program asks for.
    """

    name: str
    kind: str
    origin: Origin
    paths: tuple[str, ...] = ()
    declared: Mapping[str, Any] = field(default_factory=dict[str, Any])
    actual: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def gone(self) -> bool:
        """Tell whether somebody deleted it."""
        return (self.origin, self.kind) == ("refresh", "missing")

    @property
    def not_created(self) -> bool:
        """Tell whether the program declares it and no update has created it."""
        return (self.origin, self.kind) == ("plan", "missing")


@dataclass(frozen=True)
class StackFacts:
    """What other resources tell about the stack as a whole; None: nobody could say."""

    licensed: bool | None = None
    """Coderd has a license, no matter whose."""
    deployment_changed: bool = False


@dataclass(frozen=True, kw_only=True)
class Descriptor:
    """One kind of resource that the program keeps in coderd, or reads there."""

    name: str
    """Last word of its Pulumi type."""
    noun: str
    """The object in messages."""
    secret_fields: tuple[str, ...] = ()
    """Outputs that hold a secret, beside `token`, which an earlier version kept in every state."""
    secret_inputs: tuple[str, ...] = ()
    """Inputs that hold a secret and that no state keeps."""
    feature: str | None = None
    """The licensed feature that it needs."""
    config_list: str | None = None
    """The setting that lists what needs the feature."""
    component: str = ""
    """What conditions call one entry of that list, before its name."""
    drift_outputs: tuple[str, ...] = ()
    """Outputs that a refresh may find changed, and that are drift though no input differs."""
    derived: tuple[str, ...] = ()
    """Properties that follow from other resources: a difference in them alone is a consequence."""
    cause: Callable[[Drift, StackFacts], str | None] | None = None
    """Say in one sentence why it differs; None: a sentence that names the properties will do.

    Its first letter is made a capital one by the caller.
    """

    @property
    def type(self) -> str:
        """The type in Pulumi's URNs."""
        return f"{TYPE_PREFIX}{self.name}"

    @property
    def secret_outputs(self) -> list[str]:
        """What Pulumi must encrypt in the state."""
        return sorted({"token", *self.secret_fields})


def few(names: Sequence[str]) -> str:
    """Name some of many."""
    most = 3
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more if names else "no property is named"


def named(noun: str, drift: Drift) -> str:
    """Name the object as coderd does."""
    return f"{noun} `{drift.declared.get('name') or drift.actual.get('name') or drift.name}`"


def named_object_cause(
    noun: str, texts: Mapping[str, str], verb: str = "created"
) -> Callable[[Drift, StackFacts], str | None]:
    """Return sentences for an object with a name and `texts`, which map fields to words."""

    def cause(drift: Drift, stack: StackFacts) -> str | None:
        thing = named(noun, drift)
        if drift.gone:
            return f"{thing} was deleted in coderd."
        if drift.not_created:
            return f"{thing} is declared, but was not {verb} yet."
        if "enabled" in drift.paths:
            return allowed_again(thing, drift)
        if drift.origin == "refresh" and "name" in drift.paths:
            return f"{thing} was renamed in coderd to `{drift.actual.get('name')}`."
        other = [texts[path] for path in drift.paths if path in texts]
        if drift.origin == "refresh" and other:
            return f"{thing} has another {' and '.join(other)} in coderd."
        return None

    return cause


def allowed_again(thing: str, drift: Drift) -> str:
    """Say that the license opened or closed the gate."""
    allows = "allows" if drift.declared.get("enabled") is True else "no longer allows"
    return f"The license {allows} {thing}."
