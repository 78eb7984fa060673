"""Resources that comply with every rule, of this program and of others."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.unit.policies.judge import CODER, Res

LABELS = {
    "app.kubernetes.io/name": "coder",
    "app.kubernetes.io/instance": "coder",
    "app.kubernetes.io/part-of": "coder",
    "app.kubernetes.io/managed-by": "pulumi",
}
KEY_SECRET = "gpu-provisioner-key"
PROVISIONER = ("coder-stack:index:CoderStack", "coder-stack:index:Provisioner")
_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]


def metadata(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "namespace": "coder", "labels": dict(LABELS), **more}


def container(*args: str, **more: Any) -> dict[str, Any]:
    return {
        "name": "coder",
        "image": "ghcr.io/coder/coder:v2.30.0",
        "command": ["/opt/coder"],
        "args": list(args or ("server",)),
        "ports": [{"name": "http", "containerPort": 8080}],
        "env": [
            {"name": "CODER_ACCESS_URL", "value": "https://coder.example.com"},
            {
                "name": "CODER_PG_CONNECTION_URL",
                "valueFrom": {"secretKeyRef": {"name": "database", "key": "url"}},
            },
        ],
        "resources": {
            "requests": {"cpu": "500m", "memory": "1Gi"},
            "limits": {"memory": "4Gi"},
        },
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": "http"}},
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 1000,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        **more,
    }


def deployment(*containers: dict[str, Any], replicas: int = 1, name: str = "coder") -> Res:
    return Res(
        "kubernetes:apps/v1:Deployment",
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata(name, annotations={"note": "none"}),
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": dict(LABELS)},
                "template": {
                    "metadata": {
                        "labels": dict(LABELS),
                        "annotations": {"checksum/secret": "0f" * 32},
                    },
                    "spec": {
                        "containers": list(containers) or [container()],
                        "volumes": [{"name": "cache", "emptyDir": {}}],
                    },
                },
            },
        },
    )


def daemons(replicas: int = 1) -> Res:
    env = [
        {"name": "CODER_URL", "value": "http://coder.coder.svc.cluster.local:80"},
        {
            "name": "CODER_PROVISIONER_DAEMON_KEY",
            "valueFrom": {"secretKeyRef": {"name": KEY_SECRET, "key": "key"}},
        },
    ]
    one = container("provisionerd", "start", env=env)
    del one["ports"], one["readinessProbe"]
    made = deployment(one, replicas=replicas, name="gpu-provisioner")
    made.parents = PROVISIONER
    return made


def cluster_object(type_: str, **props: Any) -> Res:
    return Res(f"kubernetes:{type_}", {"metadata": metadata("it"), **props})


def role(*rules: dict[str, Any]) -> Res:
    own = {"apiGroups": [""], "resources": ["pods"], "verbs": _VERBS}
    made = cluster_object("rbac.authorization.k8s.io/v1:Role", rules=list(rules) or [own])
    made.parents = PROVISIONER
    return made


def key(name: str = "gpu", **more: Any) -> Res:
    return Res(
        f"{CODER}ProvisionerKey",
        {
            "connection": {"url": "https://coder.example.com"},
            "organization": "coder",
            "base_name": name,
            "exact_name": False,
            "tags": {"pool": name},
            "rotate_after_days": 30.0,
            "issued_on": datetime.now(UTC).date().isoformat(),
            "enabled": True,
            **more,
        },
        PROVISIONER,
        ("material", "token"),
    )


def key_secret(of: str = "key") -> Res:
    made = cluster_object("core/v1:Secret", data={"key": "c2VjcmV0"})
    made.props["metadata"]["name"] = KEY_SECRET
    made.property_dependencies = {"data": [of]}
    return made


def license_(days: int = 200, jwt: str = "eyJhbGciOiJF.eyJqdGkiOiIx.c2lnbmF0dXJl") -> Res:
    ends = datetime.now(UTC) + timedelta(days=days)
    props = {
        "connection": {"url": "https://coder.example.com"},
        "jwt": jwt,
        "license_expires": ends.isoformat(timespec="seconds"),
    }
    return Res(f"{CODER}License", props, ("coder-stack:index:Operator",), ("jwt", "token"))


def entitlements(**features: str) -> Res:
    found = {name: {"entitlement": how, "enabled": True} for name, how in features.items()}
    return Res(
        f"{CODER}Entitlements",
        {
            "connection": {"url": "https://coder.example.com"},
            "tier": "premium",
            "features": found,
        },
        ("coder-stack:index:Operator",),
        ("token",),
    )


def operator_access(version: str = "v2.30.0+abc1234") -> Res:
    props = {"connection": {"url": "https://coder.example.com"}, "version": version}
    return Res(f"{CODER}OperatorAccess", props, ("coder-stack:index:Operator",))


def budget() -> Res:
    return cluster_object(
        "policy/v1:PodDisruptionBudget",
        spec={
            "maxUnavailable": 1,
            "selector": {"matchLabels": {"app.kubernetes.io/name": "coder"}},
        },
    )


def network_policy() -> Res:
    return cluster_object("networking.k8s.io/v1:NetworkPolicy", spec={"podSelector": {}})
