"""The rows of the simulation's database. As in coderd, secrets are hashed, but licenses are not."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass
class UserRow:
    """An account with its site-wide roles, and its roles in each of its organizations."""

    id: str
    email: str
    username: str
    name: str
    password_salt: str
    password_hash: str
    roles: list[str]
    organizations: dict[str, list[str]]
    created_at: datetime
    updated_at: datetime
    last_seen_at: datetime
    status: str = "active"
    login_type: str = "password"


@dataclass
class ApiKeyRow:
    """A session (login type password) or an API token (login type token)."""

    id: str
    user_id: str
    secret_hash: str
    login_type: str
    scopes: list[str]
    token_name: str
    lifetime_seconds: int
    last_used: datetime
    expires_at: datetime
    created_at: datetime
    updated_at: datetime
    allow_list: list[dict[str, str]] = field(default_factory=list[dict[str, str]])


@dataclass
class OrganizationRow:
    """An organization; deleted ones are kept, because coderd still finds them by id."""

    id: str
    name: str
    display_name: str
    icon: str
    description: str
    created_at: datetime
    updated_at: datetime
    is_default: bool = False
    deleted: bool = False


@dataclass
class WorkspaceRow:
    """A workspace."""

    id: str
    organization_id: str
    name: str


@dataclass
class LicenseRow:
    """A license; its text is unique."""

    id: int
    uuid: str
    jwt: str
    exp: datetime
    uploaded_at: datetime


@dataclass
class ProvisionerKeyRow:
    """A key for external provisioner daemons; name and tags never change."""

    id: str
    organization_id: str
    name: str
    tags: dict[str, str]
    secret_hash: str
    created_at: datetime


@dataclass
class DaemonRow:
    """A provisioner daemon."""

    id: str
    organization_id: str
    key_id: str
    name: str
    version: str
    api_version: str
    provisioners: list[str]
    tags: dict[str, str]
    created_at: datetime
    last_seen_at: datetime


@dataclass
class ProxyRow:
    """A workspace proxy; the fields from `url` on are set by its registration."""

    id: str
    name: str
    display_name: str
    icon: str
    token_hash: str
    region_id: int
    created_at: datetime
    updated_at: datetime
    deleted: bool = False
    url: str = ""
    wildcard_hostname: str = ""
    derp_enabled: bool = True
    derp_only: bool = False
    version: str = ""
    unreachable: str = ""
    """Why coderd cannot reach `url`, as Go would say it; empty: it can."""
    errors: list[str] = field(default_factory=list[str])
    """What the proxy itself reports to be wrong."""


@dataclass
class ReplicaRow:
    """One running process of a proxy."""

    id: str
    proxy_id: str
    hostname: str
    updated_at: datetime
    stopped: bool = False


@dataclass
class Records:
    """The whole database."""

    deployment_id: str
    clock_offset_seconds: float = 0.0
    next_license_id: int = 1
    next_region_id: int = 1
    primary_display_name: str = "Default"
    primary_icon: str = "/emojis/1f3e1.png"
    users: dict[str, UserRow] = field(default_factory=dict[str, UserRow])
    api_keys: dict[str, ApiKeyRow] = field(default_factory=dict[str, ApiKeyRow])
    organizations: dict[str, OrganizationRow] = field(default_factory=dict[str, OrganizationRow])
    workspaces: dict[str, WorkspaceRow] = field(default_factory=dict[str, WorkspaceRow])
    licenses: dict[int, LicenseRow] = field(default_factory=dict[int, LicenseRow])
    provisioner_keys: dict[str, ProvisionerKeyRow] = field(
        default_factory=dict[str, ProvisionerKeyRow]
    )
    daemons: dict[str, DaemonRow] = field(default_factory=dict[str, DaemonRow])
    proxies: dict[str, ProxyRow] = field(default_factory=dict[str, ProxyRow])
    replicas: dict[str, ReplicaRow] = field(default_factory=dict[str, ReplicaRow])
