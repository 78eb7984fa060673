"""Troubles that a simulated coderd can be told to make, and the words for each."""

from dataclasses import dataclass, field
from typing import Any

from coder_stack.coderd.reasons import Reason


@dataclass(frozen=True)
class Fault:
    """A trouble as `/_sim/faults` describes it, and the words for it."""

    name: str
    reasons: frozenset[Reason]
    described: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def acts(self) -> bool:
        """Whether coderd did what was asked, though nobody heard of it."""
        return self.name in ("drop-after", "time-out")


def _status(name: str, status: int, message: str, *reasons: Reason, **headers: str) -> Fault:
    body = {"message": message}
    described = {"kind": "status", "status": status, "body": body, "headers": headers}
    return Fault(name, frozenset(reasons), described)


NO_ANSWER = (Reason.UNAVAILABLE, Reason.ANSWER_LOST)
SIGNED_OUT = "You are signed out or your session has expired. Please sign in again to continue."
LIMITED = "You've been rate limited for sending more than 512 requests in 1m0s."
LICENSED = "External Provisioner Daemons is a Premium feature. Contact sales!"
FAULTS = (
    _status("401", 401, SIGNED_OUT, Reason.FORBIDDEN),
    _status("403-role", 403, "Forbidden.", Reason.FORBIDDEN),
    _status("403-license", 403, LICENSED, Reason.NOT_ENTITLED),
    _status("404-route", 404, "Route not found.", Reason.NOT_SUPPORTED),
    _status("409", 409, "It already exists.", Reason.CONFLICT),
    _status("429", 429, LIMITED, Reason.RATE_LIMITED, **{"Retry-After": "30"}),
    _status("500", 500, "An internal server error occurred.", Reason.SERVER_FAULT),
    _status("503", 503, "Service Unavailable", *NO_ANSWER),
    Fault("time-out", frozenset(NO_ANSWER), {"kind": "delay", "seconds": 2}),
    Fault("drop-before", frozenset(NO_ANSWER), {"kind": "drop_before"}),
    Fault("drop-after", frozenset(NO_ANSWER), {"kind": "drop_after"}),
    Fault("broken-json", frozenset({Reason.PROTOCOL_ERROR}), {"kind": "garbage"}),
    Fault("html", frozenset({Reason.PROTOCOL_ERROR}), {"kind": "html", "status": 200}),
)
PASSING = [f for f in FAULTS if f.name in ("429", "503", "drop-before", "drop-after")]
