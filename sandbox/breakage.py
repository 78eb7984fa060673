"""`coder-stack sandbox break`: change one object outside Pulumi, to show how drift is found.

Changes only the sandbox's own clusters and coderd, with requests that an administrator could send;
only `tags` edits the simulation's database, and `cluster` stops processes.
"""

import base64
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from types import MappingProxyType
from typing import Any

import httpx

from sandbox import cluster, two_clusters
from sandbox.cluster import api
from sandbox.errors import SandboxError
from sandbox.paths import SECOND, SandboxPaths

_CORE = "/api/v1/namespaces/coder"
_DEPLOYMENT = "/apis/apps/v1/namespaces/coder/deployments/coder"
_KEYS = "organizations/coder/provisionerkeys"
_MERGE = {"Content-Type": "application/strategic-merge-patch+json"}
# As in Pulumi.sandbox.yaml.
_PROVISIONER, _PROXY, _ORGANIZATION = "eu", "sydney", "research"
_TOKENS, _PROXIES = "users/me/keys/tokens", "workspaceproxies"
_LISTS = (
    *(_KEYS, f"organizations/{_ORGANIZATION}/provisionerkeys"),
    *("organizations", _PROXIES, _TOKENS),
)
"""What a repair neither leaves behind nor loses. A license of others stays beside ours."""
NEEDS_SECOND = "cluster"
"""The breakage that needs a second cluster."""


@dataclass(frozen=True)
class Clients:
    """Clients for the sandbox's cluster and coderd, opened when used."""

    paths: SandboxPaths
    stack: ExitStack

    @cached_property
    def kube(self) -> httpx.Client:
        """Return a client with the rights of the cluster's administrator."""
        return self.stack.enter_context(api.client(self.paths.kubeconfig))

    @cached_property
    def coderd(self) -> httpx.Client:
        """Return a client with a session of coderd's owner."""
        url = cluster.status(self.paths).coderd
        http = self.stack.enter_context(httpx.Client(base_url=url, timeout=10, trust_env=False))
        session = _checked(http.post("/_sim/sessions"))
        http.headers["Coder-Session-Token"] = session.json()["token"]
        return http

    def key(self) -> dict[str, Any]:
        """Return the provisioner's current key from coderd's list."""
        for found in reversed(self.listed(_KEYS)):
            if found["name"] == _PROVISIONER or found["name"].startswith(f"{_PROVISIONER}-"):
                return found
        raise _not_deployed()

    def counts(self) -> dict[str, int]:
        """Return how much of each kind coderd has, by the list's path."""
        return {path: len(self.listed(path)) for path in _LISTS}

    def listed(self, path: str) -> list[dict[str, Any]]:
        """Return a list of coderd's."""
        answer: Any = _checked(self.coderd.get(f"/api/v2/{path}")).json()
        return answer["regions"] if path == _PROXIES else answer or []


def _image(clients: Clients) -> str:
    container = {"name": "coder", "image": "example.invalid/evil:1"}
    change = {"spec": {"template": {"spec": {"containers": [container]}}}}
    _checked(clients.kube.patch(_DEPLOYMENT, json=change, headers=_MERGE))
    return "coderd's Deployment now runs the image example.invalid/evil:1"


def _replicas(clients: Clients) -> str:
    _checked(clients.kube.patch(_DEPLOYMENT, json={"spec": {"replicas": 0}}, headers=_MERGE))
    return "coderd's Deployment is scaled to zero"


def _service(clients: Clients) -> str:
    _checked(clients.kube.delete(f"{_CORE}/services/coder"))
    return "coderd's Service is deleted"


def _key(clients: Clients) -> str:
    name = clients.key()["name"]
    _checked(clients.coderd.delete(f"/api/v2/{_KEYS}/{name}"))
    return f"the key {name} of provisioner {_PROVISIONER} is deleted in coderd"


