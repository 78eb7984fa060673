"""The status of one stack as of its last update or refresh; asks neither the cluster nor coderd.

Conditions, license, keys, daemons and proxies come from the stack's outputs. drift.py finds what
has changed since.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.pulumi import StackEngine
from coder_stack.operate.report.model import Report
from coder_stack.operate.report.outputs import parse_outputs


def read_status(stack: StackEngine) -> Report:
    """Raise OperationError if the stack has no outputs to report."""
    return status_report(stack.name, stack.outputs(), datetime.now(UTC))


def status_report(stack: str, outputs: Mapping[str, Any], now: datetime) -> Report:
    """Return a clean report if the condition Ready is True. Pure."""
    fields = parse_outputs(outputs)
    ready = next((each for each in fields["conditions"] if each.type == "Ready"), None)
    if ready is None:
        raise OperationError("The stack has no conditions on record; run `pulumi up` first.")
    result = "clean" if ready.status == "True" else "drift"
    return Report(schema=1, stack=stack, checked_at=now, result=result, **fields)
