"""The license gate of an object in coderd: closed, open, or closed again after it was open.

Closed from the start: the object is in Pulumi's graph without a call to coderd (E4). Closed again:
what is there stays as it is, and what the program would change meanwhile is put off and named
(E5). Leaves alone where the entitlement comes from: the program passes it as `enabled`.
"""

from collections.abc import Sequence

from coder_stack.coderd import Reason
from coder_stack.console import warn
from coder_stack.dynamic.runtime.session import CoderdInputs

__all__ = ["NOT_PROVISIONED", "LicensedInputs", "closed_again", "first_opens", "report_deferred"]

NOT_PROVISIONED = "not-provisioned"
"""The id in Pulumi's state of what is only in the graph so far."""


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


def first_opens(id_: str, enabled: object) -> bool:
    """Whether the object becomes real with this run; an unknown entitlement may be one."""
    return id_ == NOT_PROVISIONED and enabled is not False


def report_deferred(label: str, deferred: Sequence[str]) -> None:
    """Say in every preview what waits for a license (E5)."""
    if deferred:
        waits = ", ".join(deferred)
        warn(f"{Reason.NOT_ENTITLED}: {label}: put off until it is entitled again: {waits}.")
