"""Inputs and state of a provisioner key, and what `check` fills in.

No I/O. The rules for names and age are in coderd/key_identity.py.
"""

import hashlib
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from pydantic import SecretStr

from coder_stack.coderd.key_identity import KeySpec, settle
from coder_stack.coderd.models import KeyRecord
from coder_stack.coderd.names import key_name_fault, tags_fault
from coder_stack.dynamic.runtime.check import CheckRequest
from coder_stack.dynamic.runtime.licensed import LicensedInputs, must_stay
from coder_stack.dynamic.runtime.props import Problem, PropsSecret


class KeyInputs(LicensedInputs, KeySpec):
    """What the program asks for. `check` fills in `name`, `issued_on` and `organization_id`.

    No state keeps `owner`.
    """

    material_valid: bool = True
    """Always true in the program; a refresh may find false, and that replaces the key."""


class KeyState(KeyInputs):
    """What coderd has, and the plaintext. A state of an earlier version may lack any of it (K7)."""

    key_id: str = ""
    material: PropsSecret = SecretStr("")
    material_sha256: str = ""
    created_at: str = ""
    reason: str = ""


def facts_of(key: KeyRecord, material: SecretStr) -> dict[str, Any]:
    """Return what the state records of a key that coderd has, and of its plaintext."""
    text = material.get_secret_value()
    return {
        "key_id": str(key.id),
        "organization_id": str(key.organization),
        "name": key.name,
        "tags": dict(key.tags),
        "created_at": key.created_at.astimezone(UTC).isoformat(timespec="seconds"),
        "material": material,
        "material_sha256": hashlib.sha256(text.encode()).hexdigest() if text else "",
    }


def day_of(key: KeyRecord) -> date:
    """Return the day on which it was issued."""
    return key.created_at.astimezone(UTC).date()


def was_made(inputs: KeyInputs) -> bool:
    """Tell whether these are the inputs of a key, and not of a placeholder."""
    recorded = "provisioned" in inputs.model_fields_set
    return bool(inputs.name) and (inputs.provisioned or not recorded)


def settled(
    request: CheckRequest[KeyInputs],
    predecessor: KeyInputs | None = None,
    organization_id: str | None = None,
) -> tuple[dict[str, Any], list[Problem]]:
    """Return what `check` puts into the inputs: the name, or the old inputs without a license.

    `predecessor` is the existing key; `organization_id` is that of the wanted organization.
    """
    problems = _problems(request.known)
    values: dict[str, Any] = {"material_valid": True, "owner": None}
    if isinstance(name := request.known.get("base_name"), str):
        values["base_name"] = name.lower()
    want, old = request.whole, request.old
    if want is None:
        return {**values, **_unchanged(old, request.known.get("enabled"))}, problems
    spec = want.model_copy(update={"organization_id": organization_id})
    if not want.enabled and not (old and was_made(old)):
        # A placeholder has no age.
        spec = spec.model_copy(update={"rotate_after_days": None})
    before = predecessor.name if predecessor else ""
    today = datetime.now(UTC).date()
    name, issued_on, differences = settle(spec, old, today, predecessor=before)
    if old is not None and must_stay(want.enabled, old):
        invalid = () if old.material_valid else ("material_valid",)
        frozen = {**_frozen(old), "owner": None}
        return {**frozen, "deferred": (*differences, *invalid)}, problems
    result = {
        "organization_id": organization_id,
        "name": name,
        "issued_on": issued_on,
        "provisioned": want.enabled,
        "deferred": (),
    }
    return {**values, **result}, problems


def _unchanged(old: KeyInputs | None, enabled: object) -> dict[str, Any]:
    """Keep the name while an input is unknown: most unknown inputs turn out the same."""
    if old is None or not old.name:
        # Left out: dependants would take an empty name as one.
        return {"name": None, "provisioned": enabled is True}
    kept: dict[str, Any] = {"name": old.name, "deferred": old.deferred}
    kept |= {"organization_id": old.organization_id}
    kept |= {"provisioned": old.provisioned or enabled is True}
    return {**kept, "issued_on": old.issued_on} if old.issued_on else kept


def _frozen(old: KeyInputs) -> dict[str, Any]:
    names = (
        *("organization", "base_name", "exact_name", "tags", "deployment_id", "trigger", "name"),
        *("organization_id", "issued_on", "material_valid", "provisioned"),
    )
    return {name: getattr(old, name) for name in names}


def _problems(known: Mapping[str, Any]) -> list[Problem]:
    faults = {
        "base_name": key_name_fault(known["base_name"]) if "base_name" in known else None,
        "tags.scope": tags_fault(known["tags"]) if "tags" in known else None,
    }
    return [Problem(path, fault) for path, fault in faults.items() if fault]
