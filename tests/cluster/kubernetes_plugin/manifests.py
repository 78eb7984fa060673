"""Builders for the objects that the tests apply."""

from typing import Any

from sandbox.kubernetes_plugin.values import Object


def metadata(namespace: str, name: str, **more: Any) -> Object:
    return {"name": name, "namespace": namespace, **more}


def config_map(namespace: str, name: str = "settings", **data: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(namespace, name),
        "data": data or {"a": "1"},
    }


def secret(namespace: str, name: str = "credentials", **string_data: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata(namespace, name),
        "stringData": string_data or {"key": "hunter2-secret"},
    }


def container(**more: Any) -> Object:
    fields: Object = {"name": "app", "image": "registry.example/app:1"}
    return {**fields, **more}


def deployment(
    namespace: str,
    name: str = "app",
    *,
    replicas: int = 1,
    labels: Object | None = None,
    pod: Object | None = None,
    annotations: Object | None = None,
    **container_fields: Any,
) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(namespace, name, labels=labels or {}, annotations=annotations or {}),
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [container(**container_fields)], **(pod or {})},
            },
        },
    }


def service(namespace: str, name: str = "web", **spec: Any) -> Object:
    fields: Object = {"ports": [{"name": "http", "port": 80, "targetPort": 8080}], **spec}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(namespace, name),
        "spec": fields,
    }
