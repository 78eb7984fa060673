"""What changed in coderd's answers: the simulation answers as the version that it reports does.

This is the only list. The simulation asks it, and the contract tests take their expectations from
it and compare both with an unmodified server of the chosen version, so a wrong row fails there. The
numbers come from Coder's source of v2.20, v2.24, v2.26 and v2.30; versions in between take the next
one.
"""

import re
from dataclasses import dataclass

_RELEASE = re.compile(r"v?([1-9]\d*)\.(\d+)\.")


@dataclass(frozen=True)
class Change:
    """A change that clients can see, and the first minor version that has it."""

    since: tuple[int, int]
    what: str


USER_AFTER_ROUTE = Change(
    (2, 24), "below /users/{user}, 404 and 405 no longer depend on whether that user exists"
)
EMPTY_FIELDS_LEFT_OUT = Change(
    (2, 24), "a user has no empty `avatar_url` and `name`, and no `theme_preference`"
)
OWNER_LIFETIME = Change(
    (2, 24), "an owner's token lives at most 7 days, not 100 years; the limit is said in hours"
)
CONTENTS_COUNTED = Change(
    (2, 24),
    "what keeps an organization from being deleted is counted, without the database's error",
)
BEARER = Change((2, 26), "a token may be in `Authorization` or `access_token`; CSRF accepts it")
CHALLENGE = Change((2, 26), "401 for a token has the header WWW-Authenticate")
PASSWORD_MESSAGE = Change((2, 26), "a bad password is `invalid`, not `not strong enough`")
DAEMON_STATUS_FILTER = Change((2, 26), "the daemon list knows `offline`, `status` and `max_age`")
SCOPE_LIST = Change((2, 28), "a token has `scopes` and `allow_list`; a wrong one is 400, not 500")

CHANGES = (
    USER_AFTER_ROUTE,
    EMPTY_FIELDS_LEFT_OUT,
    OWNER_LIFETIME,
    CONTENTS_COUNTED,
    BEARER,
    CHALLENGE,
    PASSWORD_MESSAGE,
    DAEMON_STATUS_FILTER,
    SCOPE_LIST,
)

FEATURES_SINCE = {
    "workspace_prebuilds": (2, 24),
    "connection_log": (2, 26),
    "managed_agent_limit": (2, 26),
    "workspace_external_agent": (2, 26),
    "aibridge": (2, 27),
    "task_batch_actions": (2, 28),
    "boundary": (2, 28),
    "ai_governance_user_limit": (2, 28),
}
"""Features that GET /entitlements did not list from the beginning."""


def has(version: str, change: Change) -> bool:
    """Return whether a version has a change; one that names no release counts as the newest."""
    return _is_since(version, change.since)


def lists_feature(version: str, name: str) -> bool:
    """Return whether a version lists a feature."""
    return _is_since(version, FEATURES_SINCE.get(name, (0, 0)))


def _is_since(version: str, since: tuple[int, int]) -> bool:
    found = _RELEASE.match(version)
    return found is None or (int(found[1]), int(found[2])) >= since
