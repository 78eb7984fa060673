"""Names of Kubernetes objects that a config creates, and of Secrets that it refers to. Pure.

Used to find two parts that create the same object. A test compares them with what the components
create.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from coder_stack.naming import (
    operator_secret_name,
    provisioner_name,
    provisioner_secret_name,
    proxy_name,
    proxy_secret_name,
    workspace_role_name,
)
from coder_stack.settings.control_plane import ControlPlaneSettings
from coder_stack.settings.provisioner import ProvisionerSettings
from coder_stack.settings.workload import WorkloadSettings
from coder_stack.settings.workspace_proxy import ProxySettings

_PERMISSIONS = ("Role", "RoleBinding")


class Claim(NamedTuple):
    """An object that a part creates, and the field that names it."""

    kind: str
    namespace: str
    name: str
    field: str


def claims(
    part: WorkloadSettings, namespace: str, invalid: Collection[str] = ()
) -> Iterator[Claim]:
    """Return the objects that a part creates in its namespace and in those of its workspaces.

    Omit objects whose names come from a field in `invalid`.
    """
    match part:
        case ControlPlaneSettings():
            if "name" not in invalid:
                kinds = ("ServiceAccount", "Deployment", "Service")
                yield from _named(kinds, namespace, part.name)
                # Created by operator access for its token.
                yield from _named(("Secret",), namespace, operator_secret_name(part.name))
                for each in (namespace, *part.workspace_namespaces):
                    yield from _named(_PERMISSIONS, each, workspace_role_name(part.name))
        case ProvisionerSettings():
            name = provisioner_name(part.name)
            yield from _named(("ServiceAccount", "Deployment"), namespace, name)
            for each in (namespace, *part.workspace_namespaces):
                yield from _named(_PERMISSIONS, each, name)
            if "key" not in invalid:
                secret = part.key.secret_name or provisioner_secret_name(part.name)
                field = "key.secretName" if part.key.secret_name else "name"
                yield Claim("Secret", namespace, secret, field)
        case ProxySettings():
            name = proxy_name(part.name)
            yield from _named(("ServiceAccount", "Deployment", "Service"), namespace, name)
            if "secretName" not in invalid:
                secret = part.secret_name or proxy_secret_name(part.name)
                field = "secretName" if part.secret_name else "name"
                yield Claim("Secret", namespace, secret, field)
        case _:
            raise TypeError(f"{type(part).__name__} is no part of a stack")


def referenced_secrets(part: WorkloadSettings) -> Iterator[tuple[str, str]]:
    """Return field and name of each existing Secret that the part refers to."""
    for name, ref in part.secret_env.items():
        yield f"secretEnv.{name}", ref.name
    for index, ref in enumerate(part.ca_bundles):
        yield f"caBundles[{index}]", ref.name
    image = (
        part.image
        if isinstance(part, ControlPlaneSettings | ProvisionerSettings | ProxySettings)
        else None
    )
    for index, name in enumerate(image.pull_secrets if image else ()):
        yield f"image.pullSecrets[{index}]", name
    if not isinstance(part, ControlPlaneSettings):
        return
    if part.database:
        yield "database.secretName", part.database.secret_name
    for index, name in enumerate(part.tls.secret_names if part.tls else ()):
        yield f"tls.secretNames[{index}]", name
    if part.ingress:
        for field, name in (
            ("tlsSecretName", part.ingress.tls_secret_name),
            ("wildcardTlsSecretName", part.ingress.wildcard_tls_secret_name),
        ):
            if name:
                yield f"ingress.{field}", name


def _named(kinds: Collection[str], namespace: str, name: str) -> Iterator[Claim]:
    return (Claim(kind, namespace, name, "name") for kind in kinds)
