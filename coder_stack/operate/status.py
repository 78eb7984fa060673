"""How one stack is, as its last update or refresh has it; asks neither cluster nor coderd.

Conditions, license, keys, daemons and proxies come from the stack's outputs. To see what has
changed since, look for drift.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.pulumi import StackEngine
from coder_stack.operate.report.model import Report
from coder_stack.operate.report.outputs import facts_in

__all__ = ["status", "status_of"]


def status(stack: StackEngine) -> Report:
    """Raises OperationError if the stack has nothing to tell."""
    return status_of(stack.name, stack.outputs(), datetime.now(UTC))


def status_of(stack: str, outputs: Mapping[str, Any], now: datetime) -> Report:
    """Pure: clean if the aggregate condition holds."""
    known = facts_in(outputs)
    ready = next((each for each in known["conditions"] if each.type == "Ready"), None)
    if ready is None:
        raise OperationError("The stack has no conditions on record; run `pulumi up` first.")
    result = "clean" if ready.status == "True" else "drift"
    return Report(schema=1, stack=stack, checked_at=now, result=result, **known)
