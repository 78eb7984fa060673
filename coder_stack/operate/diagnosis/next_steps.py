"""What to do about a finding, a refused repair or a condition: a sentence and a command (R2). Pure.

Errors know their own next step (engine/errors.py). The remedy of a reason is in explanations.py.
"""

from collections.abc import Mapping

from coder_stack.descriptors import ENTITLEMENTS, OPERATOR_ACCESS, PROVISIONER_KEY, SECRET_VALUE
from coder_stack.explanations import EXPLANATIONS, REPAIR, UP
from coder_stack.operate.diagnosis.findings import Finding
from coder_stack.operate.diagnosis.kubernetes_causes import is_lost_database
from coder_stack.operate.report.model import NextStep
from coder_stack.operate.report.sentences import sentence


def for_finding(finding: Finding, stack: str) -> NextStep:
    """Return what repairs it; a repair by reconcile stays within its limits."""
    if finding.type == ENTITLEMENTS.type and finding.kind == "unknown":
        return for_reason(str(finding.actual.get("reason") or ""), stack)
    if finding.origin == "refresh":
        return _of_drift(finding, stack)
    match finding.kind:
        case "missing":
            return _step("Create it.", UP, stack)
        case "unexpected":
            return _step("Delete it, or declare it again in the config.", UP, stack)
        case _ if finding.type == PROVISIONER_KEY.type and "issued_on" in finding.paths:
            return _step("Rotate it.", REPAIR, stack)
        case _:
            return _step("Apply the config.", UP, stack)


def _of_drift(finding: Finding, stack: str) -> NextStep:
    if finding.type == OPERATOR_ACCESS.type and not finding.declared.get("make_token"):
        command = "pulumi config set --secret token --stack {stack}"
        return _step("Give another token of an owner, then run an update.", command, stack)
    if is_lost_database(finding.type, finding.kind, finding.origin):
        text = "Restore a backup first (docs/database.md): an update creates an empty database."
        return _step(text, UP, stack)
    if finding.type == SECRET_VALUE.type:
        return _step("Apply the new value.", UP, stack)
    may_be_declared = finding.kind == "changed" and not any(p.secret for p in finding.properties)
    instead = ", or declare the change in the config" if may_be_declared else ""
    return _step(f"Repair it{instead}.", REPAIR, stack)


def for_reason(reason: str, stack: str) -> NextStep:
    """Return the remedy of a reason."""
    known = EXPLANATIONS.get(reason)
    remedy = known.remedy if known and known.remedy else "see the message"
    command = known.command if known and known.command else "coder-stack drift --stack {stack}"
    return _step(sentence(remedy), command, stack)


def for_what_was_found(stack: str) -> NextStep:
    """Return what to do about an error whose cause may be among the findings."""
    return _step("Repair what was found; then the rest can be checked.", REPAIR, stack)


def for_refusal(exceeded: Mapping[str, int], stack: str) -> NextStep:
    """Return the command that allows it; `exceeded` maps a verb to the number it needs."""
    options = "".join(f" --max-{verb}s {number}" for verb, number in exceeded.items())
    text = "Look at the plan (`pulumi preview --refresh --run-program --diff`), then allow it."
    return _step(text, REPAIR + options, stack)


def _step(text: str, command: str, stack: str) -> NextStep:
    return NextStep(text=text, command=command.format(stack=stack))
