"""Which Kubernetes objects a config asks for by name, and whose Secrets it relies on.

Pure: enough to see before anything is created that two parts want the same object. The components
make these objects; a test holds the two lists together.
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
from coder_stack.settings.fleet import ProvisionerSettings, ProxySettings
from coder_stack.settings.workload import WorkloadSettings

__all__ = ["Claim", "borrowed_secrets", "claims"]

_RIGHTS = ("Role", "RoleBinding")


class Claim(NamedTuple):
    """One object, and the field that names it."""

    kind: str
    namespace: str
    name: str
    field: str


def claims(part: WorkloadSettings, namespace: str, unsure: Collection[str] = ()) -> Iterator[Claim]:
    """The objects that a part creates in its namespace and in those of its workspaces.

    Those named by a field in `unsure` are left out: what is wrong names nothing yet.
    """
    match part:
        case ControlPlaneSettings():
            if "name" not in unsure:
                kinds = ("ServiceAccount", "Deployment", "Service")
                yield from _named(kinds, namespace, part.name)
                # Made by operator access for the token that it makes.
                yield from _named(("Secret",), namespace, operator_secret_name(part.name))
                for place in (namespace, *part.workspace_namespaces):
                    yield from _named(_RIGHTS, place, workspace_role_name(part.name))
        case ProvisionerSettings():
            name = provisioner_name(part.name)
            yield from _named(("ServiceAccount", "Deployment"), namespace, name)
            for place in (namespace, *part.workspace_namespaces):
                yield from _named(_RIGHTS, place, name)
            if "key" not in unsure:
                secret = part.key.secret_name or provisioner_secret_name(part.name)
                field = "key.secretName" if part.key.secret_name else "name"
                yield Claim("Secret", namespace, secret, field)
        case ProxySettings():
            name = proxy_name(part.name)
            yield from _named(("ServiceAccount", "Deployment", "Service"), namespace, name)
            if "secretName" not in unsure:
                secret = part.secret_name or proxy_secret_name(part.name)
                field = "secretName" if part.secret_name else "name"
                yield Claim("Secret", namespace, secret, field)
        case _:
            raise TypeError(f"{type(part).__name__} is no part of a stack")


def borrowed_secrets(part: WorkloadSettings) -> Iterator[tuple[str, str]]:
    """Field and name of each Secret in the part's namespace that somebody else makes."""
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
