"""Licensed additions to the control plane: external provisioners and workspace proxies."""

from collections.abc import Collection, Iterator
from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field

from coder_stack.coderd_names import (
    HYPHENATED,
    HYPHENATED_RULE,
    LONGEST_ORGANIZATION_NAME,
    key_name_fault,
    proxy_name_fault,
    tags_fault,
)
from coder_stack.environment import SET_BY_DAEMON_KEY
from coder_stack.settings.control_plane import PodDisruptionBudget, Service
from coder_stack.settings.part import (
    Clash,
    EnvName,
    Label,
    ObjectName,
    Part,
    SecretKey,
    SecretRef,
    Shape,
    Url,
    WildcardHost,
)
from coder_stack.settings.workload import Image, Probe, WorkloadSettings

__all__ = ["KeySettings", "ProvisionerSettings", "ProxySettings"]

_Env = TypeVar("_Env", str, SecretRef)


def _key_name(value: str) -> str:
    if fault := key_name_fault(value):
        raise ValueError(fault)
    return value


def _tags(value: dict[str, str]) -> dict[str, str]:
    if fault := tags_fault(value):
        raise ValueError(fault)
    return value


def _proxy_name(value: str) -> str:
    if fault := proxy_name_fault(value):
        raise ValueError(fault)
    return value


def _no_identity(value: dict[str, _Env]) -> dict[str, _Env]:
    if found := sorted(set(value) & set(SET_BY_DAEMON_KEY)):
        raise ValueError(f"must not set {', '.join(found)}: the key determines it")
    return value


class KeySettings(Part):
    """The provisioner key: its name and tags, its rotation, and its Secret."""

    name: Annotated[str, AfterValidator(_key_name)] | None = Field(
        default=None,
        description="Prefix of the key's name in coderd. Default: the provisioner's name.",
    )
    exact_name: bool = Field(
        default=False,
        description=(
            "Use the name without a suffix. A rotation then deletes the old key before it creates "
            "the new one, and daemons are disconnected in between."
        ),
    )
    tags: Annotated[dict[str, str], AfterValidator(_tags)] = Field(
        default={}, description="Provisioner tags: which templates the daemons build."
    )
    rotate_after_days: int | None = Field(
        default=None,
        ge=1,
        le=3650,
        description="Rotate the key after this many days, or up to a fifth of them earlier.",
    )
    rotation: str = Field(
        default="", description="Any text. Changing it rotates the key on the next run."
    )
    secret_name: Label | None = Field(
        default=None,
        description="Name of the Secret with the key. Default: `<name>-provisioner-key`.",
    )
    secret_key: SecretKey = Field(default="key", description="Key in that Secret's data.")
    adopt_secret: ObjectName | None = Field(
        default=None,
        description=(
            "Existing Secret with a provisioner key to adopt. Organization, name and tags must "
            "match. Needs `exactName`."
        ),
    )

    def clashes(self, unsure: Collection[str] = ()) -> Iterator[Clash]:
        """Adoption needs the exact name of the key."""
        if self.adopt_secret and not self.exact_name and "exactName" not in unsure:
            yield Clash("adoptSecret", "needs exactName: true and the name of that key")


class ProvisionerSettings(WorkloadSettings):
    """External provisioner daemons with one key."""

    name: Label = Field(description="Name of the provisioner and prefix of its Kubernetes objects.")
    organization: Annotated[
        str,
        Shape(
            HYPHENATED,
            f"the name of an organization: {HYPHENATED_RULE}",
            LONGEST_ORGANIZATION_NAME,
        ),
    ] = Field(default="coder", description="Name of an existing organization.")
    namespace: Label | None = Field(
        default=None, description="Existing namespace. Default: coderd's."
    )
    key: KeySettings = Field(default=KeySettings(), description="The provisioner key.")
    env: Annotated[dict[EnvName, str], AfterValidator(_no_identity)] = Field(
        default={}, description="Environment variables in plain text. Put secrets into `secretEnv`."
    )
    secret_env: Annotated[dict[EnvName, SecretRef], AfterValidator(_no_identity)] = Field(
        default={}, description="Environment variables whose values come from Secrets."
    )
    image: Image | None = Field(default=None, description="Image. Default: the control plane's.")
    url: Url | None = Field(
        default=None, description="URL for the daemons to reach coderd. Default: its Service."
    )
    args: tuple[str, ...] = Field(
        default=(), strict=False, description="Additional arguments for `provisionerd start`."
    )
    termination_grace_period_seconds: int = Field(
        default=600, ge=0, description="Time for running builds to finish before a pod is killed."
    )
    connect_timeout_seconds: int = Field(
        default=150,
        ge=1,
        le=170,
        description="How long an update waits for the daemons before it fails.",
    )
    workspace_deployments: bool = Field(
        default=True, description="Let templates create Deployments, not only pods and volumes."
    )
    workspace_namespaces: tuple[Label, ...] = Field(
        default=(), strict=False, description="Additional existing namespaces for workspaces."
    )

    def clashes(self, unsure: Collection[str] = ()) -> Iterator[Clash]:
        """Without a name of its own, the key takes the provisioner's."""
        yield from super().clashes(unsure)
        if "key" not in unsure and not self.key.name and (fault := key_name_fault(self.name)):
            yield Clash("name", f"{fault}, or set key.name")


class ProxySettings(WorkloadSettings):
    """A workspace proxy, registered in coderd and deployed in this cluster."""

    name: Annotated[Label, AfterValidator(_proxy_name)] = Field(
        description="Name of the proxy in coderd and prefix of its Kubernetes objects."
    )
    display_name: Annotated[
        str,
        Shape(r"(?:\S(?:.*\S)?)?", "at most 64 characters, no spaces at either end", 64),
    ] = Field(default="", description="Name that users see. Default: the name.")
    icon: str = Field(default="", description="Path or URL of an icon. Default: a globe.")
    access_url: Url = Field(description="URL at which users reach the proxy.")
    wildcard_access_url: WildcardHost | None = Field(
        default=None, description="Host for workspace apps on subdomains."
    )
    derp_only: bool = Field(default=False, description="Only relay connections; serve no apps.")
    namespace: Label | None = Field(
        default=None, description="Existing namespace. Default: coderd's."
    )
    image: Image | None = Field(default=None, description="Image. Default: the control plane's.")
    primary_url: Url | None = Field(
        default=None,
        description="URL at which the proxy reaches coderd. Default: access URL, else the Service.",
    )
    service: Service = Field(default=Service(), description="The Service in front of the proxy.")
    readiness_probe: Probe = Field(default=Probe(), description="Readiness probe.")
    liveness_probe: Probe = Field(default=Probe(enabled=False), description="Liveness probe.")
    pod_disruption_budget: PodDisruptionBudget | None = Field(
        default=None, description="A PodDisruptionBudget. Default: none."
    )
    health_timeout_seconds: int = Field(
        default=75,
        ge=0,
        le=170,
        description="How long an update waits for a healthy proxy before it continues.",
    )
    rotation: str = Field(
        default="", description="Any text. Changing it rotates the token on the next run."
    )
    secret_name: Label | None = Field(
        default=None,
        description="Name of the Secret with the token. Default: `<name>-proxy-token`.",
    )
    secret_key: SecretKey = Field(default="token", description="Key in that Secret's data.")
