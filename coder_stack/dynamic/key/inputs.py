"""Inputs and state of a provisioner key, and what `check` fills in.

No I/O. The rules for names and age are in coderd/key_identity.py.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Annotated, Any

from pydantic import Field, SecretStr

from coder_stack.coderd.key_identity import (
    Identity,
    KeySpec,
    canonical_tags,
    settle,
)
from coder_stack.coderd.names import key_name_fault, tags_fault
from coder_stack.dynamic.runtime.check import CheckRequest
from coder_stack.dynamic.runtime.licensed import LicensedInputs, must_stay
from coder_stack.dynamic.runtime.props import Problem, PropsSecret


class KeyInputs(LicensedInputs):
    """What the program asks for; the last fields are filled in by `check`."""

    organization: str
    base_name: str
    exact_name: bool = False
    owner: str | None = None
    """The stack. `check` uses it in a new name; no state keeps it."""
    tags: dict[str, str] = Field(default_factory=dict)
    deployment_id: str = ""
    trigger: str = ""
    rotate_after_days: Annotated[int, Field(ge=1)] | None = None
    # Settled by check:
    organization_id: str | None = None
    """The organization's uuid: a rename in coderd leaves it."""
    name: str = ""
    issued_on: date | None = None
    material_valid: bool = True
    """Always true in the program; a refresh may find false, and that replaces the key."""


class KeyState(KeyInputs):
    """What coderd has, and the plaintext. A state of an earlier version may lack any of it (K7)."""

    key_id: str = ""
    material: PropsSecret = SecretStr("")
    material_sha256: str = ""
    created_at: str = ""
    reason: str = ""


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
    if "tags" in request.known:
        values["tags"] = canonical_tags(request.known["tags"])
    want, old = request.whole, request.old
    if want is None:
        return {**values, **_unchanged(old, request.known.get("enabled"))}, problems
    spec = replace(_spec(want), organization_id=organization_id)
    if not want.enabled and not (old and was_made(old)):
        # A placeholder has no age.
        spec = replace(spec, rotate_after_days=None)
    before = predecessor.name if predecessor else ""
    identity, differences = settle(spec, _held(want, old), _today(), predecessor=before)
    if old is not None and must_stay(want.enabled, old):
        invalid = () if old.material_valid else ("material_valid",)
        frozen = {**_frozen(old), "owner": None}
        return {**frozen, "deferred": (*differences, *invalid)}, problems
    result = {
        "organization_id": organization_id,
        "name": identity.name,
        "issued_on": identity.issued_on,
        "provisioned": want.enabled,
        "deferred": (),
    }
    return {**values, **result}, problems


def _today() -> date:
    return datetime.now(UTC).date()


def _spec(inputs: KeyInputs) -> KeySpec:
    return KeySpec(
        name=inputs.base_name,
        exact=inputs.exact_name,
        owner=inputs.owner or "",
        organization=inputs.organization,
        organization_id=inputs.organization_id,
        tags=inputs.tags,
        deployment_id=inputs.deployment_id,
        trigger=inputs.trigger,
        rotate_after_days=inputs.rotate_after_days,
    )


def _held(want: KeyInputs, old: KeyInputs | None) -> Identity | None:
    """Return the identity so far; a field that an old state lacks is unchanged (K7)."""
    if old is None or not old.name:
        return None
    lacking = set(KeyInputs.model_fields) - old.model_fields_set
    filled = old.model_copy(update={name: getattr(want, name) for name in lacking})
    return Identity(spec=_spec(filled), name=old.name, issued_on=old.issued_on or _today())


def _unchanged(old: KeyInputs | None, enabled: object) -> dict[str, Any]:
    """Keep the name while an input is unknown: most unknown inputs turn out the same."""
    if old is None or not old.name:
        return {"provisioned": enabled is True}
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
