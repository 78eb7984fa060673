"""What makes a provisioner key the same key, when it is due for another one, and what it is called.

Pure: no I/O, no clock of its own. `settle` is the whole decision of `check`: keep the key that is
there, or say which properties ask for another one (K3, K5). Leaves alone coderd's rules for names
(coderd_names.py) and how a key is made and deleted (procedures/keys.py).
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from coder_stack.coderd_names import LONGEST_KEY_NAME

__all__ = [
    "Identity",
    "KeyWish",
    "canonical_tags",
    "due_after",
    "generated_name",
    "settle",
]

_HASH = 10
_SPREAD = 5
"""A key may fall due up to a fifth of its period early."""


@dataclass(frozen=True, kw_only=True)
class KeyWish:
    """What the program asks for. `exact`: the name is taken as it is, else as a beginning.

    `owner` tells stacks apart: it goes into generated names, and a change of it changes no key.
    """

    name: str
    exact: bool = False
    owner: str = ""
    organization: str
    organization_id: str | None = None
    """Its uuid, which a rename leaves; None while nobody could look it up."""
    tags: Mapping[str, str]
    deployment_id: str
    trigger: str = ""
    rotate_after_days: int | None = None


@dataclass(frozen=True, kw_only=True)
class Identity:
    """A key as it was settled: its wish, the name it got and the day it was issued."""

    wish: KeyWish
    name: str
    issued_on: date


def settle(
    wish: KeyWish, held: Identity | None, today: date, *, predecessor: str = ""
) -> tuple[Identity, tuple[str, ...]]:
    """The identity to have from now on, and the properties that made it another one.

    A held identity keeps its name and day until something about it changes, so that neither a
    new `rotate_after_days` nor a new rule for names rotates a key that is not due. `predecessor`
    is the name of the key that a new one takes the place of.
    """
    changed = _changes(wish, held, today) if held else ()
    if held and not changed:
        return Identity(wish=wish, name=held.name, issued_on=held.issued_on), ()
    name = wish.name.lower() if wish.exact else generated_name(wish, predecessor)
    return Identity(wish=wish, name=name, issued_on=today), changed


def generated_name(wish: KeyWish, predecessor: str = "") -> str:
    """`<base>-<hash>`, at most 64 bytes, and the same for the same wish on every machine.

    No two keys in a row of rotations share a name, not even if the program goes back to an earlier
    wish whose key still lives (K9): each name depends on the one before. A key that a lost run left
    behind has the name that the next run asks for, since the predecessor is still the same (U3).
    """
    base = wish.name.lower()
    facts = [
        base,
        wish.owner,
        wish.organization,
        canonical_tags(wish.tags),
        wish.deployment_id,
        wish.trigger,
        predecessor,
    ]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:_HASH]
    return f"{base[: LONGEST_KEY_NAME - _HASH - 1].rstrip('-')}-{digest}"


def due_after(rotate_after_days: int, name: str) -> int:
    """The age in days at which the key of this name is due: at most the limit.

    Spread over the last fifth of the period, so that keys made on one day are not all replaced on
    one day. The same for a key whenever it is asked.
    """
    share = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
    return rotate_after_days - share % (rotate_after_days // _SPREAD + 1)


def canonical_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """Sorted, otherwise verbatim as coderd stores them: order is no difference."""
    return {name: tags[name] for name in sorted(tags)}


def _changes(wish: KeyWish, held: Identity, today: date) -> tuple[str, ...]:
    was = held.wish
    pairs = {
        "organization": _organizations(was, wish),
        "name": ((was.name.lower(), was.exact), (wish.name.lower(), wish.exact)),
        "tags": (canonical_tags(was.tags), canonical_tags(wish.tags)),
        "deployment_id": (was.deployment_id, wish.deployment_id),
        "trigger": (was.trigger, wish.trigger),
    }
    changed = [name for name, (before, after) in pairs.items() if before != after]
    days = wish.rotate_after_days
    if days is not None and today - held.issued_on >= timedelta(days=due_after(days, held.name)):
        changed.append("issued_on")
    return tuple(changed)


def _organizations(was: KeyWish, wish: KeyWish) -> tuple[str, str]:
    """What to compare: uuids if both are known, for an organization may be renamed (K10)."""
    if was.organization_id and wish.organization_id:
        return was.organization_id, wish.organization_id
    return was.organization, wish.organization
