"""An organization in coderd: changed in place, and found by its uuid after a rename (O1).

It is adopted only if the config says so, or if a lost run left it. It is deleted only while no
workspace and nobody else's key is in it. What belongs to an organization is not known here.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pulumi

from coder_stack.coderd.errors import CoderdError, ForbiddenByRole, NotFound
from coder_stack.coderd.models import OrganizationRecord
from coder_stack.coderd.procedures.organizations import (
    OrganizationTexts,
    change_organization,
    create_organization,
    find_named,
    may_adopt,
    remove,
)
from coder_stack.coderd.reasons import Reason
from coder_stack.console import warn
from coder_stack.descriptors import ORGANIZATION
from coder_stack.dynamic.runtime import answers
from coder_stack.dynamic.runtime.check import CheckRequest
from coder_stack.dynamic.runtime.declared import Declared
from coder_stack.dynamic.runtime.errors import Failed
from coder_stack.dynamic.runtime.licensed import (
    NOT_PROVISIONED,
    LicensedInputs,
    settled_by_license,
)
from coder_stack.dynamic.runtime.props import Problem
from coder_stack.dynamic.runtime.provider import CoderdProvider
from coder_stack.dynamic.runtime.resource import CoderdResource
from coder_stack.dynamic.runtime.session import Session

_TEXTS = ("name", "display_name", "description", "icon")
_DECLARED = Declared()
"""Names of organizations, in lower case as coderd compares them."""
_EXISTS = "is the name of an existing organization; set adopt to take it over, or use another name"


class OrganizationInputs(LicensedInputs):
    """What the program asks for. `check` fills in an empty display name, as coderd does."""

    name: str
    display_name: str = ""
    description: str = ""
    icon: str = ""
    adopt: bool = False
    deletion: Literal["whenEmpty", "withKeys", "keep"] = "whenEmpty"
    deployment_id: str = ""


class OrganizationState(OrganizationInputs):
    """With coderd's uuid of it, which a rename does not change."""

    organization_id: str = ""
    reason: str = ""


