"""A provisioner key in one organization, rotated by replacement.

A generated name changes with everything that makes it another key, so Pulumi's create-before-delete
is a rotation without a gap; a key with an exact name is deleted first (K5). Drift is the difference
between program, state, coderd's list, and what coderd says about the key's plaintext (K3). The
Kubernetes Secret with the plaintext is made by the component.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pulumi
from pulumi import dynamic

from coder_stack.coderd.errors import CoderdError, ForbiddenByRole, NotEntitled
from coder_stack.coderd.models import KeyRecord
from coder_stack.coderd.procedures.keys import issue_key, key_of_material, remove_key
from coder_stack.coderd.reasons import Reason
from coder_stack.descriptors import PROVISIONER_KEY
from coder_stack.dynamic.key.adoption import offered_key, take_offer
from coder_stack.dynamic.key.inputs import KeyInputs, KeyState, day_of, facts_of, settled
from coder_stack.dynamic.key.organization import locate, wanted_organization
from coder_stack.dynamic.key.replacement import REPLACEMENTS
from coder_stack.dynamic.key.verification import is_its_turn, is_suspect, this_hour
from coder_stack.dynamic.runtime import answers
from coder_stack.dynamic.runtime.check import CheckRequest
from coder_stack.dynamic.runtime.errors import Failed
from coder_stack.dynamic.runtime.licensed import NOT_PROVISIONED, report_deferred
from coder_stack.dynamic.runtime.props import Problem, Props
from coder_stack.dynamic.runtime.provider import CoderdProvider
from coder_stack.dynamic.runtime.resource import CoderdResource
from coder_stack.dynamic.runtime.session import Session

_OWNER = 16


class ProvisionerKeyProvider(CoderdProvider[KeyInputs, KeyState]):
    """Keys are immutable in coderd: every change is another key."""

    descriptor = PROVISIONER_KEY
    replace_on = (
        "organization",
        "organization_id",
        "name",
        "tags",
        "deployment_id",
        "trigger",
        "issued_on",
        "material_valid",
    )
    delete_is_best_effort = True

    def label(self, model: KeyInputs) -> str:
        """Name the key and its organization."""
        return f'{self.noun} "{model.name or model.base_name}" of "{model.organization}"'

    def identify(self, state: KeyState) -> str:
        """Return the key's uuid; an id cannot be secret, so it cannot be the material."""
        return state.key_id or NOT_PROVISIONED

    def examine(
        self, request: CheckRequest[KeyInputs], session: Session | None
    ) -> tuple[Mapping[str, Any], list[Problem]]:
        """Decide on the name, or defer the change while the license is gone."""
        want, old = request.whole, request.old
        wrong = take_offer(request)
        if want is None:
            values, problems = settled(request)
            return values, [*problems, *wrong]
        before = REPLACEMENTS.predecessor(want, old)
        organization_id, unknown = wanted_organization(session, want, old, before)
        values, problems = settled(request, before, organization_id)
        REPLACEMENTS.settle(want, values.get("name", ""), before)
        report_deferred(self.label(want), values["deferred"])
        if session is not None and (key := self._expected(session, want)):
            # An adopted key keeps its age, also for its rotation.
            values = {**values, "issued_on": day_of(key)}
        return values, [*problems, *unknown, *wrong]

    def diff(self, _id: str, _olds: Props, _news: Props) -> dynamic.DiffResult:
        """Compare organizations by uuid, and delete a key with an exact name first."""
        result = super().diff(_id, _olds, _news)
        if _id == NOT_PROVISIONED:
            return result
        was, now = _olds.get("organization_id"), _news.get("organization_id")
        moved = (
            was != now if was and now else _olds.get("organization") != _news.get("organization")
        )
        if not moved:
            # The uuid is not known yet, or the same organization has another name (K10).
            places = {"organization", "organization_id"}
            result.replaces = [each for each in result.replaces or () if each not in places] or None
        if result.replaces:
            same = not moved and _olds.get("name") == _news.get("name")
            result.delete_before_replace = bool(_news.get("exact_name")) and same
        return result

    def create_object(self, session: Session, want: KeyInputs) -> KeyState:
        """Issue a key or adopt one; without entitlement keep a placeholder (E4)."""
        if not want.enabled:
            return KeyState.model_validate({**dict(want), "reason": Reason.NOT_ENTITLED})
        issued = offered_key(session.coderd, want, self.label(want)) or issue_key(
            session.coderd, want.organization, want.name, want.tags
        )
        return KeyState.model_validate({**dict(want), **facts_of(issued.key, issued.material)})

    def update_object(self, session: Session, want: KeyInputs, known: KeyState) -> KeyState:
        """Record the inputs: none of those that do not replace changes anything in coderd."""
        facts = {
            "organization_id": want.organization_id or known.organization_id,
            "reason": "" if want.enabled else Reason.NOT_ENTITLED,
        }
        return KeyState.model_validate({**dict(known), **dict(want), **facts})

    def observe(self, session: Session, known: KeyState) -> KeyState | None:
        """Read it. It is gone only if a complete list lacks it and its plaintext is refused.

        Coderd is asked about the plaintext only if verification.py says so.
        """
        if not (known.key_id or known.material.get_secret_value() or known.created_at):
            return known
        live = str(session.cached(answers.BUILD).deployment_id)
        if known.deployment_id and known.deployment_id != live:
            # Another deployment answers. The program learns of it too, and replaces the key.
            return known
        opened = cache(lambda: key_of_material(session.coderd, known.material))
        try:
            located = locate(session, known, opened)
        except NotEntitled:
            return known.model_copy(update={"reason": Reason.NOT_ENTITLED})
        found = located.key
        if found is None and opened() is not None:
            why = "the key is in use, but the token's user does not see it in the organization."
            raise ForbiddenByRole(f"read {self.label(known)}", why)
        if found is None:
            return None
        listed = known.model_copy(update=facts_of(found, known.material))
        is_due = is_suspect(known, listed) or is_its_turn(found, located.listed, this_hour())
        valid = True
        if is_due:
            key = opened()
            valid = key is not None and key.id == found.id
        renamed = {"base_name": found.name} if known.name and found.name != known.name else {}
        return listed.model_copy(
            update={
                **renamed,
                "organization": located.organization,
                "deployment_id": live,
                "issued_on": known.issued_on or day_of(found),
                "material_valid": valid,
                "provisioned": True,
                "reason": "" if known.enabled else Reason.NOT_ENTITLED,
            }
        )

    def delete_object(self, session: Session, known: KeyState) -> None:
        """Delete it by the identity in the state (K6).

        If the program declares another key in its place, an outage is a failure, and the next run
        tries again; otherwise a rotation would leave the old key alive (X1).
        """
        if not (known.key_id or known.material.get_secret_value()):
            return
        places = (known.organization, known.organization_id or "")
        try:
            remove_key(session.coderd, places, known.key_id, known.material)
        except CoderdError as error:
            if error.permanent or not REPLACEMENTS.has_replaced(known):
                raise
            why = f"{error} It is superseded; the next run tries again."
            raise Failed(
                self.reason(error), self.label(known), "delete", why, again=True
            ) from error

    def _expected(self, session: Session, want: KeyInputs) -> KeyRecord | None:
        """Return the key that `create` will adopt, as far as a preview can see."""
        try:
            found = offered_key(session.fail_fast, want, self.label(want)) if want.enabled else None
        except CoderdError:
            return None
        return found.key if found else None


