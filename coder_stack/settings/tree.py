"""The root of the config: everything under `coder-stack:` in a stack's config file."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, cast

from pydantic import Field

from coder_stack.coderd.connection import direct_url
from coder_stack.settings.access import AccessSettings, LicenseSettings
from coder_stack.settings.clashes import Draft, clashes
from coder_stack.settings.control_plane import ControlPlaneSettings
from coder_stack.settings.drift import DriftSettings
from coder_stack.settings.kubernetes import KubernetesSettings
from coder_stack.settings.notify import NotifySettings, WatchSettings
from coder_stack.settings.organizations import OrganizationSettings
from coder_stack.settings.part import Clash, Label, Part
from coder_stack.settings.provisioner import ProvisionerSettings
from coder_stack.settings.reconcile_job import ReconcileJobSettings
from coder_stack.settings.workspace_proxy import ProxySettings


class Settings(Part):
    """Everything under `coder-stack:` in a stack's config file."""

    kubernetes: KubernetesSettings = Field(
        default=KubernetesSettings(),
        description="The cluster of the control plane, and of all that names no other.",
    )
    clusters: dict[Label, KubernetesSettings] = Field(
        default={},
        description=(
            "Other clusters by name, for `provisioners[].cluster` and `proxies[].cluster`. Each is "
            "another API server than that of `kubernetes`."
        ),
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
    watch: WatchSettings = Field(
        default=WatchSettings(), description="How `coder-stack watch` looks."
    )
    notify: NotifySettings | None = Field(
        default=None, description="A webhook that is told of drift and repairs. Default: none."
    )
    reconcile_job: ReconcileJobSettings | None = Field(
        default=None,
        description="A CronJob, or a Deployment, that repairs drift. Default: none.",
    )

    def cluster(self, name: str | None) -> KubernetesSettings:
        """Return the cluster of that name in `clusters`; None: that of `kubernetes`."""
        return self.kubernetes if name is None else self.clusters[name]

    @property
    def clusters_in_use(self) -> list[str | None]:
        """The names of all clusters with objects of the stack; None is that of `kubernetes`."""
        named = (each.cluster for each in (*self.provisioners, *self.proxies))
        return list(dict.fromkeys((None, *filter(None, named))))

    @property
    def direct_url(self) -> str | None:
        """The URL at which Pulumi reaches coderd; None: through the API server (CP8)."""
        access, plane = self.access, self.control_plane
        return direct_url(
            access.url,
            plane.access_url,
            through_api_server=access.through_api_server,
            deployed=not plane.exists_already,
        )

    def clashes(self, invalid: Collection[str] = ()) -> Iterator[Clash]:
        """Check across the parts, for settings that are written as code."""
        fields = Settings.model_fields.items()
        given = {info.alias or name: getattr(self, name) for name, info in fields}
        return clashes(Draft(parts={path: part for path, _, part in parts_of(given)}))


_ONE: Mapping[str, type[Part]] = {
    "kubernetes": KubernetesSettings,
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
    named: Any = given.get("clusters")
    clusters: Mapping[str, Any] = {}
    if isinstance(named, dict):
        clusters = cast("Mapping[str, Any]", named)
    for name, cluster in clusters.items():
        yield f"clusters.{name}", KubernetesSettings, cluster
    for name, model in _MANY.items():
        items: Any = given.get(name)
        listed = cast("Sequence[Any]", items) if isinstance(items, list | tuple) else ()
        for index, item in enumerate(listed):
            yield f"{name}[{index}]", model, item
    if (job := given.get("reconcileJob")) is not None:
        yield "reconcileJob", ReconcileJobSettings, job
