"""Why a resource differs, in one sentence that a person understands (D2). Pure.

One function per sort of resource, from a finding and what is known of the stack to a sentence; what
none of them knows gets a sentence that names the properties. No value that may be secret.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from coder_stack.operate.diagnosis.entitlement_causes import entitlements
from coder_stack.operate.diagnosis.findings import Finding
from coder_stack.operate.diagnosis.kubernetes_causes import kubernetes
from coder_stack.operate.diagnosis.values import few

__all__ = ["CauseContext", "another_license", "cause"]


@dataclass(frozen=True)
class CauseContext:
    """What other resources tell about the stack as a whole; None: nobody could say."""

    licensed: bool | None = None
    """Coderd has a license, whoever brought it."""
    deployment_changed: bool = False

    @classmethod
    def of(cls, licensed: object, found: Iterable[Finding]) -> "CauseContext":
        """From the entitlements' word, and from what was found."""
        access = [each for each in found if each.resource == "OperatorAccess"]
        return cls(
            licensed=licensed if isinstance(licensed, bool) else None,
            deployment_changed=any("deployment_id" in each.paths for each in access),
        )


def cause(finding: Finding, context: CauseContext) -> str:
    """One sentence."""
    special = _BY_RESOURCE.get(finding.resource) if "dynamic/coder:" in finding.type else None
    if finding.type.startswith("kubernetes:"):
        special = kubernetes
    return (special and special(finding, context)) or _any(finding)


def another_license(finding: Finding, context: CauseContext) -> bool:
    """Ours is gone, but coderd is not without one."""
    return finding.resource == "License" and finding.kind == "missing" and bool(context.licensed)


def _key(finding: Finding, context: CauseContext) -> str | None:
    key = _called("Key", finding)
    organization = finding.recorded.get("organization", "")
    paths = {path.partition(".")[0] for path in finding.paths}
    if finding.origin == "world":
        if finding.kind == "missing":
            return f"{key} was deleted in coderd."
        if "material_valid" in paths:
            return f"Coderd no longer accepts what the state holds as {_lower(key)}."
        if "organization" in paths:
            name = finding.actual.get("organization")
            return f"The organization of {_lower(key)} was renamed in coderd to `{name}`."
        if "tags" in paths:
            return f"{key} has other tags in coderd."
        if paths & {"name", "base_name"}:
            return f"{key} was renamed in coderd."
        return None
    if finding.kind == "missing":
        return f"{key} is declared in organization `{organization}`, but was not made yet."
    if "enabled" in paths:
        allowed = finding.recorded.get("enabled") is True
        return f"The license {'allows' if allowed else 'no longer allows'} {_lower(key)}."
    if "deployment_id" in paths or context.deployment_changed:
        return f"Another deployment of coderd answers, and {_lower(key)} is not known there."
    if paths <= {"name", "issued_on"}:
        return f"{key} is old enough to be rotated."
    if "trigger" in paths:
        return f"A rotation of {_lower(key)} was asked for and has not happened yet."
    return None


def _license(finding: Finding, context: CauseContext) -> str | None:
    if finding.origin == "world" and finding.kind in ("missing", "replaced"):
        if context.licensed:
            return "The license was replaced: another license is active in coderd."
        if context.licensed is False:
            return "The license was removed: coderd has none now."
        return "The license is no longer in coderd."
    if finding.origin == "program" and finding.kind == "missing":
        return "The license was not uploaded yet."
    if "supported" in finding.paths:
        return "Another build of coderd runs, which does not know licenses."
    if "jwt" in finding.paths:
        return "The config has another license than the one that was uploaded."
    return None


def _access(finding: Finding, context: CauseContext) -> str | None:
    if "deployment_id" in finding.paths:
        return f"Another deployment of coderd answers at {finding.actual.get('url', 'its URL')}."
    if "accepted" in finding.paths and finding.actual.get("reason") == "SecretMissing":
        return "The Secret with the operator's token is gone, or holds none."
    if "accepted" in finding.paths or not finding.properties:
        return "Coderd refuses the operator's token."
    if "given" in finding.paths:
        return "The operator was given another token."
    if "password_hash" in finding.paths:
        return "The config has another password for the first user, which has not been tried yet."
    return None


def _proxy(finding: Finding, context: CauseContext) -> str | None:
    proxy = _called("Proxy", finding)
    if finding.origin == "world" and finding.kind == "missing":
        return f"{proxy} was deleted in coderd."
    if finding.origin == "program" and finding.kind == "missing":
        return f"{proxy} is declared, but was not registered yet."
    if "enabled" in finding.paths:
        allowed = finding.recorded.get("enabled") is True
        return f"The license {'allows' if allowed else 'no longer allows'} {_lower(proxy)}."
    if finding.origin == "world" and "name" in finding.paths:
        return f"{proxy} was renamed in coderd to `{finding.actual.get('name')}`."
    if finding.origin == "world":
        words = {"display_name": "display name", "icon": "icon"}
        other = [words[path] for path in finding.paths if path in words]
        return f"{proxy} has another {' and '.join(other)} in coderd." if other else None
    return None


def _value(finding: Finding, context: CauseContext) -> str | None:
    """A value that others keep in a Secret of the cluster."""
    place = f"Secret `{finding.recorded.get('namespace')}/{finding.recorded.get('name')}`"
    return f"{place}, which somebody else keeps, holds another value." if finding.paths else None


_BY_RESOURCE: Mapping[str, Callable[[Finding, CauseContext], str | None]] = MappingProxyType(
    {
        "ProvisionerKey": _key,
        "License": _license,
        "Entitlements": entitlements,
        "OperatorAccess": _access,
        "WorkspaceProxyRegistration": _proxy,
        "SecretValue": _value,
    }
)


def _any(finding: Finding) -> str:
    thing = f"{finding.resource} `{finding.name}`"
    match finding.origin, finding.kind:
        case "world", "missing":
            return f"{thing} is gone."
        case "world", _:
            return f"{thing} was changed: {few(finding.paths)}."
        case _, "missing":
            return f"{thing} is declared, but was not made yet."
        case _, "unexpected":
            return f"{thing} is still there, but no longer declared."
        case _:
            return f"The program asks for another {thing}: {few(finding.paths)}."


def _called(noun: str, finding: Finding) -> str:
    """By the name that coderd knows."""
    own = finding.recorded.get("name") or finding.actual.get("name") or finding.name
    return f"{noun} `{own}`"


def _lower(thing: str) -> str:
    return thing[0].lower() + thing[1:]
