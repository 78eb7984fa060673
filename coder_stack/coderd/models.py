"""Models of coderd's responses, with the fields that this project reads.

Unknown fields are ignored. A `null` list or map is an empty one (Go's nil slices). Secrets are
SecretStr.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Literal, TypeVar
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, JsonValue, SecretStr

from coder_stack.features import MULTIPLE_ORGANIZATIONS, is_entitled

T = TypeVar("T")


def _null_is(empty: object) -> BeforeValidator:
    return BeforeValidator(lambda value: empty if value is None else value)


List = Annotated[tuple[T, ...], _null_is(())]
Map = Annotated[Mapping[str, T], _null_is({})]
Text = Annotated[str, _null_is("")]
Tier = Literal["none", "trial", "enterprise", "premium"]


class ApiModel(BaseModel):
    """The base of everything that is read from coderd."""

    # A validation error would otherwise repeat what it was given.
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class BuildInfo(ApiModel):
    """Coderd's build; `workspace_proxy` is true if a workspace proxy answers instead."""

    version: str
    deployment_id: UUID
    telemetry: bool = False
    workspace_proxy: bool = False


class Message(ApiModel):
    """A response that is only a message."""

    message: str


class FirstUser(ApiModel):
    """The first user; both are None if coderd created it and sent no body (status 200)."""

    user_id: UUID | None
    organization_id: UUID | None


class LoginSession(ApiModel):
    """The session of a login, which ends after CODER_SESSION_DURATION."""

    session_token: SecretStr


class NewToken(ApiModel):
    """A new token, shown this once."""

    key: SecretStr

    @property
    def id(self) -> str:
        """Return the public part, by which coderd lists and deletes the token."""
        return self.key.get_secret_value().partition("-")[0]


class ApiToken(ApiModel):
    """A token without its secret."""

    id: str
    user_id: UUID
    token_name: Text = ""
    created_at: AwareDatetime
    scope: Text = ""
    scopes: List[str] = ()


class TokenConfig(ApiModel):
    """The longest lifetime that the user may ask for, in nanoseconds as Go counts."""

    max_token_lifetime: int

    @property
    def longest(self) -> timedelta:
        """Return it as a timedelta, limited to what one can hold."""
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
    roles: List[Role] = ()

    @property
    def is_owner(self) -> bool:
        """Tell whether the user may manage licenses, keys and proxies."""
        return any(role.name == "owner" for role in self.roles)


class OrganizationRecord(ApiModel):
    """An organization; a fresh database has one, named `coder`."""

    id: UUID
    name: str
    display_name: Text = ""
    description: Text = ""
    icon: Text = ""
    is_default: bool = False


class LicenseRecord(ApiModel):
    """A stored license: `claims` is the JWT's payload; coderd never returns the JWT itself."""

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

    @property
    def entitled(self) -> bool:
        """Tell whether the feature may be used; it may in grace (E3)."""
        return is_entitled(self.entitlement)


class EntitlementsRecord(ApiModel):
    """What the deployment may do."""

    features: Map[Feature]
    warnings: List[str] = ()
    errors: List[str] = ()
    has_license: bool
    trial: bool = False
    require_telemetry: bool = False

    def entitled(self, feature: str) -> bool:
        """Tell whether the feature may be used; false if coderd does not know it."""
        found = self.features.get(feature)
        return found is not None and found.entitled

    @property
    def tier(self) -> Tier:
        """Return the tier of the licenses (E1)."""
        if not self.has_license:
            return "none"
        if self.trial:
            return "trial"
        premium = self.entitled("custom_roles") or self.entitled(MULTIPLE_ORGANIZATIONS)
        return "premium" if premium else "enterprise"


class NewProvisionerKey(ApiModel):
    """A new key, shown this once and without its id."""

    key: SecretStr


class KeyRecord(ApiModel):
    """A key without its plaintext; `name` is lower-case, whatever was asked for."""

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
    key_name: Text = ""
    status: Text = ""


class KeyDaemons(ApiModel):
    """A key and the daemons that used it in the last three minutes."""

    key: KeyRecord
    daemons: List[ProvisionerDaemon] = ()


class ProxyReport(ApiModel):
    """Errors and warnings that a proxy reports."""

    errors: List[str] = ()
    warnings: List[str] = ()


class ProxyStatus(ApiModel):
    """A proxy's health: `status` is ok, unreachable, unhealthy, unregistered or unknown."""

    status: Text = "unknown"
    report: ProxyReport = ProxyReport()
    checked_at: AwareDatetime | None = None


class ProxyRecord(ApiModel):
    """A workspace proxy; coderd finds deleted ones by id: look at `deleted`."""

    id: UUID
    name: str
    display_name: Text = ""
    icon_url: Text = ""
    path_app_url: Text = ""
    wildcard_hostname: Text = ""
    derp_enabled: bool = False
    derp_only: bool = False
    status: ProxyStatus = ProxyStatus()
    created_at: AwareDatetime
    deleted: bool = False
    version: Text = ""


class RegisteredProxy(ApiModel):
    """A proxy with its new token, shown this once; empty if an update made none."""

    proxy: ProxyRecord
    proxy_token: SecretStr = SecretStr("")