class OrganizationProvider(CoderdProvider[OrganizationInputs, OrganizationState]):
    """Nothing but a first creation or another deployment replaces."""

    descriptor = ORGANIZATION
    replace_on = ("deployment_id",)
    delete_is_best_effort = True

    def label(self, model: OrganizationInputs) -> str:
        """Name it."""
        return f'{self.noun} "{model.name}"'

    def identify(self, state: OrganizationState) -> str:
        """Return the organization's uuid."""
        return state.organization_id or NOT_PROVISIONED

    def examine(
        self, request: CheckRequest[OrganizationInputs], session: Session | None
    ) -> tuple[Mapping[str, Any], list[Problem]]:
        """Fill in the display name, defer changes while unlicensed, and refuse a taken name."""
        known, want, old = request.known, request.whole, request.old
        values: dict[str, Any] = {}
        if known.get("display_name") == "" and "name" in known:
            values["display_name"] = known["name"]
        if session is not None and "name" in known:
            _DECLARED.add(session.target, known["name"].lower())
        values = settled_by_license(self.label, want, old, values, _TEXTS)
        new = want is not None and want.enabled and not (old and old.provisioned)
        if not new or session is None or want is None:
            return values, []
        return values, self._taken(session, want.model_copy(update=values))

    def create_object(self, session: Session, want: OrganizationInputs) -> OrganizationState:
        """Create or adopt it; without entitlement keep a placeholder (E4)."""
        if not want.enabled:
            return OrganizationState.model_validate({**dict(want), "reason": Reason.NOT_ENTITLED})
        made = create_organization(session.coderd, _texts(want), adopt=want.adopt)
        return OrganizationState.model_validate({**dict(want), **_of_coderd(made)})

    def observe(self, session: Session, known: OrganizationState) -> OrganizationState | None:
        """Read it from the list, which leaves out deleted ones."""
        if not known.organization_id:
            return known
        listed = session.cached(answers.ORGANIZATIONS)
        found = self._find(session, known, listed)
        if found is None:
            return None
        facts = {"provisioned": True, "reason": "" if known.enabled else Reason.NOT_ENTITLED}
        return known.model_copy(update={**_of_coderd(found), **facts})

    def update_object(
        self, session: Session, want: OrganizationInputs, known: OrganizationState
    ) -> OrganizationState:
        """Write changed texts; the gate, and what decides a deletion, need no call."""
        facts: dict[str, Any] = {"reason": "" if want.enabled else Reason.NOT_ENTITLED}
        if known.organization_id and _texts(want) != _texts(known):
            found = self._find(session, known, session.coderd.organizations())
            if found is None:
                why = "it was deleted in coderd; run `pulumi refresh`."
                raise NotFound(f"update {self.label(known)}", why)
            facts |= _of_coderd(change_organization(session.coderd, found, _texts(want)))
        return OrganizationState.model_validate({**dict(known), **dict(want), **facts})

    def delete_object(self, session: Session, known: OrganizationState) -> None:
        """Delete it by its uuid, if the config allows it and nobody needs it.

        Not if the program asks for it again. What is in it is a reason to fail, not to forget it.
        """
        if not known.organization_id or known.deletion == "keep":
            return
        found = self._find(session, known, session.coderd.organizations())
        if found is None or _DECLARED.has(session.target, found.name.lower()):
            return
        if found.is_default:
            warn(f"{self.label(known)}: coderd's default organization was left.")
            return
        try:
            remove(session.coderd, found, with_keys=known.deletion == "withKeys")
        except CoderdError as error:
            why = f"{error} Or declare it with deletion: keep, and run `pulumi up`."
            not_empty = error.reason == Reason.NOT_EMPTY
            raise Failed(
                self.reason(error),
                self.label(known),
                "delete",
                why if not_empty else str(error),
                again=not_empty,
            ) from error

    def _find(
        self, session: Session, known: OrganizationState, listed: Sequence[OrganizationRecord]
    ) -> OrganizationRecord | None:
        found = next((each for each in listed if str(each.id) == known.organization_id), None)
        if found is None and not session.coderd.user().is_owner:
            why = "the token's user does not see all organizations; use one of an owner."
            raise ForbiddenByRole(f"read {self.label(known)}", why)
        return found

    def _taken(self, session: Session, want: OrganizationInputs) -> list[Problem]:
        """Say in the preview that `create` would refuse to adopt, as far as coderd can be asked."""
        try:
            found = session.peek(lambda coderd: find_named(coderd, want.name))
            if found is None or may_adopt(session.fail_fast, found, _texts(want), adopt=want.adopt):
                return []
        except CoderdError:
            return []
        return [Problem("name", _EXISTS)]


class Organization(CoderdResource, descriptor=ORGANIZATION):
    """An organization; let what lives in it depend on it."""

    organization_id: pulumi.Output[str]
    name: pulumi.Output[str]
    enabled: pulumi.Output[bool]
    provisioned: pulumi.Output[bool]
    deferred: pulumi.Output[list[str]]
    reason: pulumi.Output[str]

    def __init__(
        self,
        resource_name: str,
        *,
        connection: pulumi.Input[Mapping[str, Any]],
        name: pulumi.Input[str],
        deployment_id: pulumi.Input[str],
        display_name: pulumi.Input[str] | None = None,
        description: pulumi.Input[str] | None = None,
        icon: pulumi.Input[str] | None = None,
        adopt: bool = False,
        deletion: str | None = None,
        enabled: pulumi.Input[bool] = True,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        props = {
            "connection": connection,
            "name": name,
            "display_name": display_name,
            "description": description,
            "icon": icon,
            "adopt": adopt,
            "deletion": deletion,
            "deployment_id": deployment_id,
            "enabled": enabled,
        }
        super().__init__(OrganizationProvider(), resource_name, props, opts)


def _texts(inputs: OrganizationInputs) -> OrganizationTexts:
    return OrganizationTexts(*(getattr(inputs, name) for name in _TEXTS))


def _of_coderd(found: OrganizationRecord) -> dict[str, Any]:
    texts = {name: getattr(found, name) for name in _TEXTS}
    return {**texts, "organization_id": str(found.id)}
