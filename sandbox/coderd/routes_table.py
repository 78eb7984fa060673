"""All routes of the enterprise or the AGPL build."""

from sandbox.coderd.router import Router
from sandbox.coderd.routes import (
    daemons,
    deployment,
    entitlements,
    licenses,
    organizations,
    provisioner_keys,
    proxies,
    tokens,
    users,
    workspaces,
)


def build(*, enterprise: bool) -> Router:
    """Return a router with the routes of one build."""
    router = Router()
    deployment.add_routes(router)
    tokens.add_routes(router)
    users.add_routes(router)
    organizations.add_routes(router)
    daemons.add_routes(router)
    workspaces.add_routes(router)
    if enterprise:
        organizations.add_enterprise_routes(router)
        entitlements.add_routes(router)
        licenses.add_routes(router)
        provisioner_keys.add_routes(router)
        daemons.add_enterprise_routes(router)
        proxies.add_routes(router)
    return router
