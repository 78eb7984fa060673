"""Build information, the API's root, and the scopes."""

from sandbox.coderd.request_context import RequestContext
from sandbox.coderd.responses import HttpResponse, as_json, message
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.rules import daemons, scopes


def add_routes(router: Router) -> None:
    """Add the routes of every build."""
    router.add("GET", "", root)
    router.add("GET", "/", root)
    router.add("GET", "/buildinfo", build_info)
    router.add("GET", "/auth/scopes", list_scopes, auth.signed_in)


def root(_ctx: RequestContext) -> HttpResponse:
    """Handle GET /api/v2."""
    return message(200, "👋")


def build_info(ctx: RequestContext) -> HttpResponse:
    """Handle GET /buildinfo."""
    state = ctx.state
    return as_json(
        200,
        {
            "external_url": "https://github.com/coder/coder",
            "version": state.flags.version,
            "dashboard_url": state.url,
            "telemetry": state.flags.telemetry,
            "workspace_proxy": False,
            "agent_api_version": "1.0",
            "provisioner_api_version": daemons.API_VERSION,
            "upgrade_message": "",
            "deployment_id": state.records.deployment_id,
        },
    )


def list_scopes(_ctx: RequestContext) -> HttpResponse:
    """Handle GET /auth/scopes."""
    return as_json(200, {"external": list(scopes.EXTERNAL)})
