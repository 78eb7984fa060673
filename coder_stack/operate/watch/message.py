"""A notice as the body of a webhook: plain JSON, or the form of Slack-compatible endpoints. Pure.

Holds no secret: reports mask them, and the URL is no part of it.
"""

import json
from datetime import datetime
from typing import Any

from coder_stack.operate.report.sentences import as_utc
from coder_stack.operate.watch.transitions import Notice
from coder_stack.settings import NotifySettings

_MOST_RESOURCES = 20


def body(notice: Notice, settings: NotifySettings, at: datetime) -> bytes:
    """Return the body in the format of the config."""
    content = _slack(notice, settings) if settings.format == "slack" else _plain(notice, settings)
    if settings.format == "json":
        content["at"] = as_utc(at).strftime("%Y-%m-%dT%H:%M:%SZ")
    return json.dumps(content, ensure_ascii=False).encode()


def _plain(notice: Notice, settings: NotifySettings) -> dict[str, Any]:
    step = notice.next_step
    return {
        "schema": 1,
        "stack": notice.stack,
        "transition": notice.transition,
        "summary": notice.summary,
        "next_step": step and step.model_dump(),
        "resources": [
            {
                "urn": each.urn,
                "name": each.name,
                "kind": each.kind,
                "cause": each.cause,
                "next_step": each.next_step and each.next_step.model_dump(),
            }
            for each in notice.resources[:_MOST_RESOURCES]
        ],
        "link": settings.link,
    }


def _slack(notice: Notice, settings: NotifySettings) -> dict[str, Any]:
    """Return one text: every Slack-compatible endpoint takes that."""
    lines = [f"*{_escaped(notice.stack)}: {notice.transition}*", _escaped(notice.summary)]
    if notice.next_step:
        step = notice.next_step
        lines.append(f"Next: {_escaped(step.text)} `{_escaped(step.command)}`")
    if settings.link:
        lines.append(f"<{settings.link}>")
    return {"text": "\n".join(lines)}


def _escaped(text: str) -> str:
    """Escape what Slack would read as its own markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