class ProvisionerKey(CoderdResource, descriptor=PROVISIONER_KEY):
    """A provisioner key; `material` is its plaintext, a secret."""

    key_id: pulumi.Output[str]
    name: pulumi.Output[str]
    organization: pulumi.Output[str]
    tags: pulumi.Output[dict[str, str]]
    deployment_id: pulumi.Output[str]
    material: pulumi.Output[str]
    material_sha256: pulumi.Output[str]
    created_at: pulumi.Output[str]
    issued_on: pulumi.Output[str]
    enabled: pulumi.Output[bool]
    provisioned: pulumi.Output[bool]
    deferred: pulumi.Output[list[str]]
    reason: pulumi.Output[str]

    def __init__(
        self,
        resource_name: str,
        *,
        connection: pulumi.Input[Mapping[str, Any]],
        organization: pulumi.Input[str],
        base_name: pulumi.Input[str],
        deployment_id: pulumi.Input[str],
        organization_id: pulumi.Input[str] | None = None,
        exact_name: bool = False,
        tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        trigger: pulumi.Input[str] | None = None,
        rotate_after_days: int | None = None,
        enabled: pulumi.Input[bool] = True,
        adopt_material: pulumi.Input[str] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        props = {
            "connection": connection,
            "organization": organization,
            "organization_id": organization_id,
            "base_name": base_name,
            "owner": _this_stack(),
            "exact_name": exact_name,
            "tags": tags,
            "deployment_id": deployment_id,
            "trigger": trigger,
            "rotate_after_days": rotate_after_days,
            "enabled": enabled,
            "adopt_material": adopt_material,
        }
        super().__init__(ProvisionerKeyProvider(), resource_name, props, opts)


def _this_stack() -> str:
    """Identify this stack; only the program knows it, not a provider process."""
    stack = [pulumi.get_organization(), pulumi.get_project(), pulumi.get_stack()]
    return hashlib.sha256(json.dumps(stack).encode()).hexdigest()[:_OWNER]
