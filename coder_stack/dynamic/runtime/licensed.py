"""Objects that need a licensed feature, which the program passes as `enabled`.

Without the feature a new object is a placeholder in Pulumi's graph, and coderd is not called (E4).
If the feature is lost later, the object stays as it is, and changes are deferred and named (E5).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from coder_stack.coderd.reasons import Reason
from coder_stack.console import warn
from coder_stack.dynamic.runtime.session import CoderdInputs

NOT_PROVISIONED = "not-provisioned"
"""The id of a placeholder."""


L = TypeVar("L", bound="LicensedInputs")


class LicensedInputs(CoderdInputs):
    """`enabled` is the entitlement; `check` fills in the other two."""

    enabled: bool = True
    provisioned: bool = False
    """It is more than a placeholder; once true, always true."""
    deferred: tuple[str, ...] = ()
    """Properties whose change waits for the entitlement to come back."""


def must_stay(enabled: bool, old: LicensedInputs | None) -> bool:
    """Tell whether the existing object must stay as it is (E5)."""
    return not enabled and old is not None and old.provisioned


def settled_by_license(
    label: Callable[[L], str],
    want: L | None,
    old: L | None,
    values: Mapping[str, Any],
    fields: Sequence[str],
) -> dict[str, Any]:
    """Return `values` and what the license makes of the inputs; without it `fields` stay (E5)."""
    if want is None:
        kept = {"provisioned": old.provisioned, "deferred": old.deferred} if old else {}
        return {**values, **kept}
    if old is None or not must_stay(want.enabled, old):
        return {**values, "provisioned": want.enabled, "deferred": ()}
    wanted = {**dict(want), **values}
    late = tuple(sorted(name for name in fields if wanted[name] != getattr(old, name)))
    report_deferred(label(want), late)
    frozen = {name: getattr(old, name) for name in fields}
    return {**frozen, "provisioned": True, "deferred": late}


def report_deferred(label: str, deferred: Sequence[str]) -> None:
    """Warn in every preview about changes that wait for a license (E5)."""
    if deferred:
        waits = ", ".join(deferred)
        warn(
            f"{Reason.NOT_ENTITLED}: {label}: deferred until the license allows it again: {waits}."
        )
