"""Every answer of the simulated coderd, from one run through its routes.

The client makes the calls that it has; `ask` makes the others. Only successes are kept: Coder's
documents do not describe errors.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
from pydantic import SecretStr

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.connection import Connection
from sandbox.coderd.routes.auth import PROXY_HEADER
from tests.daemons import connect
from tests.simulation import Simulation, license_text, simulated

_PASSWORD = SecretStr("A-Rather-Long-Secret-7")
_REPLICA = "5f0f4a44-7d1e-4a7c-9d3c-0d7f7f0c1b11"


@dataclass(frozen=True)
class Answer:
    """A successful answer; `value` is its JSON, None without a body."""

    method: str
    path: str
    status: int
    value: Any


class _Recording(httpx.BaseTransport):
    def __init__(self) -> None:
        self._inner = httpx.HTTPTransport()
        self.answers: list[Answer] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self._inner.handle_request(request)
        body = response.read()
        if response.is_success and request.url.path.startswith("/api/v2"):
            value = json.loads(body) if body else None
            answer = Answer(request.method, request.url.path, response.status_code, value)
            self.answers.append(answer)
        return response

    def close(self) -> None:
        self._inner.close()


def every_answer() -> list[Answer]:
    """Run through all routes of a new simulation, and return what it answered."""
    recording = _Recording()
    with (
        simulated(fresh=True) as simulation,
        Coderd(Connection(base_url=simulation.url), transport=recording) as coderd,
        httpx.Client(base_url=simulation.url, transport=recording) as http,
    ):
        coderd.healthz()
        coderd.build_info()
        coderd.create_first_user(email="a@b.test", username="admin", password=_PASSWORD, name="A")
        coderd.has_first_user()
        session = coderd.login(email="a@b.test", password=_PASSWORD).session_token
        owner = coderd.with_token(session)

        def ask(method: str, path: str, body: Any = None, **headers: str) -> Any:
            mine = headers or {"Coder-Session-Token": session.get_secret_value()}
            answer = http.request(method, f"/api/v2{path}", json=body, headers=mine)
            assert answer.is_success, f"{method} {path}: {answer.text}"
            return answer.json() if answer.content else None

        _licenses(owner, simulation, ask)
        _users_and_tokens(owner, ask)
        _organizations_and_keys(owner, simulation, ask)
        _proxies(owner, ask)
        ask("POST", "/users/logout")
    return recording.answers


Ask = Callable[..., Any]


def _licenses(owner: Coderd, simulation: Simulation, ask: Ask) -> None:
    owner.licenses()
    first = owner.add_license(SecretStr(license_text()))
    limits = {"user_limit": 5, "managed_agent_limit_soft": 8, "managed_agent_limit_hard": 9}
    owner.add_license(SecretStr(license_text(features=limits)))
    owner.licenses()
    owner.entitlements()
    simulation.state.clock.advance(timedelta(minutes=2))  # coderd refuses a second one within one
    ask("POST", "/licenses/refresh-entitlements")
    owner.delete_license(first.id)


def _users_and_tokens(owner: Coderd, ask: Ask) -> None:
    owner.user()
    (organization,) = owner.organizations()
    new = {"email": "c@d.test", "username": "member", "password": _PASSWORD.get_secret_value()}
    ask("POST", "/users", {**new, "organization_ids": [str(organization.id)]})
    ask("GET", "/users")
    ask("PUT", "/users/member/status/suspend")
    ask("PUT", "/users/member/status/activate")
    owner.token_config()
    ask("GET", "/users/me/keys/tokens")
    token = owner.create_token("stack", lifetime=timedelta(days=1))
    owner.token("stack")
    ask("GET", "/users/me/keys/tokens")
    ask("GET", f"/users/me/keys/{token.id}")
    owner.delete_token(token.id)
    ask("POST", "/users/me/keys")
    ask("GET", "/auth/scopes")


def _organizations_and_keys(owner: Coderd, simulation: Simulation, ask: Ask) -> None:
    made = owner.create_organization("dev", display_name="Dev", description="d", icon="/i.png")
    owner.organizations()
    owner.organization("default")
    owner.update_organization(made.id, name="development")
    simulation.act("POST", "/_sim/workspaces", {"organization": "coder", "name": "one"})
    owner.workspace_count(owner.organization().id)
    key = owner.create_provisioner_key("coder", "gpu", {"pool": "gpu"})
    owner.provisioner_keys("coder")
    owner.provisioner_key_of(key.key)
    connect(simulation, key.key.get_secret_value())
    owner.daemons_by_key("coder")
    ask("GET", "/organizations/coder/provisionerdaemons")
    owner.delete_provisioner_key("coder", "gpu")
    owner.delete_organization(made.id)


def _proxies(owner: Coderd, ask: Ask) -> None:
    made = owner.create_workspace_proxy("eu", display_name="Europe", icon="/i.png")
    proxy: UUID = made.proxy.id
    as_proxy = {PROXY_HEADER: made.proxy_token.get_secret_value()}
    registration = {
        "access_url": "https://eu.coder.test",
        "replica_id": _REPLICA,
        "hostname": "eu-1",
        "version": "v2.30.0",
    }
    for replica in (_REPLICA, str(proxy)):
        ask(
            "POST",
            "/workspaceproxies/me/register",
            {**registration, "replica_id": replica},
            **as_proxy,
        )
    ask("GET", "/workspaceproxies/me/crypto-keys?feature=workspace_apps_token", **as_proxy)
    owner.workspace_proxies()
    owner.workspace_proxy("eu")
    ask("POST", "/workspaceproxies/me/deregister", {"replica_id": _REPLICA}, **as_proxy)
    owner.update_workspace_proxy(
        proxy, name="eu", display_name="EU", icon="/i.png", regenerate_token=True
    )
    owner.delete_workspace_proxy("eu")
