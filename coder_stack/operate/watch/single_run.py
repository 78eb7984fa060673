"""`--notify` of `drift` and `reconcile`: tell the webhook what one run has found (N2).

A single run remembers no earlier one, so it tells drift again until it is repaired.
"""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.pulumi import Project
from coder_stack.operate.report.model import Report
from coder_stack.operate.stack_config import StackConfig
from coder_stack.operate.watch.transitions import Notice, notices_of
from coder_stack.operate.watch.webhook import NotTakenError, Webhook
from coder_stack.settings import ConfigError

_PAUSES = (1.0, 3.0)
"""Seconds before each further attempt: the run must end."""


def tell(project: Project, report: Report) -> Iterator[str]:
    """Tell the webhook of one stack; yield a sentence for each thing that went wrong."""
    try:
        webhook = Webhook.of(StackConfig(project, report.stack))
    except (OperationError, ConfigError) as error:
        yield f"nobody was told: {error}"
        return
    if webhook is None:
        yield (
            f"nobody was told: stack {report.stack} has no webhook; set it with: "
            f"{StackConfig(project, report.stack).command_to_set('notifyUrl')}"
        )
        return
    for notice in notices_of(report, datetime.now(UTC)):
        if problem := deliver(webhook, notice, time.sleep):
            yield f"not told ({notice.transition}): {problem}"


def deliver(webhook: Webhook, notice: Notice, sleep: Callable[[float], None]) -> str:
    """Send one notice with a few attempts; return what went wrong, or nothing."""
    problem = ""
    for pause in (0.0, *_PAUSES):
        sleep(pause)
        try:
            webhook.post(notice)
        except NotTakenError as error:
            problem = str(error)
        else:
            return ""
    return problem
