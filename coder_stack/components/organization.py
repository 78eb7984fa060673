"""What is known about an organization. The resource itself brings nothing into the cluster."""

from dataclasses import dataclass

import pulumi

from coder_stack.components.parts.status import Status, collect_facts
from coder_stack.conditions import LicenseFacts, ObjectFacts, feature_entitled, organization_ready
from coder_stack.dynamic.organization import Organization
from coder_stack.features import MULTIPLE_ORGANIZATIONS


@dataclass(frozen=True, kw_only=True)
class OrganizationFacts(ObjectFacts):
    """What the resource reports."""

    license: LicenseFacts
    organization_id: str = ""
    name: str = ""


def organization_status(
    name: str, organization: Organization, license_: pulumi.Output[LicenseFacts]
) -> pulumi.Output[Status]:
    """Return its conditions, and its summary for the stack's outputs."""
    return collect_facts(
        OrganizationFacts,
        license=license_,
        organization_id=organization.organization_id,
        name=organization.name,
        provisioned=organization.provisioned,
        deferred=organization.deferred,
        reason=organization.reason,
    ).apply(lambda found: _status(name, found))


def _status(name: str, found: OrganizationFacts) -> Status:
    about = f"organization/{name}"
    allowed = found.license.allows(MULTIPLE_ORGANIZATIONS)
    ready = organization_ready(about, found, allowed=allowed)
    kind = "MultipleOrganizationsEntitled"
    return Status(
        conditions=(feature_entitled(kind, about, MULTIPLE_ORGANIZATIONS, found.license), ready),
        summary={"name": found.name, "id": found.organization_id},
    )
