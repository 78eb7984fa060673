"""Why a resource differs, in one sentence that a person understands (D2). Pure.

The descriptor of a coderd object has sentences of its own, and so have Kubernetes objects. For
everything else the sentence names the properties. No value that may be secret is said.
"""

from collections.abc import Iterable

from coder_stack.descriptors import DESCRIPTORS, LICENSE, OPERATOR_ACCESS
from coder_stack.descriptors.descriptor import StackFacts, few
from coder_stack.operate.diagnosis.findings import Finding
from coder_stack.operate.diagnosis.kubernetes_causes import kubernetes_cause


def stack_facts(licensed: object, found: Iterable[Finding]) -> StackFacts:
    """Collect what the entitlements and all findings tell about the stack."""
    access = [each for each in found if each.type == OPERATOR_ACCESS.type]
    return StackFacts(
        licensed=licensed if isinstance(licensed, bool) else None,
        deployment_changed=any("deployment_id" in each.paths for each in access),
    )


def cause(finding: Finding, stack: StackFacts) -> str:
    """Say it in one sentence."""
    said = None
    descriptor = DESCRIPTORS.get(finding.type)
    if descriptor and descriptor.cause:
        said = descriptor.cause(finding.drift, stack)
    elif finding.type.startswith("kubernetes:"):
        said = kubernetes_cause(finding)
    said = said or _any_resource(finding)
    return said[0].upper() + said[1:]


def another_license(finding: Finding, stack: StackFacts) -> bool:
    """Tell whether ours is gone while coderd has another one."""
    ours_is_gone = (finding.type, finding.kind) == (LICENSE.type, "missing")
    return ours_is_gone and bool(stack.licensed)


def _any_resource(finding: Finding) -> str:
    thing = f"{finding.resource} `{finding.name}`"
    match finding.origin, finding.kind:
        case "refresh", "missing":
            return f"{thing} is gone."
        case "refresh", _:
            return f"{thing} was changed: {few(finding.paths)}."
        case _, "missing":
            return f"{thing} is declared, but was not created yet."
        case _, "unexpected":
            return f"{thing} is still there, but no longer declared."
        case _:
            return f"The program asks for another {thing}: {few(finding.paths)}."
