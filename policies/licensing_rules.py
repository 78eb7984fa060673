"""Rules on the license: it includes the features that the stack uses, and does not expire soon.

Two of them are advisory: an expired license must not block other changes, and the program adapts to
the license by itself.
"""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from pulumi_policy import EnforcementLevel, Severity

from coder_stack.descriptors import (
    DESCRIPTORS,
    ENTITLEMENTS,
    FEATURE_GATE,
    LICENSE,
    PROVISIONER_KEY,
)
from coder_stack.features import (
    HIGH_AVAILABILITY,
    MULTIPLE_ORGANIZATIONS,
    is_entitled,
)
from pod_specs import containers, program
from properties import Property, Resource, Violation
from rule import StackCase, stack_rule


def _entitled(case: StackCase) -> Iterator[Violation]:
    known, allowed = False, set[str]()
    for each in case.of_type(ENTITLEMENTS.type):
        with case.known:
            # If the stack has several coderds, one that allows a feature is enough.
            allowed.update(_allowed(each))
            known |= each.props["tier"].text not in ("", "unknown")
    for needed_by, feature in _needs(case) if known else ():
        if feature not in allowed:
            yield needed_by.violation(
                f"needs {feature}, which the license does not include; extend the license."
            )


def _allowed(entitlements: Resource) -> list[str]:
    features = entitlements.props["features"].each()
    return [each.key for each in features if is_entitled(each["entitlement"].text)]


def _needs(case: StackCase) -> Iterator[tuple[Property, str]]:
    organizations = set[str]()
    for resource in case.resources:
        descriptor = DESCRIPTORS.get(resource.type)
        if descriptor and descriptor.feature:
            yield resource.props["enabled"], descriptor.feature
        with case.known:
            if resource.type == FEATURE_GATE.type:
                yield resource.props["feature"], resource.props["feature"].text
            if resource.type == PROVISIONER_KEY.type:
                organizations.add(resource.props["organization"].text)
                if len(organizations) > 1:
                    # The first organization needs no license.
                    yield resource.props["organization"], MULTIPLE_ORGANIZATIONS
            if resource.type == "kubernetes:apps/v1:Deployment":
                replicas = resource.props.at("spec", "replicas")
                if (replicas.number or 1) > 1 and _is_coderd(case, resource):
                    yield replicas, HIGH_AVAILABILITY


def _is_coderd(case: StackCase, deployment: Resource) -> bool:
    return any(program(each) == "coderd" for each in containers(deployment, case.known, init=False))


def _expiry(case: StackCase) -> Iterator[Violation]:
    soon = datetime.now(UTC) + timedelta(days=int(case.options["days"]))
    for each in case.of_type(LICENSE.type):
        with case.known:
            expires = each.props["license_expires"]
            ends = _moment(expires.text)
            if ends is not None and ends < soon:
                yield expires.violation(
                    "renew the license: it expires within the number of days in option `days`."
                )


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _owners(case: StackCase) -> Iterator[Violation]:
    owners = dict[str, Resource]()
    for each in case.of_type(LICENSE.type):
        with case.known:
            text = each.props["jwt"].text.strip()
            if not text:
                continue
            owner = owners.setdefault(hashlib.sha256(text.encode()).hexdigest(), each)
            if owner is not each:
                yield each.props["jwt"].violation(
                    f'"{owner.name}" has the same license; remove one of the two.'
                )


RULES = (
    stack_rule(
        "features-entitled",
        "The stack uses only features that the license includes.",
        check=_entitled,
        steps=(
            "Get a license with the feature, or remove it: run one replica of coderd, no external "
            "provisioners, no workspace proxies."
        ),
        severity=Severity.HIGH,
        level=EnforcementLevel.ADVISORY,
    ),
    stack_rule(
        "license-expiry",
        "The license does not expire soon.",
        check=_expiry,
        steps="Get a renewed license and set it; it replaces the old one without a gap.",
        severity=Severity.HIGH,
        level=EnforcementLevel.ADVISORY,
        options={
            "days": {
                "type": "integer",
                "minimum": 0,
                "default": 30,
                "description": "Days before the expiry date from which to warn.",
            }
        },
    ),
    stack_rule(
        "license-owner",
        "Only one resource of the stack has a license.",
        check=_owners,
        steps="Remove one of the resources: deleting either removes the license.",
        severity=Severity.HIGH,
        level=EnforcementLevel.MANDATORY,
    ),
)
