"""The root of the config: everything under `coder-stack:` in a stack's config file."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, cast

from pydantic import Field

from coder_stack.settings.access import AccessSettings, LicenseSettings
from coder_stack.settings.clashes import Draft, clashes
from coder_stack.settings.control_plane import ControlPlaneSettings
from coder_stack.settings.drift import DriftSettings
from coder_stack.settings.organizations import OrganizationSettings
from coder_stack.settings.part import Clash, Part
from coder_stack.settings.provisioner import ProvisionerSettings
from coder_stack.settings.reconcile_job import ReconcileJobSettings
from coder_stack.settings.workspace_proxy import ProxySettings


class KubernetesSettings(Part):
    """Which cluster to deploy to."""

    kubeconfig: str | None = Field(
        default=None,
        min_length=1,
        description="Path of the kubeconfig, relative to the project. Default: as for kubectl.",
    )
    context: str | None = Field(
        default=None,
        min_length=1,
        description="Context in the kubeconfig. Default: the current one.",
    )


class Settings(Part):
    """Everything under `coder-stack:` in a stack's config file."""

    kubernetes: KubernetesSettings = Field(
        default=KubernetesSettings(), description="Which cluster to deploy to."
    )
    control_plane: ControlPlaneSettings = Field(
        default=ControlPlaneSettings(), description="coderd itself."
    )
    access: AccessSettings = Field(
        default=AccessSettings(), description="How Pulumi connects to coderd."
    )
    license: LicenseSettings = Field(default=LicenseSettings(), description="The license.")
    organizations: tuple[OrganizationSettings, ...] = Field(
        default=(), strict=False, description="Organizations."
    )
    provisioners: tuple[ProvisionerSettings, ...] = Field(
        default=(), strict=False, description="External provisioners."
    )
    proxies: tuple[ProxySettings, ...] = Field(
        default=(), strict=False, description="Workspace proxies."
    )
    drift: DriftSettings = Field(
        default=DriftSettings(), description="Rules for drift detection and repair."
    )
    reconcile_job: ReconcileJobSettings | None = Field(
        default=None, description="A CronJob that repairs drift. Default: none."
    )

    def clashes(self, invalid: Collection[str] = ()) -> Iterator[Clash]:
        """Check across the parts, for settings that are written as code."""
        fields = Settings.model_fields.items()
        given = {info.alias or name: getattr(self, name) for name, info in fields}
        return clashes(Draft(parts={path: part for path, _, part in parts_of(given)}))


_ONE: Mapping[str, type[Part]] = {
    "controlPlane": ControlPlaneSettings,
    "access": AccessSettings,
    "license": LicenseSettings,
}
_MANY: Mapping[str, type[Part]] = {
    "organizations": OrganizationSettings,
    "provisioners": ProvisionerSettings,
    "proxies": ProxySettings,
}


def parts_of(given: Mapping[str, Any]) -> Iterator[tuple[str, type[Part], Any]]:
    """Return path, model and value of each part that must fit the others, valid or not."""
    for name, model in _ONE.items():
        yield name, model, given.get(name, {})
    for name, model in _MANY.items():
        items: Any = given.get(name)
        listed = cast("Sequence[Any]", items) if isinstance(items, list | tuple) else ()
        for index, item in enumerate(listed):
            yield f"{name}[{index}]", model, item
