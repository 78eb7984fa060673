"""Rules about what pods run, and how."""

from tests.unit.policies import compliant
from tests.unit.policies.cases.row import BOX, SPEC, Row, it
from tests.unit.policies.judge import MISSING, UNKNOWN

WORKLOAD = {
    "image-pinned": Row(
        it(compliant.deployment()),
        violates={f"{BOX}.image": "ghcr.io/coder/coder:latest"},
        missing={f"{BOX}.image": MISSING},
        missing_at={f"{BOX}.image"},
        unknown={f"{BOX}.image": UNKNOWN},
    ),
    "image-registry": Row(
        it(compliant.deployment()),
        violates={f"{BOX}.image": "ghcr.io/coders/coder:v2.30.0"},
        missing={f"{BOX}.image": MISSING},
        unknown={f"{BOX}.image": UNKNOWN},
        options={"registries": ["ghcr.io/coder", "registry.example.com"]},
    ),
    "run-as-non-root": Row(
        it(compliant.deployment()),
        violates={
            f"{BOX}.securityContext.runAsNonRoot": False,
            f"{BOX}.securityContext.runAsUser": 0.0,
        },
        missing={f"{BOX}.securityContext": MISSING},
        missing_at={f"{BOX}.securityContext.runAsNonRoot"},
        unknown={f"{BOX}.securityContext": UNKNOWN},
    ),
    "no-privilege-escalation": Row(
        it(compliant.deployment()),
        violates={
            f"{BOX}.securityContext.allowPrivilegeEscalation": True,
            f"{BOX}.securityContext.privileged": True,
        },
        missing={f"{BOX}.securityContext": MISSING},
        missing_at={f"{BOX}.securityContext.allowPrivilegeEscalation"},
        unknown={f"{BOX}.securityContext.allowPrivilegeEscalation": UNKNOWN},
    ),
    "seccomp-profile": Row(
        it(compliant.deployment()),
        violates={f"{BOX}.securityContext.seccompProfile.type": "Unconfined"},
        missing={f"{BOX}.securityContext.seccompProfile": MISSING},
        missing_at={f"{BOX}.securityContext.seccompProfile.type"},
        unknown={f"{BOX}.securityContext.seccompProfile.type": UNKNOWN},
    ),
    "capabilities-dropped": Row(
        it(compliant.deployment()),
        violates={
            f"{BOX}.securityContext.capabilities": {"drop": ["KILL"], "add": ["NET_ADMIN"]},
        },
        violates_at={
            f"{BOX}.securityContext.capabilities.drop",
            f"{BOX}.securityContext.capabilities.add[0]",
        },
        missing={f"{BOX}.securityContext.capabilities": MISSING},
        missing_at={f"{BOX}.securityContext.capabilities.drop"},
        unknown={f"{BOX}.securityContext.capabilities.drop[0]": UNKNOWN},
    ),
    "resources-set": Row(
        it(compliant.deployment()),
        violates={f"{BOX}.resources": {"requests": {"cpu": "1"}}},
        violates_at={f"{BOX}.resources.requests.memory", f"{BOX}.resources.limits.memory"},
        missing={f"{BOX}.resources": MISSING},
        missing_at={
            f"{BOX}.resources.requests.cpu",
            f"{BOX}.resources.requests.memory",
            f"{BOX}.resources.limits.memory",
        },
        unknown={f"{BOX}.resources.limits.memory": UNKNOWN},
    ),
    "readiness-probe": Row(
        it(compliant.deployment()),
        violates={f"{BOX}.readinessProbe": None},
        missing={f"{BOX}.readinessProbe": MISSING},
        missing_at={f"{BOX}.readinessProbe"},
        unknown={f"{BOX}.readinessProbe": UNKNOWN},
    ),
    "no-host-access": Row(
        it(compliant.deployment()),
        violates={
            f"{SPEC}.hostNetwork": True,
            f"{SPEC}.volumes[0].hostPath": {"path": "/var/run"},
            f"{BOX}.ports[0].hostPort": 8080.0,
        },
        missing={f"{SPEC}.volumes": MISSING, f"{BOX}.ports": MISSING},
        unknown={f"{SPEC}.volumes": UNKNOWN},
    ),
    "disruption-budget": Row(
        {"it": compliant.deployment(replicas=3), "budget": compliant.budget()},
        violates={"budget/spec.selector.matchLabels": {"app": "somebody-else"}},
        violates_at={"it/spec.replicas"},
        missing={"budget/spec.selector": MISSING},
        missing_at={"it/spec.replicas"},
        unknown={"it/spec.replicas": UNKNOWN},
    ),
}
