"""Rules on the license: what the stack declares is what it may use, and for long enough.

The gate in the program opens and closes by itself, so two of these only advise: a lapsed license
must not block every other change. Raise them where licenses are renewed ahead of time.
"""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from pulumi_policy import EnforcementLevel, Severity

from coder_stack.features import (
    HIGH_AVAILABILITY,
    MULTIPLE_ORGANIZATIONS,
    is_entitled,
)
from pod_shapes import containers, program
from reading import Fault, Node, Resource
from rule import StackCase, stack_rule

__all__ = ["RULES"]

_CODER = "pulumi-python:dynamic/coder:"
_GATED = {
    f"{_CODER}ProvisionerKey": "external_provisioner_daemons",
    f"{_CODER}WorkspaceProxyRegistration": "workspace_proxy",
}


def _entitled(case: StackCase) -> Iterator[Fault]:
    known, allowed = False, set[str]()
    for each in case.of_type(f"{_CODER}Entitlements"):
        with case.look:
            # With several coderds in one stack, what any of them allows is let through.
            allowed.update(_allowed(each))
            known |= each.props["tier"].text not in ("", "unknown")
    for place, feature in _needs(case) if known else ():
        if feature not in allowed:
            yield place.fault(
                f"needs {feature}, which the license does not include; extend the license."
            )


def _allowed(entitlements: Resource) -> list[str]:
    features = entitlements.props["features"].each()
    return [each.key for each in features if is_entitled(each["entitlement"].text)]


def _needs(case: StackCase) -> Iterator[tuple[Node, str]]:
    organizations = set[str]()
    for resource in case.resources:
        if feature := _GATED.get(resource.type):
            yield resource.props["enabled"], feature
        with case.look:
            if resource.type == f"{_CODER}FeatureGate":
                yield resource.props["feature"], resource.props["feature"].text
            if resource.type == f"{_CODER}ProvisionerKey":
                organizations.add(resource.props["organization"].text)
                if len(organizations) > 1:
                    # One organization is there without a license, whatever it is called.
                    yield resource.props["organization"], MULTIPLE_ORGANIZATIONS
            if resource.type == "kubernetes:apps/v1:Deployment":
                replicas = resource.props.at("spec", "replicas")
                if (replicas.number or 1) > 1 and _is_coderd(case, resource):
                    yield replicas, HIGH_AVAILABILITY


def _is_coderd(case: StackCase, deployment: Resource) -> bool:
    return any(program(each) == "coderd" for each in containers(deployment, case.look, init=False))


def _expiry(case: StackCase) -> Iterator[Fault]:
    soon = datetime.now(UTC) + timedelta(days=int(case.options["days"]))
    for each in case.of_type(f"{_CODER}License"):
        with case.look:
            place = each.props["license_expires"]
            ends = _moment(place.text)
            if ends is not None and ends < soon:
                yield place.fault(
                    "renew the license: it expires within the number of days in option `days`."
                )


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _owners(case: StackCase) -> Iterator[Fault]:
    owners = dict[str, Resource]()
    for each in case.of_type(f"{_CODER}License"):
        with case.look:
            text = each.props["jwt"].text.strip()
            if not text:
                continue
            owner = owners.setdefault(hashlib.sha256(text.encode()).hexdigest(), each)
            if owner is not each:
                yield each.props["jwt"].fault(
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