def _tags(clients: Clients) -> str:
    key = clients.key()
    tags = {**key["tags"], "region": "moon"}
    _checked(clients.coderd.post("/_sim/key-tags", json={"key_id": key["id"], "tags": tags}))
    return (
        f"the key {key['name']} now has the tag region=moon in coderd's records (a real coderd has "
        "no request for that; only the simulation's database was edited)"
    )


def _secret(clients: Clients) -> str:
    name = f"{_PROVISIONER}-provisioner-key"
    data = {"key": base64.b64encode(b"not-the-key-that-coderd-gave-out").decode()}
    _checked(clients.kube.patch(f"{_CORE}/secrets/{name}", json={"data": data}, headers=_MERGE))
    return f"the Secret {name} now holds other bytes than the key"


def _license(clients: Clients) -> str:
    # Imported here: signing needs a library that no other breakage does.
    from sandbox.coderd.rules.license_key import LicenseTerms, issue  # noqa: PLC0415

    ours = clients.listed("licenses")
    if not ours:
        raise _not_deployed()
    another = issue(LicenseTerms(days=90), datetime.now(UTC))
    _checked(clients.coderd.post("/api/v2/licenses", json={"license": another}))
    for each in ours:
        _checked(clients.coderd.delete(f"/api/v2/licenses/{each['id']}"))
    return "coderd has another license now, and the one of this stack is deleted"


def _proxy(clients: Clients) -> str:
    _checked(clients.coderd.delete(f"/api/v2/workspaceproxies/{_PROXY}"))
    return f"the workspace proxy {_PROXY} is deleted in coderd"


def _organization(clients: Clients) -> str:
    change = {"name": f"{_ORGANIZATION}-labs", "description": "Renamed by hand."}
    _checked(clients.coderd.patch(f"/api/v2/organizations/{_ORGANIZATION}", json=change))
    return f"the organization {_ORGANIZATION} is renamed to {change['name']} in coderd"


def _token(clients: Clients) -> str:
    ours = [
        each for each in clients.listed(_TOKENS) if each["token_name"].startswith("coder-stack")
    ]
    if not ours:
        raise _not_deployed()
    for each in ours:
        _checked(clients.coderd.delete(f"/api/v2/users/me/keys/{each['id']}"))
    return "the operator's token is revoked in coderd"


def _cluster(clients: Clients) -> str:
    two_clusters.switch_off(clients.paths)
    return f"cluster {SECOND} is switched off; `make up` switches it on again, with its data"


BREAKAGES: Mapping[str, Callable[[Clients], str]] = MappingProxyType(
    {
        "image": _image,
        "replicas": _replicas,
        "service": _service,
        "key": _key,
        "license": _license,
        "secret": _secret,
        "tags": _tags,
        "proxy": _proxy,
        "organization": _organization,
        "token": _token,
        NEEDS_SECOND: _cluster,
    }
)


def possible(paths: SandboxPaths) -> list[str]:
    """Return the breakages that the running sandbox has something for."""
    second = two_clusters.is_used(paths)
    return [what for what in BREAKAGES if second or what != NEEDS_SECOND]


def break_it(paths: SandboxPaths, what: str) -> str:
    """Apply a breakage, and return a sentence that describes it."""
    if what not in BREAKAGES:
        raise SandboxError(f"there is no breakage {what!r}; there are: {', '.join(BREAKAGES)}")
    if not paths.kubeconfig.exists() or paths.kubeconfig.is_symlink():
        raise SandboxError("`break` works only on the sandbox's own cluster, which is not up")
    with ExitStack() as stack:
        try:
            return BREAKAGES[what](Clients(paths, stack))
        except (httpx.TransportError, httpx.UnsupportedProtocol):
            raise SandboxError(
                "the sandbox's cluster does not answer; start it with: coder-stack sandbox up"
            ) from None


def _checked(answer: httpx.Response) -> httpx.Response:
    if answer.status_code == httpx.codes.NOT_FOUND.value:
        raise _not_deployed()
    answer.raise_for_status()
    return answer


def _not_deployed() -> SandboxError:
    return SandboxError("that object does not exist; deploy first with: make up")
