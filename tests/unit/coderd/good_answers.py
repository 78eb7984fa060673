"""One good answer of coderd for every method of the client, as coder 2.30 gives it."""

from typing import Any

from tests.unit.coderd.fakes import ID, TIME

TOKEN_ITEM = {
    "id": "tokentoken",
    "user_id": ID,
    "last_used": "0001-01-01T00:00:00Z",
    "expires_at": "2030-01-08T01:00:00+01:00",
    "created_at": TIME,
    "updated_at": TIME,
    "login_type": "token",
    "scope": "all",
    "scopes": ["coder:all"],
    "token_name": "stack",
    "lifetime_seconds": 604800,
    "allow_list": [{"type": "*", "id": "*"}],
}
USER = {
    "id": ID,
    "username": "admin",
    "email": "a@b.test",
    "status": "active",
    "login_type": "password",
    "organization_ids": [ID],
    "roles": [{"name": "owner", "display_name": "Owner"}],
}
ORGANIZATION = {
    "id": ID,
    "name": "coder",
    "display_name": "Coder",
    "icon": "/i.png",
    "description": "All of us",
    "created_at": TIME,
    "updated_at": TIME,
    "is_default": True,
}
LICENSE_ITEM = {"id": 3, "uuid": ID, "uploaded_at": TIME, "claims": {"version": 3, "jti": ID}}
ENTITLEMENTS = {
    "features": {
        "workspace_proxy": {"entitlement": "entitled", "enabled": True},
        "user_limit": {"entitlement": "grace_period", "enabled": True, "limit": 100, "actual": 3},
        "custom_roles": {"entitlement": "not_entitled", "enabled": False},
    },
    "warnings": [],
    "errors": [],
    "has_license": True,
    "trial": False,
    "require_telemetry": False,
    "refreshed_at": TIME,
}
KEY_ITEM = {"id": ID, "created_at": TIME, "organization": ID, "name": "gpu", "tags": {"a": "b"}}
DAEMON = {
    "id": ID,
    "organization_id": ID,
    "key_id": ID,
    "created_at": TIME,
    "last_seen_at": TIME,
    "name": "gpu-1",
    "version": "v2.30.0",
    "api_version": "1.14",
    "provisioners": ["terraform"],
    "tags": {"scope": "organization"},
    "key_name": None,
    "status": None,
    "current_job": None,
    "previous_job": None,
}
PROXY = {
    "id": ID,
    "name": "eu",
    "display_name": "Europe",
    "icon_url": "/i.png",
    "healthy": False,
    "path_app_url": "",
    "wildcard_hostname": "",
    "derp_enabled": True,
    "derp_only": False,
    "status": {
        "status": "unregistered",
        "report": {"errors": None, "warnings": []},
        "checked_at": TIME,
    },
    "created_at": TIME,
    "updated_at": TIME,
    "deleted": False,
    "version": "",
}
BUILD = {
    "external_url": "https://github.com/coder/coder/commit/abc",
    "version": "v2.30.0+abc1234",
    "dashboard_url": "https://coder.test",
    "telemetry": False,
    "workspace_proxy": False,
    "agent_api_version": "1.0",
    "provisioner_api_version": "1.14",
    "upgrade_message": "",
    "deployment_id": ID,
}

GOOD: dict[str, tuple[int, Any]] = {
    "healthz": (200, b"OK"),
    "build_info": (200, BUILD),
    "organizations": (200, [ORGANIZATION]),
    "organization": (200, ORGANIZATION),
    "create_organization": (201, ORGANIZATION),
    "update_organization": (200, ORGANIZATION),
    "delete_organization": (200, {"message": "Organization has been deleted."}),
    "workspace_count": (200, {"workspaces": [{"id": ID}], "count": 2}),
    "has_first_user": (200, {"message": "The initial user has already been created!"}),
    "create_first_user": (201, {"user_id": ID, "organization_id": ID}),
    "login": (201, {"session_token": "sessionses-SECRETsession"}),
    "user": (200, USER),
    "create_token": (201, {"key": "tokentoken-SECRETtoken"}),
    "token": (200, TOKEN_ITEM),
    "token_config": (200, {"max_token_lifetime": 604_800_000_000_000}),
    "delete_token": (204, b""),
    "licenses": (200, [LICENSE_ITEM]),
    "add_license": (201, LICENSE_ITEM),
    "delete_license": (200, b""),
    "entitlements": (200, ENTITLEMENTS),
    "provisioner_keys": (200, [KEY_ITEM]),
    "create_provisioner_key": (201, {"key": "SECRETmaterial"}),
    "delete_provisioner_key": (204, b""),
    "provisioner_key_of": (200, KEY_ITEM),
    "daemons_by_key": (200, [{"key": KEY_ITEM, "daemons": [DAEMON]}]),
    "workspace_proxies": (200, {"regions": [PROXY]}),
    "workspace_proxy": (200, PROXY),
    "create_workspace_proxy": (201, {"proxy": PROXY, "proxy_token": f"{ID}:SECRETproxy"}),
    "update_workspace_proxy": (200, {"proxy": PROXY, "proxy_token": ""}),
    "regenerate_proxy_token": (200, {"proxy": PROXY, "proxy_token": f"{ID}:SECRETproxy"}),
    "delete_workspace_proxy": (200, {"message": "Proxy has been deleted!"}),
}
