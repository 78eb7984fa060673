"""Whom to tell of drift and repairs, and how a watcher looks."""

from typing import Annotated, Literal

from pydantic import Field

from coder_stack.settings.part import Part, Shape

Duration = Annotated[
    str, Shape(r"[1-9][0-9]{0,4}[mh]", "minutes or hours, e.g. 30m or 6h", kind="duration")
]
SHORTEST_INTERVAL = 5
"""Seconds; more requests would burden coderd and notice little sooner."""


class NotifySettings(Part):
    """A webhook that is told of transitions. Its URL is the secret config `notifyUrl`."""

    format: Literal["json", "slack"] = Field(
        default="json",
        description="`json`: all facts; `slack`: a text, as Slack-compatible endpoints take it.",
    )
    link: (
        Annotated[
            str, Shape(r"https?://[^\s<>|]+", "an http or https URL without spaces", kind="URL")
        ]
        | None
    ) = Field(default=None, description="A link to add, e.g. of a dashboard or a runbook.")


class WatchSettings(Part):
    """How `coder-stack watch` looks; its options override this."""

    interval: int = Field(
        default=30,
        ge=SHORTEST_INTERVAL,
        le=3600,
        description="Seconds between two looks at the lists in coderd.",
    )
    full_look_every: Duration = Field(
        default="6h", description="How often to compare everything, for what cannot be watched."
    )


def seconds(duration: str) -> float:
    """Return the seconds of a duration."""
    return float(duration[:-1]) * {"m": 60, "h": 3600}[duration[-1]]
