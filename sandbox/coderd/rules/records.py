"""The rows of the simulation's database, as plain dataclasses.

Secrets are stored hashed, as coderd does; the one exception is a license, whose text coderd keeps
as it came. No rule lives here, only what is remembered.
"""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass
class User:
    """An account: site-wide roles, and its roles in each organization it belongs to."""

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
class ApiKey:
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
class Organization:
    """An organization; deleted ones stay, as coderd still finds them by id."""

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
class Workspace:
    """Somebody's workspace, of which only the place counts."""

    id: str
    organization_id: str
    name: str


@dataclass
class License:
    """An uploaded license: the text byte for byte, unique by text."""

    id: int
    uuid: str
    jwt: str
    exp: datetime
    uploaded_at: datetime


@dataclass
class ProvisionerKey:
    """A key for external provisioner daemons; name and tags never change."""

    id: str
    organization_id: str
    name: str
    tags: dict[str, str]
    secret_hash: str
    created_at: datetime


@dataclass
class Daemon:
    """A provisioner daemon as coderd lists it: alive while it is seen."""

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
class Proxy:
    """A workspace proxy; the second half is written by the proxy itself when it registers."""

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


@dataclass
class Replica:
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
    users: dict[str, User] = field(default_factory=dict[str, User])
    api_keys: dict[str, ApiKey] = field(default_factory=dict[str, ApiKey])
    organizations: dict[str, Organization] = field(default_factory=dict[str, Organization])
    workspaces: dict[str, Workspace] = field(default_factory=dict[str, Workspace])
    licenses: dict[int, License] = field(default_factory=dict[int, License])
    provisioner_keys: dict[str, ProvisionerKey] = field(default_factory=dict[str, ProvisionerKey])
    daemons: dict[str, Daemon] = field(default_factory=dict[str, Daemon])
    proxies: dict[str, Proxy] = field(default_factory=dict[str, Proxy])
    replicas: dict[str, Replica] = field(default_factory=dict[str, Replica])
