"""Settings of external provisioner daemons and their key."""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated

from pydantic import Field

from coder_stack.coderd.names import (
    HYPHENATED,
    HYPHENATED_RULE,
    LONGEST_ORGANIZATION_NAME,
    key_name_fault,
    tags_fault,
)
from coder_stack.environment import SET_BY_DAEMON_KEY
from coder_stack.settings.part import (
    Clash,
    EnvName,
    Label,
    ObjectName,
    Part,
    Reference,
    SecretKey,
    SecretRef,
    Shape,
    Url,
    faultless,
)
from coder_stack.settings.workload import Image, WorkloadSettings


def _env_fault(env: Mapping[str, object]) -> str | None:
    found = sorted(set(env) & set(SET_BY_DAEMON_KEY))
    return f"must not set {', '.join(found)}: the key determines it" if found else None


class KeySettings(Part):
    """The provisioner key: its name and tags, its rotation, and its Secret."""

    name: Annotated[str, faultless(key_name_fault)] | None = Field(
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
    tags: Annotated[dict[str, str], faultless(tags_fault)] = Field(
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

    def clashes(self, invalid: Collection[str] = ()) -> Iterator[Clash]:
        """Require the exact name of a key to adopt."""
        if self.adopt_secret and not self.exact_name and "exactName" not in invalid:
            yield Clash("adoptSecret", "needs exactName: true and the name of that key")

    def references(self) -> Iterator[Reference]:
        """Return the Secret with the key to adopt."""
        if self.adopt_secret:
            keys = (self.secret_key,)
            yield Reference("adoptSecret", self.adopt_secret, keys, has_condition=True)


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
    ] = Field(default="coder", description="Name of an organization that exists or is declared.")
    cluster: Label | None = Field(
        default=None, description="Name of a cluster in `clusters`. Default: that of `kubernetes`."
    )
    namespace: Label | None = Field(
        default=None, description="Existing namespace. Default: `controlPlane.namespace`."
    )
    account: Label | None = Field(
        default=None,
        description=(
            "Name of a ServiceAccount, with its Roles, for all provisioners of a cluster that name "
            "it. Default: one of its own, `<name>-provisioner`."
        ),
    )
    key: KeySettings = Field(default=KeySettings(), description="The provisioner key.")
    env: Annotated[dict[EnvName, str], faultless(_env_fault)] = Field(
        default={}, description="Environment variables in plain text. Put secrets into `secretEnv`."
    )
    secret_env: Annotated[dict[EnvName, SecretRef], faultless(_env_fault)] = Field(
        default={}, description="Environment variables whose values come from Secrets."
    )
    image: Image | None = Field(default=None, description="Image. Default: the control plane's.")
    url: Url | None = Field(
        default=None,
        description=(
            "URL for the daemons to reach coderd. Default: its Service; in another cluster, and "
            "if the stack does not deploy coderd, its access URL."
        ),
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

    def clashes(self, invalid: Collection[str] = ()) -> Iterator[Clash]:
        """Check the provisioner's name as the key's, unless the key has its own."""
        yield from super().clashes(invalid)
        if "key" not in invalid and not self.key.name and (fault := key_name_fault(self.name)):
            yield Clash("name", f"{fault}, or set key.name")
