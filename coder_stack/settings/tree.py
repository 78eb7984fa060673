"""The root of the config: everything under `coder-stack:` in a stack's config file."""

from collections import Counter
from typing import Annotated

from pydantic import AfterValidator, Field

from coder_stack.settings.access import Access, License
from coder_stack.settings.control_plane import ControlPlane
from coder_stack.settings.drift import Drift
from coder_stack.settings.fleet import Provisioner, WorkspaceProxy
from coder_stack.settings.part import Part

__all__ = ["Kubernetes", "Settings"]


class Kubernetes(Part):
    """Which cluster to deploy to."""

    kubeconfig: str | None = Field(
        default=None,
        min_length=1,
        description="Path of a kubeconfig, relative to the project's folder. Default: as kubectl.",
    )
    context: str | None = Field(
        default=None,
        min_length=1,
        description="Context in that kubeconfig. Default: its current one.",
    )


def _distinct(parts: tuple[Provisioner, ...]) -> tuple[Provisioner, ...]:
    _refuse_repeated("name", [part.name for part in parts])
    exact = [
        f"{part.organization}/{(part.key.name or part.name).lower()}"
        for part in parts
        if part.key.exact_name
    ]
    _refuse_repeated("key.name with exactName in one organization", exact)
    return parts


def _distinct_proxies(parts: tuple[WorkspaceProxy, ...]) -> tuple[WorkspaceProxy, ...]:
    _refuse_repeated("name", [part.name for part in parts])
    return parts


def _refuse_repeated(what: str, names: list[str]) -> None:
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise ValueError(f"{what} must be unique; more than once: {', '.join(repeated)}")


class Settings(Part):
    """Everything under `coder-stack:` in a stack's config file."""

    kubernetes: Kubernetes = Field(default=Kubernetes(), description="Which cluster to deploy to.")
    control_plane: ControlPlane = Field(default=ControlPlane(), description="coderd itself.")
    access: Access = Field(default=Access(), description="How Pulumi reaches and enters coderd.")
    license: License = Field(default=License(), description="The license.")
    provisioners: Annotated[tuple[Provisioner, ...], AfterValidator(_distinct)] = Field(
        default=(), strict=False, description="External provisioners."
    )
    proxies: Annotated[tuple[WorkspaceProxy, ...], AfterValidator(_distinct_proxies)] = Field(
        default=(), strict=False, description="Workspace proxies."
    )
    drift: Drift = Field(default=Drift(), description="Rules for finding and repairing drift.")
