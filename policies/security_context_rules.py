"""Rules on security contexts: user, privileges, system calls, capabilities.

They require what Kubernetes' "restricted" pod security standard does. Missing values are set
(remediation.py); other values are violations.
"""

from collections.abc import Iterator
from typing import Any

from pulumi_policy import EnforcementLevel, Severity

from pod_specs import containers, has_pods, pod_spec
from properties import Property, Violation
from remediation import EditableInputs, containers_of, mapping_at, set_default
from rule import Case, resource_rule

# The standard allows this capability.
_MAY_ADD = ("NET_BIND_SERVICE",)


def _effective(case: Case, container: Property, field: str) -> Any:
    """Return the container's value, else the pod's."""
    own = container.at("securityContext", field).value
    return own if own is not None else pod_spec(case.resource).at("securityContext", field).value


def _non_root(case: Case) -> Iterator[Violation]:
    for container in containers(case.resource, case.known):
        context = container["securityContext"]
        with case.known:
            if _effective(case, container, "runAsNonRoot") is not True:
                yield context["runAsNonRoot"].violation(
                    "must be true here or in the pod's context."
                )
        with case.known:
            if _effective(case, container, "runAsUser") == 0:
                yield context["runAsUser"].violation("must not be 0 (root).")


def _no_escalation(case: Case) -> Iterator[Violation]:
    for container in containers(case.resource, case.known):
        context = container["securityContext"]
        with case.known:
            if context["allowPrivilegeEscalation"].value is not False:
                yield context["allowPrivilegeEscalation"].violation("must be false.")
        with case.known:
            if context["privileged"].value is True:
                yield context["privileged"].violation("must not be true.")


def _seccomp(case: Case) -> Iterator[Violation]:
    for container in containers(case.resource, case.known):
        with case.known:
            own = container.at("securityContext", "seccompProfile", "type")
            pods = pod_spec(case.resource).at("securityContext", "seccompProfile", "type")
            if (own.text or pods.text) not in ("RuntimeDefault", "Localhost"):
                yield own.violation(
                    "must be RuntimeDefault or Localhost here or in the pod's context."
                )


def _capabilities(case: Case) -> Iterator[Violation]:
    for container in containers(case.resource, case.known):
        asked = container.at("securityContext", "capabilities")
        with case.known:
            if "ALL" not in [each.text for each in asked["drop"].each()]:
                yield asked["drop"].violation("must contain ALL.")
        for each in case.known.each(asked["add"]):
            with case.known:
                if each.text not in _MAY_ADD:
                    yield each.violation(
                        f"must not be added; only {', '.join(_MAY_ADD)} is allowed."
                    )


def _remediate_user(inputs: EditableInputs) -> bool:
    return _fill_contexts(inputs, "runAsNonRoot", value=True)


def _remediate_seccomp(inputs: EditableInputs) -> bool:
    return _fill_contexts(inputs, "seccompProfile", {"type": "RuntimeDefault"})


def _fill_contexts(inputs: EditableInputs, field: str, value: object) -> bool:
    """Set it in each container, unless the pod's context sets it or is unknown."""
    pods = (inputs.pod_spec or {}).get("securityContext", {})
    if not isinstance(pods, dict) or field in pods:
        return False
    contexts = [mapping_at(each, "securityContext", make=True) for each in containers_of(inputs)]
    filled = [set_default(context, field, value) for context in contexts]
    return any(filled)


def _remediate_escalation(inputs: EditableInputs) -> bool:
    done = False
    for container in containers_of(inputs):
        context = mapping_at(container, "securityContext", make=True)
        # The API server refuses both at once, and a privileged container is reported anyway.
        if context is not None and context.get("privileged") is not True:
            done |= set_default(context, "allowPrivilegeEscalation", value=False)
    return done


def _remediate_capabilities(inputs: EditableInputs) -> bool:
    done = False
    for container in containers_of(inputs):
        asked = mapping_at(container, "securityContext", "capabilities", make=True)
        done |= set_default(asked, "drop", ["ALL"])
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
        remediation=_remediate_user,
    ),
    resource_rule(
        "no-privilege-escalation",
        "Containers cannot gain privileges.",
        on=has_pods,
        check=_no_escalation,
        steps="Set `allowPrivilegeEscalation: false` and remove `privileged`.",
        severity=Severity.CRITICAL,
        level=EnforcementLevel.REMEDIATE,
        remediation=_remediate_escalation,
    ),
    resource_rule(
        "seccomp-profile",
        "Containers have a seccomp profile.",
        on=has_pods,
        check=_seccomp,
        steps="Set `seccompProfile.type: RuntimeDefault`.",
        severity=Severity.MEDIUM,
        level=EnforcementLevel.REMEDIATE,
        remediation=_remediate_seccomp,
    ),
    resource_rule(
        "capabilities-dropped",
        "Containers drop all capabilities.",
        on=has_pods,
        check=_capabilities,
        steps="Set `capabilities.drop: [ALL]`. Only NET_BIND_SERVICE may be added.",
        severity=Severity.HIGH,
        level=EnforcementLevel.REMEDIATE,
        remediation=_remediate_capabilities,
    ),
)
