"""What makes a provisioner key the same key, when it is due for another one, and what it is called.

Pure: no I/O, no clock of its own. `settle` is the whole decision of `check`: keep the key that is
there, or say which properties ask for another one (K3, K5). Names follow coderd's rules (P2).
Leaves alone how a key is made and deleted (provisioner_key.py).
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

__all__ = [
    "LONGEST_NAME",
    "RESERVED_NAMES",
    "Identity",
    "KeyWish",
    "canonical_tags",
    "generated_name",
    "name_fault",
    "settle",
    "tags_fault",
]

LONGEST_NAME = 64
RESERVED_NAMES = frozenset({"built-in", "user-auth", "psk"})
_HASH = 10
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, kw_only=True)
class KeyWish:
    """What the program asks for. `exact`: the name is taken as it is, else as a beginning."""

    name: str
    exact: bool = False
    organization: str
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


def settle(wish: KeyWish, held: Identity | None, today: date) -> tuple[Identity, tuple[str, ...]]:
    """The identity to have from now on, and the properties that made it another one.

    A held identity keeps its name and day until something about it changes, so that neither a
    new `rotate_after_days` nor a new rule for names rotates a key that is not due.
    """
    changed = _changes(wish, held, today) if held else ()
    if held and not changed:
        return Identity(wish=wish, name=held.name, issued_on=held.issued_on), ()
    issued = Identity(wish=wish, name=_name_of(wish, today), issued_on=today)
    return issued, changed


def generated_name(wish: KeyWish, today: date) -> str:
    """`<base>-<hash>`, at most 64 bytes, and the same for the same wish on every machine.

    The same in a later run too, unless the age bucket moved on: a key that a lost run left behind
    has the name that the next run asks for, and is found by it (U3).
    """
    base = wish.name.lower()
    facts = [
        base,
        wish.organization,
        canonical_tags(wish.tags),
        wish.deployment_id,
        wish.trigger,
        _bucket(wish.rotate_after_days, today),
    ]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:_HASH]
    return f"{base[: LONGEST_NAME - _HASH - 1].rstrip('-')}-{digest}"


def canonical_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """Sorted, otherwise verbatim as coderd stores them: order is no difference."""
    return {name: tags[name] for name in sorted(tags)}


def name_fault(name: str) -> str | None:
    """Why coderd (or the route that deletes a key by its name) would not take it; None if fine."""
    if not name:
        return "must not be empty"
    if len(name.encode(errors="replace")) > LONGEST_NAME:
        return f"must be at most {LONGEST_NAME} bytes"
    if not (name.isascii() and name.isprintable()) or name != name.strip():
        return "must be printable ASCII without spaces at its ends"
    if "/" in name or name in (".", ".."):
        return "must not hold '/' or be '.' or '..': coderd deletes keys by a path with their name"
    if name.lower() in RESERVED_NAMES:
        return f"must not be one of coderd's own: {', '.join(sorted(RESERVED_NAMES))}"
    return None


def tags_fault(tags: Mapping[str, str]) -> str | None:
    """Why no daemon with these tags would ever get a job; None if fine."""
    if tags.get("scope") == "user":
        return "scope must not be 'user': with a key no user owns the daemon, so no job reaches it"
    return None


def _name_of(wish: KeyWish, today: date) -> str:
    return wish.name.lower() if wish.exact else generated_name(wish, today)


def _bucket(rotate_after_days: int | None, today: date) -> int:
    """Two days that are `rotate_after_days` or more apart are never in one bucket."""
    return 0 if rotate_after_days is None else (today - _EPOCH).days // rotate_after_days


def _changes(wish: KeyWish, held: Identity, today: date) -> tuple[str, ...]:
    was = held.wish
    pairs = {
        "organization": (was.organization, wish.organization),
        "name": ((was.name.lower(), was.exact), (wish.name.lower(), wish.exact)),
        "tags": (canonical_tags(was.tags), canonical_tags(wish.tags)),
        "deployment_id": (was.deployment_id, wish.deployment_id),
        "trigger": (was.trigger, wish.trigger),
    }
    changed = [name for name, (before, after) in pairs.items() if before != after]
    days = wish.rotate_after_days
    if days is not None and today - held.issued_on >= timedelta(days=days):
        changed.append("issued_on")
    return tuple(changed)
