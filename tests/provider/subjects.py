"""Objects that a fault can strike: their operations, and how many of each coderd has."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from pulumi.dynamic import ResourceProvider

from coder_stack.coderd.reasons import Reason, entitlements_reason, license_reason
from coder_stack.dynamic.entitlements import EntitlementsProvider
from coder_stack.dynamic.license import LicenseProvider
from coder_stack.dynamic.operator_access import OperatorAccessProvider
from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from coder_stack.dynamic.workspace_proxy import WorkspaceProxyRegistrationProvider
from tests.provider.api_server import shared_api_server
from tests.provider.keys import KEYS
from tests.provider.operators import Deployment
from tests.simulation import Simulation, license_text

Inputs = dict[str, Any]


@dataclass(frozen=True)
class Subject:
    """One kind of object. `calls` names the request on which each operation stands or falls."""

    name: str
    provider: ResourceProvider
    inputs: Callable[[Simulation, str], Inputs]
    changed: dict[str, Any]
    count: Callable[[Simulation, str], int]
    calls: dict[str, tuple[str, str]]
    narrowed: Callable[[Reason], Reason] = lambda reason: reason
    adopts: bool = False
    """A lost answer of its POST is no loss: what was made is found and taken over."""
    gated: bool = False
    resumes: bool = False
    """What a POST without an answer made may stay for the next run, which takes over its name."""
    keeps_on: frozenset[str] = frozenset()
    """Operations that go on with what is known instead of failing."""
    exists: bool = True
    """False: a look, nothing that coderd would have to keep."""


def _given(coderd: Simulation, **more: Any) -> Inputs:
    return {"connection": coderd.connection, **more}


def _key(coderd: Simulation, name: str) -> Inputs:
    deployment = coderd.state.records.deployment_id
    return _given(coderd, organization="coder", base_name=name, deployment_id=deployment)


def _keys(coderd: Simulation, name: str) -> int:
    keys = coderd.state.records.provisioner_keys.values()
    return sum(key.name.startswith(f"{name}-") for key in keys)


def _proxies(coderd: Simulation, name: str) -> int:
    proxies = coderd.state.records.proxies.values()
    return sum(proxy.name == name and not proxy.deleted for proxy in proxies)


_JWTS: dict[str, tuple[str, str]] = {}


def _license(coderd: Simulation, name: str) -> Inputs:
    if name not in _JWTS:
        jti = str(uuid4())
        _JWTS[name] = (jti, license_text(jti=jti))
    return _given(coderd, jwt=_JWTS[name][1])


def _licenses(coderd: Simulation, name: str) -> int:
    jti = _JWTS[name][0] if name in _JWTS else ""
    return sum(each.uuid == jti for each in coderd.state.records.licenses.values())


def _operator(coderd: Simulation, name: str) -> Inputs:
    return Deployment(coderd, shared_api_server(), f"coder/{name}").first_user_inputs(
        token_name=name
    )


def _tokens(coderd: Simulation, name: str) -> int:
    return sum(key.token_name == name for key in coderd.state.records.api_keys.values())


PROXIES = "/api/v2/workspaceproxies"
TOKENS = "/api/v2/users/*/keys/tokens"
SUBJECTS = (
    Subject(
        "key",
        ProvisionerKeyProvider(),
        _key,
        {"rotate_after_days": 90},
        _keys,
        {
            "create": ("POST", KEYS),
            "read": ("GET", f"{KEYS}/daemons"),
            "read-itself": ("GET", "/api/v2/provisionerkeys/*"),
            "delete": ("DELETE", f"{KEYS}/*"),
        },
        gated=True,
        keeps_on=frozenset({"delete"}),
    ),
    Subject(
        "proxy",
        WorkspaceProxyRegistrationProvider(),
        lambda coderd, name: _given(coderd, name=name),
        {"display_name": "Another"},
        _proxies,
        {
            "create": ("POST", PROXIES),
            "read": ("GET", PROXIES),
            "update": ("PATCH", f"{PROXIES}/*"),
            "delete": ("DELETE", f"{PROXIES}/*"),
        },
        adopts=True,
        gated=True,
        keeps_on=frozenset({"delete"}),
    ),
    Subject(
        "license",
        LicenseProvider(),
        _license,
        {"warn_days": 7},
        _licenses,
        {
            "create": ("POST", "/api/v2/licenses"),
            "read": ("GET", "/api/v2/licenses"),
            "update": ("GET", "/api/v2/licenses"),
            "delete": ("DELETE", "/api/v2/licenses/*"),
        },
        narrowed=license_reason,
        adopts=True,
        keeps_on=frozenset({"delete"}),
    ),
    Subject(
        "entitlements",
        EntitlementsProvider(),
        lambda coderd, _: _given(coderd),
        {},
        lambda _coderd, _name: 0,
        {
            "create": ("GET", "/api/v2/entitlements"),
            "read": ("GET", "/api/v2/entitlements"),
            "update": ("GET", "/api/v2/entitlements"),
        },
        narrowed=entitlements_reason,
        keeps_on=frozenset({"create", "read", "update"}),
        exists=False,
    ),
    Subject(
        "operator",
        OperatorAccessProvider(),
        _operator,
        {"wait_seconds": 60},
        _tokens,
        {
            "create": ("POST", TOKENS),
            "read": ("GET", "/api/v2/users/me"),
            "update": ("GET", "/api/v2/users/me"),
            "delete": ("DELETE", "/api/v2/users/*/keys/*"),
        },
        resumes=True,
        keeps_on=frozenset({"delete"}),
    ),
)
