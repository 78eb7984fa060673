"""What coderd's answers look like, as far as this project reads them.

Frozen; fields that coderd adds later are ignored, `null` where a list or map is meant is an empty
one (Go's nil slices), and what is shown once (tokens, keys) is a SecretStr. Times are instants:
compare them, never their text.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Literal, TypeVar
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, JsonValue, SecretStr

from coder_stack.features import GRACE_PERIOD, MULTIPLE_ORGANIZATIONS, is_entitled

__all__ = [
    "ApiToken",
    "BuildInfo",
    "EntitlementsRecord",
    "Feature",
    "FirstUser",
    "KeyDaemons",
    "KeyRecord",
    "LicenseRecord",
    "LoginSession",
    "Message",
    "NewProvisionerKey",
    "NewToken",
    "Organization",
    "ProvisionerDaemon",
    "ProxyRecord",
    "ProxyStatus",
    "RegisteredProxy",
    "Role",
    "Tier",
    "TokenConfig",
    "User",
]

T = TypeVar("T")


def _null_is_empty_list(value: object) -> object:
    return [] if value is None else value


def _null_is_empty_map(value: object) -> object:
    return {} if value is None else value


def _null_is_empty_text(value: object) -> object:
    return "" if value is None else value


List = Annotated[tuple[T, ...], BeforeValidator(_null_is_empty_list)]
Map = Annotated[Mapping[str, T], BeforeValidator(_null_is_empty_map)]
Text = Annotated[str, BeforeValidator(_null_is_empty_text)]
Tier = Literal["none", "trial", "enterprise", "premium"]


class ApiModel(BaseModel):
    """The base of everything that is read from coderd."""

    # A validation error would otherwise repeat what it was given.
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class BuildInfo(ApiModel):
    """`workspace_proxy` is true when the URL leads to a workspace proxy and not to coderd."""

    version: str
    deployment_id: UUID
    external_url: Text = ""
    dashboard_url: Text = ""
    telemetry: bool = False
    workspace_proxy: bool = False
    agent_api_version: Text = ""
    provisioner_api_version: Text = ""


class Message(ApiModel):
    """What coderd says where it has nothing to give."""

    message: str


class FirstUser(ApiModel):
    """Both None: coderd created the user, then failed to say so (200, empty body)."""

    user_id: UUID | None
    organization_id: UUID | None


class LoginSession(ApiModel):
    """What a login gives: good for CODER_SESSION_DURATION."""

    session_token: SecretStr


class NewToken(ApiModel):
    """The only time the token is shown."""

    key: SecretStr

    @property
    def id(self) -> str:
        """The public part, by which the token is listed and deleted."""
        return self.key.get_secret_value().partition("-")[0]


class ApiToken(ApiModel):
    """A token without its secret. `expires_at` drifts: use extends it."""

    id: str
    user_id: UUID
    token_name: Text = ""
    created_at: AwareDatetime
    updated_at: AwareDatetime
    expires_at: AwareDatetime
    last_used: AwareDatetime
    lifetime_seconds: int = 0
    login_type: Text = ""
    scope: Text = ""
    scopes: List[str] = ()
    username: Text = ""


class TokenConfig(ApiModel):
    """The longest lifetime that the user may ask for, in nanoseconds as Go counts."""

    max_token_lifetime: int

    @property
    def longest(self) -> timedelta:
        """The same as a duration, cut to what a timedelta can hold."""
        return timedelta(microseconds=max(0, min(self.max_token_lifetime, 2**63 - 1)) // 1000)


class Role(ApiModel):
    """A role by name, such as `owner`."""

    name: str
    organization_id: Text = ""


class User(ApiModel):
    """The user behind a token."""

    id: UUID
    username: str
    email: Text = ""
    name: Text = ""
    status: Text = ""
    login_type: Text = ""
    organization_ids: List[UUID] = ()
    roles: List[Role] = ()

    @property
    def is_owner(self) -> bool:
        """Whether they may manage licenses, keys and proxies."""
        return any(role.name == "owner" for role in self.roles)


class Organization(ApiModel):
    """On a fresh database there is one, named `coder`."""

    id: UUID
    name: str
    display_name: Text = ""
    description: Text = ""
    icon: Text = ""
    is_default: bool = False


class LicenseRecord(ApiModel):
    """A stored license: `claims` is the JWT's payload; the JWT itself is never given back."""

    id: int
    uuid: UUID
    uploaded_at: AwareDatetime
    claims: Map[JsonValue] = {}


