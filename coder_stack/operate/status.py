"""The status of one stack: as of its last update, or compared now.

`read_status` asks neither the cluster nor coderd: conditions, license, keys, daemons and proxies
come from the stack's outputs, and the report says so. `live_status` compares first, as drift.py
does.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from coder_stack.operate.diagnosis.doubts import as_recorded
from coder_stack.operate.diagnosis.values import is_unknown
from coder_stack.operate.drift import check_drift
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.pulumi import StackEngine
from coder_stack.operate.report.model import LastUpdate, Report
from coder_stack.operate.report.outputs import parse_outputs, readiness


def read_status(stack: StackEngine) -> Report:
    """Raise OperationError if the stack has no outputs to report."""
    return status_report(stack.name, stack.outputs(), stack.last_update(), datetime.now(UTC))


def live_status(stack: StackEngine) -> Report:
    """Compare the stack with the cluster and coderd, and report that."""
    return check_drift(stack).report


def status_report(
    stack: str, outputs: Mapping[str, Any], last_update: LastUpdate | None, now: datetime
) -> Report:
    """Report what the last update recorded. Pure."""
    recorded = parse_outputs(outputs)
    if is_unknown(outputs.get("conditions")):
        raise OperationError(
            "The conditions on record are unknown: the last refresh found that something is gone.",
            "Compare the stack with what is there.",
            "coder-stack status --live --stack {stack}",
        )
    if not any(each.type == "Ready" for each in recorded.conditions):
        raise OperationError(
            "The stack has no conditions on record.",
            "Deploy it first.",
            "pulumi up --stack {stack}",
        )
    return Report(
        stack=stack,
        written_at=now,
        checked_at=None,
        last_update=last_update,
        result="recorded",
        readiness=readiness(recorded.conditions),
        conditions=as_recorded(recorded.conditions, stack),
        license=recorded.license,
        keys=recorded.keys,
        proxies=recorded.proxies,
    )
