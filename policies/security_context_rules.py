"""Rules on what a container may do to its node: user, privileges, system calls, capabilities.

The same demands as Kubernetes' "restricted" pod security standard. Each is filled in where nobody
has said anything (remedies.py); what somebody said otherwise is a violation.
"""

from collections.abc import Iterator
from typing import Any

from pulumi_policy import EnforcementLevel, Severity

from pod_shapes import containers, has_pods, pod_spec
from reading import Fault, Node
from remedies import Draft, below, containers_in, fill
from rule import Case, resource_rule

__all__ = ["RULES"]

# The one capability that the standard lets a container add.
_MAY_ADD = ("NET_BIND_SERVICE",)


def _effective(case: Case, container: Node, field: str) -> Any:
    """The container's own word, else the pod's."""
    own = container.at("securityContext", field).value
    return own if own is not None else pod_spec(case.resource).at("securityContext", field).value


def _non_root(case: Case) -> Iterator[Fault]:
    for container in containers(case.resource, case.look):
        context = container["securityContext"]
        with case.look:
            if _effective(case, container, "runAsNonRoot") is not True:
                yield context["runAsNonRoot"].fault("must be true here or in the pod's context.")
        with case.look:
            if _effective(case, container, "runAsUser") == 0:
                yield context["runAsUser"].fault("must not be 0 (root).")


def _no_escalation(case: Case) -> Iterator[Fault]:
    for container in containers(case.resource, case.look):
        context = container["securityContext"]
        with case.look:
            if context["allowPrivilegeEscalation"].value is not False:
                yield context["allowPrivilegeEscalation"].fault("must be false.")
        with case.look:
            if context["privileged"].value is True:
                yield context["privileged"].fault("must not be true.")


def _seccomp(case: Case) -> Iterator[Fault]:
    for container in containers(case.resource, case.look):
        with case.look:
            own = container.at("securityContext", "seccompProfile", "type")
            pods = pod_spec(case.resource).at("securityContext", "seccompProfile", "type")
            if (own.text or pods.text) not in ("RuntimeDefault", "Localhost"):
                yield own.fault("must be RuntimeDefault or Localhost here or in the pod's context.")


def _capabilities(case: Case) -> Iterator[Fault]:
    for container in containers(case.resource, case.look):
        asked = container.at("securityContext", "capabilities")
        with case.look:
            if "ALL" not in [each.text for each in asked["drop"].each()]:
                yield asked["drop"].fault("must contain ALL.")
        for each in case.look.each(asked["add"]):
            with case.look:
                if each.text not in _MAY_ADD:
                    yield each.fault(f"must not be added; only {', '.join(_MAY_ADD)} is allowed.")


def _mend_user(draft: Draft) -> bool:
    return _fill_contexts(draft, "runAsNonRoot", value=True)


def _mend_seccomp(draft: Draft) -> bool:
    return _fill_contexts(draft, "seccompProfile", {"type": "RuntimeDefault"})


def _fill_contexts(draft: Draft, field: str, value: object) -> bool:
    """In each container that lacks it, unless the pod says it for all, or may say it."""
    pods = (draft.pod_spec or {}).get("securityContext", {})
    if not isinstance(pods, dict) or field in pods:
        return False
    contexts = [below(each, "securityContext", make=True) for each in containers_in(draft)]
    filled = [fill(context, field, value) for context in contexts]
    return any(filled)


def _mend_escalation(draft: Draft) -> bool:
    done = False
    for container in containers_in(draft):
        context = below(container, "securityContext", make=True)
        # The API server refuses both at once, and a privileged container is reported anyway.
        if context is not None and context.get("privileged") is not True:
            done |= fill(context, "allowPrivilegeEscalation", value=False)
    return done


def _mend_capabilities(draft: Draft) -> bool:
    done = False
    for container in containers_in(draft):
        asked = below(container, "securityContext", "capabilities", make=True)
        done |= fill(asked, "drop", ["ALL"])
    return done


RULES = (
    resource_rule(
        "run-as-non-root",
        "Containers do not run as root.",
        on=has_pods,
        check=_non_root,
        steps="Keep the default `securityContext`, or set `runAsNonRoot` and a `runAsUser`.",
        severity=Severity.HIGH,
        level=EnforcementLevel.REMEDIATE,
        remedy=_mend_user,
    ),
    resource_rule(
        "no-privilege-escalation",
        "Containers cannot gain privileges.",
        on=has_pods,
        check=_no_escalation,
        steps="Set `allowPrivilegeEscalation: false` and remove `privileged`.",
        severity=Severity.CRITICAL,
        level=EnforcementLevel.REMEDIATE,
        remedy=_mend_escalation,
    ),
    resource_rule(
        "seccomp-profile",
        "Containers have a seccomp profile.",
        on=has_pods,
        check=_seccomp,
        steps="Set `seccompProfile.type: RuntimeDefault`.",
        severity=Severity.MEDIUM,
        level=EnforcementLevel.REMEDIATE,
        remedy=_mend_seccomp,
    ),
    resource_rule(
        "capabilities-dropped",
        "Containers drop all capabilities.",
        on=has_pods,
        check=_capabilities,
        steps="Set `capabilities.drop: [ALL]`. Only NET_BIND_SERVICE may be added.",
        severity=Severity.HIGH,
        level=EnforcementLevel.REMEDIATE,
        remedy=_mend_capabilities,
    ),
)
