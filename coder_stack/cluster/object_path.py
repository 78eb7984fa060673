"""Paths of Kubernetes objects in the API server, from Pulumi's types. Pure.

The plural follows English, as it does for every kind that this program creates.
"""


def collection_path(type_: str, namespace: str | None) -> str:
    """Return the path of all objects of a type (`kubernetes:apps/v1:Deployment`)."""
    _, version, kind = type_.split(":")
    root = "/api" if version.startswith("core/") else "/apis"
    within = f"namespaces/{namespace}/" if namespace else ""
    plural = kind.lower() + ("es" if kind.endswith("s") else "s")
    if kind.endswith("y"):
        plural = f"{kind.lower()[:-1]}ies"
    return f"{root}/{version.removeprefix('core/')}/{within}{plural}"


def object_path(type_: str, namespace: str | None, name: str) -> str:
    """Return the path of one object."""
    return f"{collection_path(type_, namespace)}/{name}"
