"""Every method of the client once, with secrets wherever the method takes one."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from pydantic import SecretStr

from coder_stack.coderd.client import Coderd
from tests.unit.coderd.fakes import ID, KEY, LICENSE, PASSWORD

PASSWORD_ = SecretStr(PASSWORD)

EVERY_CALL: dict[str, Callable[[Coderd], object]] = {
    "healthz": lambda c: c.healthz(),
    "build_info": lambda c: c.build_info(),
    "organizations": lambda c: c.organizations(),
    "organization": lambda c: c.organization("dev"),
    "create_organization": lambda c: c.create_organization("dev", icon="/i.png"),
    "update_organization": lambda c: c.update_organization(UUID(ID), name="dev"),
    "delete_organization": lambda c: c.delete_organization(UUID(ID)),
    "workspace_count": lambda c: c.workspace_count(UUID(ID)),
    "has_first_user": lambda c: c.has_first_user(),
    "create_first_user": lambda c: c.create_first_user(
        email="a@b.test", username="admin", password=PASSWORD_
    ),
    "login": lambda c: c.login(email="a@b.test", password=PASSWORD_),
    "user": lambda c: c.user(),
    "create_token": lambda c: c.create_token("stack", lifetime=timedelta(days=7)),
    "token": lambda c: c.token("stack"),
    "token_config": lambda c: c.token_config(),
    "delete_token": lambda c: c.delete_token("tokentoken"),
    "licenses": lambda c: c.licenses(),
    "add_license": lambda c: c.add_license(SecretStr(LICENSE)),
    "delete_license": lambda c: c.delete_license(3),
    "entitlements": lambda c: c.entitlements(),
    "provisioner_keys": lambda c: c.provisioner_keys("dev"),
    "create_provisioner_key": lambda c: c.create_provisioner_key("dev", "gpu", {"a": "b"}),
    "delete_provisioner_key": lambda c: c.delete_provisioner_key("dev", "gpu"),
    "provisioner_key_of": lambda c: c.provisioner_key_of(SecretStr(KEY)),
    "daemons_by_key": lambda c: c.daemons_by_key("dev"),
    "workspace_proxies": lambda c: c.workspace_proxies(),
    "workspace_proxy": lambda c: c.workspace_proxy("eu"),
    "create_workspace_proxy": lambda c: c.create_workspace_proxy("eu"),
    "update_workspace_proxy": lambda c: c.update_workspace_proxy(
        UUID(ID), name="eu", display_name="Europe", icon="/i.png"
    ),
    "regenerate_proxy_token": lambda c: c.update_workspace_proxy(
        UUID(ID), name="eu", display_name="Europe", icon="/i.png", regenerate_token=True
    ),
    "delete_workspace_proxy": lambda c: c.delete_workspace_proxy("eu"),
}

POSTS = (
    "create_first_user",
    "create_token",
    "add_license",
    "create_organization",
    "create_provisioner_key",
    "create_workspace_proxy",
)
NOT_REPEATED = (*POSTS, "regenerate_proxy_token")
CARRY_NO_SECRET = ("healthz", "build_info", "has_first_user", "entitlements")
CHANGE_SOMETHING = (
    *NOT_REPEATED,
    "login",  # it may arrive twice: a session that nobody uses ends by itself
    "delete_token",
    "delete_license",
    "update_organization",
    "delete_organization",
    "delete_provisioner_key",
    "update_workspace_proxy",
    "delete_workspace_proxy",
)
