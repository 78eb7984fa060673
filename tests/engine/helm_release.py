"""Objects with the names and labels of a release of Coder's Helm chart, made by hand."""

from dataclasses import dataclass
from typing import Any

from tests.engine_project import Project

_LABELS = {
    "app.kubernetes.io/name": "coder",
    "app.kubernetes.io/instance": "coder",
    "app.kubernetes.io/part-of": "coder",
    "app.kubernetes.io/version": "2.30.0",
    "app.kubernetes.io/managed-by": "Helm",
    "helm.sh/chart": "coder-2.30.0",
}
_SELECTOR = {"app.kubernetes.io/name": "coder", "app.kubernetes.io/instance": "coder"}
_POD = {
    "serviceAccountName": "coder",
    "containers": [
        {
            "name": "coder",
            "image": "ghcr.io/coder/coder:v2.30.0",
            "args": ["server"],
            "env": [{"name": "CODER_HTTP_ADDRESS", "value": "0.0.0.0:8080"}],
        }
    ],
}
_OBJECTS: dict[str, tuple[str, dict[str, Any]]] = {
    "serviceaccounts": ("coder", {}),
    "roles": (
        "coder-workspace-perms",
        {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["*"]}]},
    ),
    "rolebindings": (
        "coder",
        {
            "subjects": [{"kind": "ServiceAccount", "name": "coder"}],
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "Role",
                "name": "coder-workspace-perms",
            },
        },
    ),
    "services": (
        "coder",
        {"spec": {"selector": _SELECTOR, "ports": [{"port": 80, "targetPort": 8080}]}},
    ),
    "deployments": (
        "coder",
        {
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": _SELECTOR},
                "template": {"metadata": {"labels": _LABELS}, "spec": _POD},
            }
        },
    ),
    "secrets": ("sh.helm.release.v1.coder.v1", {"type": "helm.sh/release.v1"}),
}


@dataclass(frozen=True)
class Release:
    """The release `coder` in the namespace of a test."""

    project: Project

    def install(self) -> None:
        """Create its namespace and objects."""
        home = self.project.namespace
        self.project.cluster.create("/api/v1/namespaces", {"metadata": {"name": home}})
        annotations = {
            "meta.helm.sh/release-name": "coder",
            "meta.helm.sh/release-namespace": home,
        }
        for kind, (name, body) in _OBJECTS.items():
            metadata = {"name": name, "labels": _LABELS, "annotations": annotations}
            self.project.cluster.create(self.project.path(kind), {"metadata": metadata, **body})

    def seen(self) -> dict[str, Any]:
        """Return what anybody else than the cluster's own controllers could have changed."""
        objects: dict[str, Any] = {}
        for kind, (name, _) in _OBJECTS.items():
            found = self.project.cluster.get(self.project.path(kind, name))
            assert found is not None, f"{kind} {name} is gone"
            metadata = found["metadata"]
            objects[kind] = {
                "metadata": {
                    key: metadata.get(key)
                    for key in ("uid", "generation", "labels", "ownerReferences", "finalizers")
                },
                # The controller of Deployments counts its revisions there.
                "annotations": {
                    key: value
                    for key, value in metadata["annotations"].items()
                    if not key.startswith("deployment.kubernetes.io/")
                },
                **{k: v for k, v in found.items() if k not in ("metadata", "status")},
            }
        return objects
