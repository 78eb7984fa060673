"""Decide whether a provisioner key is kept or rotated, and what it is called (K3, K5). Pure.

Leaves alone coderd's rules for names (coderd/names.py) and how a key is created and deleted
(procedures/keys.py).
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from coder_stack.coderd.names import LONGEST_KEY_NAME

_HASH = 10
_SPREAD = 5
"""A key may fall due up to a fifth of its period early."""


@dataclass(frozen=True, kw_only=True)
class KeySpec:
    """The key that the program asks for. Unless `exact`, a hash is added to the name.

    `owner` tells stacks apart in generated names; its change does not rotate a key.
    """

    name: str
    exact: bool = False
    owner: str = ""
    organization: str
    organization_id: str | None = None
    """Its uuid, which a rename does not change; None if it could not be looked up."""
    tags: Mapping[str, str]
    deployment_id: str
    trigger: str = ""
    rotate_after_days: int | None = None


@dataclass(frozen=True, kw_only=True)
class Identity:
    """A key with its final name and the day on which it was issued."""

    spec: KeySpec
    name: str
    issued_on: date


def settle(
    spec: KeySpec, held: Identity | None, today: date, *, predecessor: str = ""
) -> tuple[Identity, tuple[str, ...]]:
    """Return the identity from now on, and the properties whose change rotates the key.

    A held identity keeps its name and day, so that neither a new `rotate_after_days` nor a new rule
    for names rotates a key that is not due. `predecessor` is the name of the key to replace.
    """
    changed = _changes(spec, held, today) if held else ()
    if held and not changed:
        return Identity(spec=spec, name=held.name, issued_on=held.issued_on), ()
    name = spec.name.lower() if spec.exact else generated_name(spec, predecessor)
    return Identity(spec=spec, name=name, issued_on=today), changed


def generated_name(spec: KeySpec, predecessor: str = "") -> str:
    """Return `<base>-<hash>`, at most 64 bytes, and the same on every machine.

    The hash includes the predecessor's name: going back to an earlier spec whose key still exists
    gives another name (K9). A run that was killed and its successor ask for the same name (U3).
    """
    base = spec.name.lower()
    facts = [
        base,
        spec.owner,
        spec.organization,
        canonical_tags(spec.tags),
        spec.deployment_id,
        spec.trigger,
        predecessor,
    ]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:_HASH]
    return f"{base[: LONGEST_KEY_NAME - _HASH - 1].rstrip('-')}-{digest}"


def due_after(rotate_after_days: int, name: str) -> int:
    """Return the age in days at which the key of this name is due, at most the limit.

    Depends on the name and lies in the last fifth of the period, so that keys made on one day are
    not all replaced on one day.
    """
    share = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
    return rotate_after_days - share % (rotate_after_days // _SPREAD + 1)


def canonical_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """Return the tags sorted by name, because their order makes no difference."""
    return {name: tags[name] for name in sorted(tags)}


def _changes(spec: KeySpec, held: Identity, today: date) -> tuple[str, ...]:
    was = held.spec
    pairs = {
        "organization": _organizations(was, spec),
        "name": ((was.name.lower(), was.exact), (spec.name.lower(), spec.exact)),
        "tags": (canonical_tags(was.tags), canonical_tags(spec.tags)),
        "deployment_id": (was.deployment_id, spec.deployment_id),
        "trigger": (was.trigger, spec.trigger),
    }
    changed = [name for name, (before, after) in pairs.items() if before != after]
    days = spec.rotate_after_days
    if days is not None and today - held.issued_on >= timedelta(days=due_after(days, held.name)):
        changed.append("issued_on")
    return tuple(changed)


def _organizations(was: KeySpec, spec: KeySpec) -> tuple[str, str]:
    """Return what to compare: uuids if both are known, since names may change (K10)."""
    if was.organization_id and spec.organization_id:
        return was.organization_id, spec.organization_id
    return was.organization, spec.organization
