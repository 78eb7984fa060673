"""Decide whether a refresh asks coderd about the plaintext of a key, one request per key.

A key's plaintext cannot change in coderd: as long as its list has the key's id, it accepts what was
issued with it. A change of the plaintext in the state shows in its checksum. Only an edit of
coderd's database shows in neither, so the plaintext of each key is verified now and then. Whose
turn it is follows from the key's id and the hour: nothing is recorded, no refresh differs, and no
key that comes or goes moves the turn of another. No I/O but the clock.
"""

import time
from collections.abc import Sequence
from functools import cache

from coder_stack.coderd.models import KeyRecord
from coder_stack.dynamic.key.inputs import KeyState

FEW = 5
"""Of an organization with up to so many keys, each refresh verifies all."""
TURNS = 61
"""Each hour has one of so many turns. Prime: a schedule that repeats every day, or after any other
number of hours that 61 does not divide, comes to each turn."""

_HOUR = 3600


@cache
def this_hour() -> int:
    """Return the hour of this process, which serves one command of Pulumi; it stays the same."""
    return int(time.time()) // _HOUR


def is_suspect(known: KeyState, now: KeyState) -> bool:
    """Tell whether the list or the plaintext's checksum differs from what the state recorded."""
    return now != known or not (known.material_valid and known.material.get_secret_value())


def is_its_turn(key: KeyRecord, listed: Sequence[KeyRecord], hour: int) -> bool:
    """Tell whether to verify the key in this hour, given its organization's keys."""
    return len(listed) <= FEW or key.id.int % TURNS == hour % TURNS
