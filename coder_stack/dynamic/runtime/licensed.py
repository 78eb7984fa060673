"""The license gate of an object in coderd: closed, open, or closed again after it was open.

Closed from the start: the object is in Pulumi's graph without a call to coderd (E4). Closed again:
what is there stays as it is, and what the program would change meanwhile is put off and named
(E5). Leaves alone where the entitlement comes from: the program passes it as `enabled`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from coder_stack.coderd import Reason
from coder_stack.console import warn
from coder_stack.dynamic.runtime.session import CoderdInputs

__all__ = ["NOT_PROVISIONED", "LicensedInputs", "closed_again", "first_opens", "report_deferred"]

NOT_PROVISIONED = "not-provisioned"
"""The id in Pulumi's state of what is only in the graph so far."""


L = TypeVar("L", bound="LicensedInputs")


class LicensedInputs(CoderdInputs):
    """`enabled` is the entitlement; the other two are settled by `check`."""

    enabled: bool = True
    provisioned: bool = False
    """Whether it was ever meant to be in coderd: once true, it stays so."""
    deferred: tuple[str, ...] = ()
    """Properties whose change waits for the entitlement to come back."""


def closed_again(enabled: bool, old: LicensedInputs | None) -> bool:
    """Whether what is there must be left as it is (E5)."""
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
    if old is None or not closed_again(want.enabled, old):
        return {**values, "provisioned": want.enabled, "deferred": ()}
    wanted = {**dict(want), **values}
    late = tuple(sorted(name for name in fields if wanted[name] != getattr(old, name)))
    report_deferred(label(want), late)
    frozen = {name: getattr(old, name) for name in fields}
    return {**frozen, "provisioned": True, "deferred": late}


def first_opens(id_: str, enabled: object) -> bool:
    """Whether the object becomes real with this run; an unknown entitlement may be one."""
    return id_ == NOT_PROVISIONED and enabled is not False


def report_deferred(label: str, deferred: Sequence[str]) -> None:
    """Say in every preview what waits for a license (E5)."""
    if deferred:
        waits = ", ".join(deferred)
        warn(f"{Reason.NOT_ENTITLED}: {label}: put off until it is entitled again: {waits}.")