class Feature(ApiModel):
    """One feature, as coderd computed it from all licenses."""

    entitlement: Text = "not_entitled"
    enabled: bool = False
    limit: int | None = None
    actual: int | None = None
    soft_limit: int | None = None

    @property
    def entitled(self) -> bool:
        """E3: grace counts."""
        return is_entitled(self.entitlement)

    @property
    def in_grace(self) -> bool:
        """E3: to be warned about."""
        return self.entitlement == GRACE_PERIOD


class EntitlementsRecord(ApiModel):
    """What the deployment may do. `refreshed_at` moves without anything having changed (E2)."""

    features: Map[Feature]
    warnings: List[str] = ()
    errors: List[str] = ()
    has_license: bool
    trial: bool = False
    require_telemetry: bool = False
    refreshed_at: AwareDatetime | None = None

    def entitled(self, feature: str) -> bool:
        """Whether the feature may be used; a name that coderd does not know may not."""
        found = self.features.get(feature)
        return found is not None and found.entitled

    @property
    def tier(self) -> Tier:
        """E1, for entitlements that could be read."""
        if not self.has_license:
            return "none"
        if self.trial:
            return "trial"
        premium = self.entitled("custom_roles") or self.entitled(MULTIPLE_ORGANIZATIONS)
        return "premium" if premium else "enterprise"


class NewProvisionerKey(ApiModel):
    """The only time the key is shown; coderd names no id here, list by name to get it."""

    key: SecretStr


class KeyRecord(ApiModel):
    """A key without its material. `name` is lower-case, whatever was asked for."""

    id: UUID
    name: str
    organization: UUID
    tags: Map[str] = {}
    created_at: AwareDatetime


class ProvisionerDaemon(ApiModel):
    """A provisioner that coderd knows; `status` is empty in the list by key."""

    id: UUID
    organization_id: UUID
    key_id: UUID | None = None
    name: str
    version: Text = ""
    api_version: Text = ""
    provisioners: List[str] = ()
    tags: Map[str] = {}
    created_at: AwareDatetime
    last_seen_at: AwareDatetime | None = None
    key_name: Text = ""
    status: Text = ""


class KeyDaemons(ApiModel):
    """A key and the daemons that used it in the last three minutes."""

    key: KeyRecord
    daemons: List[ProvisionerDaemon] = ()


class ProxyReport(ApiModel):
    """What a proxy says about itself."""

    errors: List[str] = ()
    warnings: List[str] = ()


class ProxyStatus(ApiModel):
    """`status` is ok, unreachable, unhealthy, unregistered or unknown; it lags behind writes."""

    status: Text = "unknown"
    report: ProxyReport = ProxyReport()
    checked_at: AwareDatetime | None = None


class ProxyRecord(ApiModel):
    """By id, deleted proxies are found too: look at `deleted`."""

    id: UUID
    name: str
    display_name: Text = ""
    icon_url: Text = ""
    healthy: bool = False
    path_app_url: Text = ""
    wildcard_hostname: Text = ""
    derp_enabled: bool = False
    derp_only: bool = False
    status: ProxyStatus = ProxyStatus()
    created_at: AwareDatetime
    updated_at: AwareDatetime
    deleted: bool = False
    version: Text = ""


class RegisteredProxy(ApiModel):
    """`proxy_token` is the only copy, and empty when an update did not make a new one."""

    proxy: ProxyRecord
    proxy_token: SecretStr = SecretStr("")
