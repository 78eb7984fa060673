"""For each rule: resources that comply, and changes that violate it, remove or hide a value.

test_rules.py checks each row.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.unit.policies import compliant
from tests.unit.policies.judge import MISSING, UNKNOWN, Changes, Res, Resources

SPEC = "it/spec.template.spec"
BOX = f"{SPEC}.containers[0]"
SECRET = "correct-horse-battery"
JWT = "eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiI0MiJ9.c2lnbmF0dXJlLW9m"


@dataclass(frozen=True)
class Row:
    """One rule. `…_at`: where violations are reported; by default, every changed property."""

    passes: Resources
    violates: Changes | Resources
    missing: Changes
    unknown: Changes
    violates_at: set[str] | None = None
    missing_at: set[str] = field(default_factory=set[str])
    """Empty if a missing value is no violation."""
    reads_unknown: bool = True
    """False if the rule reads no property, so that no value can be unknown to it."""
    options: Mapping[str, Any] | None = None


def it(res: Res) -> Resources:
    return {"it": res}


COMPONENTLESS = compliant.deployment()
COMPONENTLESS.parents = ()
UNDECLARED = compliant.key()
UNDECLARED.secret_outputs = ("token",)
LICENSED = compliant.entitlements(
    high_availability="entitled", external_provisioner_daemons="grace_period"
)

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

SECRETS = {
    "no-secret-in-env": Row(
        it(compliant.deployment()),
        violates={f"{BOX}.env[0]": {"name": "CODER_OIDC_CLIENT_SECRET", "value": SECRET}},
        violates_at={f"{BOX}.env[0].value"},
        missing={f"{BOX}.env": MISSING},
        unknown={f"{BOX}.env[0].value": UNKNOWN},
    ),
    "no-secret-in-args": Row(
        it(compliant.deployment()),
        violates={f"{BOX}.args": ["server", f"--oauth2-github-client-secret={SECRET}"]},
        violates_at={f"{BOX}.args[1]"},
        missing={f"{BOX}.args": MISSING},
        unknown={f"{BOX}.args[0]": UNKNOWN},
    ),
    "no-secret-in-config-map": Row(
        it(compliant.cluster_object("core/v1:ConfigMap", data={"motd": "hello"})),
        violates={"it/data.token": SECRET, "it/data.<config.yaml>": f"auth: {JWT}\n"},
        violates_at={"it/data.token", "it/data.config.yaml"},
        missing={"it/data": MISSING},
        unknown={"it/data.motd": UNKNOWN},
    ),
    "no-secret-in-metadata": Row(
        it(compliant.deployment()),
        violates={
            "it/metadata.annotations.<example.com/api-token>": SECRET,
            "it/spec.template.metadata.annotations.note": JWT,
        },
        violates_at={
            "it/metadata.annotations.example.com/api-token",
            "it/spec.template.metadata.annotations.note",
        },
        missing={"it/metadata": MISSING, "it/spec.template.metadata": MISSING},
        unknown={"it/metadata.annotations.note": UNKNOWN},
    ),
    "own-secret-by-key": Row(
        {"it": compliant.daemons(), "secret": compliant.key_secret(), "key": compliant.key()},
        violates={
            f"{BOX}.envFrom": [{"secretRef": {"name": "gpu-provisioner-key"}}],
            f"{SPEC}.volumes[0].secret": {"secretName": "gpu-provisioner-key"},
        },
        violates_at={
            f"{BOX}.envFrom[0].secretRef.name",
            f"{SPEC}.volumes[0].secret.secretName",
        },
        missing={"secret/metadata": MISSING, f"{SPEC}.volumes": MISSING},
        unknown={f"{SPEC}.volumes": UNKNOWN},
    ),
    "secret-outputs-declared": Row(
        it(compliant.key()),
        violates=it(UNDECLARED),
        violates_at={"it/material"},
        missing={"it/connection": MISSING},
        unknown={"it/organization": UNKNOWN},
        reads_unknown=False,
    ),
}

ACCESS = {
    "coderd-over-https": Row(
        {"it": compliant.deployment(), "key": compliant.key()},
        violates={
            f"{BOX}.env[0].value": "http://coder.example.com",
            "key/connection.url": "http://192.0.2.7:3000",
        },
        missing={f"{BOX}.env[0].value": MISSING, "key/connection": MISSING},
        unknown={"key/connection.url": UNKNOWN},
    ),
    "no-wildcard-rbac": Row(
        it(compliant.role()),
        violates={"it/rules[0].verbs": ["get", "*"], "it/rules[0].resources": ["*"]},
        violates_at={"it/rules[0].verbs[1]", "it/rules[0].resources[0]"},
        missing={"it/rules": MISSING},
        unknown={"it/rules[0].verbs": UNKNOWN},
    ),
    "provisioner-rights": Row(
        it(compliant.role()),
        violates={"it/rules[0].resources": ["pods", "secrets"], "it/rules[0].verbs": ["bind"]},
        violates_at={"it/rules[0].resources[1]", "it/rules[0].verbs[0]"},
        missing={"it/rules": MISSING},
        unknown={"it/rules[0].resources[0]": UNKNOWN},
    ),
    "network-policy": Row(
        {"it": compliant.deployment(), "policy": compliant.network_policy()},
        violates={"policy/metadata.namespace": "elsewhere"},
        violates_at={"it/metadata.namespace"},
        missing={"policy/metadata.namespace": MISSING},
        missing_at={"it/metadata.namespace"},
        unknown={"it/metadata.namespace": UNKNOWN},
    ),
}

LICENSING = {
    "features-entitled": Row(
        {"it": compliant.deployment(replicas=2), "key": compliant.key(), "seen": LICENSED},
        violates={
            "seen/features.high_availability.entitlement": "not_entitled",
            "seen/features.external_provisioner_daemons.entitlement": "not_entitled",
        },
        violates_at={"it/spec.replicas", "key/enabled"},
        missing={"seen/features": MISSING},
        missing_at={"it/spec.replicas", "key/enabled"},
        unknown={"seen/tier": UNKNOWN, "seen/features": UNKNOWN},
    ),
    "license-expiry": Row(
        it(compliant.license_()),
        violates=it(compliant.license_(days=10)),
        violates_at={"it/license_expires"},
        missing={"it/license_expires": MISSING},
        unknown={"it/license_expires": UNKNOWN},
    ),
    "license-owner": Row(
        {"first": compliant.license_(), "it": compliant.license_(jwt=JWT)},
        violates={"it/jwt": f"{compliant.license_().props['jwt']}\n"},
        missing={"it/jwt": MISSING, "first/jwt": MISSING},
        unknown={"it/jwt": UNKNOWN},
    ),
}

VERSIONS = {
    "coder-image-version": Row(
        it(compliant.deployment()),
        violates={f"{BOX}.image": "ghcr.io/coder/coder:v9.8.7"},
        missing={f"{BOX}.image": MISSING},
        unknown={f"{BOX}.image": UNKNOWN},
    ),
    "coder-version": Row(
        it(compliant.operator_access()),
        violates={"it/version": "v2.19.3+abc1234"},
        missing={"it/version": MISSING},
        unknown={"it/version": UNKNOWN},
    ),
}

KEYS = {
    "key-name": Row(
        it(compliant.key()),
        violates={"it/base_name": "team/gpu-large"},
        missing={"it/base_name": MISSING},
        missing_at={"it/base_name"},
        unknown={"it/base_name": UNKNOWN},
    ),
    "key-name-unique": Row(
        {"first": compliant.key("gpu"), "it": compliant.key("cpu")},
        violates={"it/base_name": "GPU"},
        missing={"it/base_name": MISSING, "first/base_name": MISSING},
        unknown={"it/base_name": UNKNOWN},
    ),
    "key-tags": Row(
        {"first": compliant.key("gpu", tags={}), "it": compliant.key("cpu")},
        violates={"it/tags": {}},
        missing={"it/tags": MISSING},
        missing_at={"it/tags"},
        unknown={"it/tags": UNKNOWN},
    ),
    "key-age": Row(
        it(compliant.key()),
        violates={"it/rotate_after_days": 400.0, "it/issued_on": "2020-01-01"},
        missing={"it/rotate_after_days": MISSING, "it/issued_on": MISSING},
        missing_at={"it/rotate_after_days"},
        unknown={"it/issued_on": UNKNOWN},
    ),
    "key-exact-name": Row(
        {
            "it": compliant.daemons(replicas=2),
            "secret": compliant.key_secret(),
            "key": compliant.key(),
        },
        violates={"key/exact_name": True},
        missing={"key/exact_name": MISSING},
        unknown={"key/exact_name": UNKNOWN},
    ),
    "key-identity": Row(
        it(compliant.daemons()),
        violates={
            f"{BOX}.env[0]": {"name": "CODER_ORGANIZATION", "value": "platform-team"},
            f"{BOX}.args": ["provisionerd", "start", "--tag=pool=gpu-large"],
        },
        violates_at={f"{BOX}.env[0].name", f"{BOX}.args[2]"},
        missing={f"{BOX}.env": MISSING, f"{BOX}.args": MISSING},
        unknown={f"{BOX}.args[0]": UNKNOWN},
    ),
}

OWNERSHIP = {
    "labels": Row(
        it(compliant.cluster_object("core/v1:Service")),
        violates={"it/metadata.labels.<app.kubernetes.io/part-of>": ""},
        violates_at={"it/metadata.labels.app.kubernetes.io/part-of"},
        missing={"it/metadata": MISSING},
        missing_at={
            "it/metadata.labels.app.kubernetes.io/part-of",
            "it/metadata.labels.app.kubernetes.io/managed-by",
        },
        unknown={"it/metadata.labels": UNKNOWN},
    ),
    "child-of-component": Row(
        it(compliant.deployment()),
        violates=it(COMPONENTLESS),
        violates_at={"it/parent"},
        missing={"it/metadata": MISSING},
        unknown={"it/metadata": UNKNOWN},
        reads_unknown=False,
    ),
}

TABLE: Mapping[str, Row] = {
    **WORKLOAD,
    **SECRETS,
    **ACCESS,
    **LICENSING,
    **VERSIONS,
    **KEYS,
    **OWNERSHIP,
}
