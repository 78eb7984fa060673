"""Decide whether a provisioner key is kept or rotated, and what it is called (K3, K5). Pure.

Leaves alone coderd's rules for names (coderd/names.py) and how a key is created and deleted
(procedures/keys.py).
"""

import hashlib
import json
from datetime import date, timedelta
from typing import Annotated

from pydantic import Field

from coder_stack.coderd.names import LONGEST_KEY_NAME
from coder_stack.frozen_model import FrozenModel

_HASH = 10
_SPREAD = 5
"""A key may fall due up to a fifth of its period early."""


class KeySpec(FrozenModel):
    """The key that the program asks for. Unless `exact_name`, a hash is added to `base_name`."""

    organization: str
    organization_id: str | None = None
    """Its uuid, which a rename does not change; None if it could not be looked up."""
    base_name: str
    exact_name: bool = False
    owner: str | None = None
    """Tells stacks apart in generated names; its change does not rotate a key."""
    tags: dict[str, str] = Field(default_factory=dict)
    deployment_id: str = ""
    trigger: str = ""
    rotate_after_days: Annotated[int, Field(ge=1)] | None = None
    name: str = ""
    """The key's final name."""
    issued_on: date | None = None


def settle(
    want: KeySpec, held: KeySpec | None, today: date, *, predecessor: str = ""
) -> tuple[str, date, tuple[str, ...]]:
    """Return name and day of issue from now on, and the properties whose change rotates the key.

    A held key keeps its name and day, so that neither a new `rotate_after_days` nor a new rule for
    names rotates a key that is not due. `predecessor` is the name of the key to replace.
    """
    changed: tuple[str, ...] = ()
    if held and held.name:
        changed = _changes(want, held, today)
        if not changed:
            return held.name, held.issued_on or today, ()
    name = want.base_name.lower() if want.exact_name else generated_name(want, predecessor)
    return name, today, changed


def generated_name(want: KeySpec, predecessor: str = "") -> str:
    """Return `<base>-<hash>`, at most 64 bytes, and the same on every machine.

    The hash includes the predecessor's name: going back to an earlier spec whose key still exists
    gives another name (K9). A run that was killed and its successor ask for the same name (U3).
    """
    base = want.base_name.lower()
    place = [want.organization, want.tags, want.deployment_id]
    facts = [base, want.owner or "", *place, want.trigger, predecessor]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:_HASH]
    return f"{base[: LONGEST_KEY_NAME - _HASH - 1].rstrip('-')}-{digest}"


def due_after(rotate_after_days: int, name: str) -> int:
    """Return the age in days at which the key of this name is due, at most the limit.

    Depends on the name and lies in the last fifth of the period, so that keys made on one day are
    not all replaced on one day.
    """
    share = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
    return rotate_after_days - share % (rotate_after_days // _SPREAD + 1)


def _changes(want: KeySpec, held: KeySpec, today: date) -> tuple[str, ...]:
    # What a state of an earlier version lacks counts as unchanged (K7).
    lacking = set(KeySpec.model_fields) - held.model_fields_set
    was = held.model_copy(update={name: getattr(want, name) for name in lacking})
    pairs = {
        "organization": _organizations(was, want),
        "name": (
            (was.base_name.lower(), was.exact_name),
            (want.base_name.lower(), want.exact_name),
        ),
        "tags": (was.tags, want.tags),
        "deployment_id": (was.deployment_id, want.deployment_id),
        "trigger": (was.trigger, want.trigger),
    }
    changed = [name for name, (before, after) in pairs.items() if before != after]
    days, age = want.rotate_after_days, today - (held.issued_on or today)
    if days is not None and age >= timedelta(days=due_after(days, held.name)):
        changed.append("issued_on")
    return tuple(changed)


def _organizations(was: KeySpec, want: KeySpec) -> tuple[str, str]:
    """Return what to compare: uuids if both are known, since names may change (K10)."""
    if was.organization_id and want.organization_id:
        return was.organization_id, want.organization_id
    return was.organization, want.organization
