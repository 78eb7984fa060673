"""What anybody may ask: build information and the API's root."""

from sandbox.coderd.answers import Answer, as_json, message
from sandbox.coderd.call import Call
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.rules import daemons, scopes


def add_routes(router: Router) -> None:
    """The public routes."""
    router.add("GET", "", root)
    router.add("GET", "/", root)
    router.add("GET", "/buildinfo", build_info)
    router.add("GET", "/auth/scopes", list_scopes, auth.signed_in)


def root(_call: Call) -> Answer:
    """GET /api/v2."""
    return message(200, "👋")


def build_info(call: Call) -> Answer:
    """GET /buildinfo."""
    world = call.world
    return as_json(
        200,
        {
            "external_url": "https://github.com/coder/coder",
            "version": world.settings.version,
            "dashboard_url": world.url,
            "telemetry": world.settings.telemetry,
            "workspace_proxy": False,
            "agent_api_version": "1.0",
            "provisioner_api_version": daemons.API_VERSION,
            "upgrade_message": "",
            "deployment_id": world.records.deployment_id,
        },
    )


def list_scopes(_call: Call) -> Answer:
    """GET /auth/scopes."""
    return as_json(200, {"external": list(scopes.EXTERNAL)})
