"""Break one thing in the sandbox behind Pulumi's back, so that anyone can watch it being found.

Acts on the sandbox's own cluster and its coderd only, with the requests that a person with kubectl
or with an owner's session would make. The one exception says so.
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

from sandbox import cluster
from sandbox.cluster import api
from sandbox.errors import SandboxError
from sandbox.home import Home

_CORE = "/api/v1/namespaces/coder"
_DEPLOYMENT = "/apis/apps/v1/namespaces/coder/deployments/coder"
_KEYS = "/api/v2/organizations/coder/provisionerkeys"
_MERGE = {"Content-Type": "application/strategic-merge-patch+json"}
# The names of Pulumi.sandbox.yaml.
_PROVISIONER, _PROXY = "eu", "sydney"


@dataclass(frozen=True)
class Hands:
    """What there is to break things with."""

    home: Home
    open: ExitStack

    @cached_property
    def kube(self) -> httpx.Client:
        """The cluster, as its administrator."""
        return self.open.enter_context(api.client(self.home.kubeconfig))

    @cached_property
    def coderd(self) -> httpx.Client:
        """The simulated coderd, as its owner."""
        url = cluster.status(self.home).coderd
        http = self.open.enter_context(httpx.Client(base_url=url, timeout=10, trust_env=False))
        session = _done(http.post("/_sim/sessions"))
        http.headers["Coder-Session-Token"] = session.json()["token"]
        return http

    def key(self) -> dict[str, Any]:
        """The provisioner's present key, as coderd lists it."""
        listed: list[dict[str, Any]] = _done(self.coderd.get(_KEYS)).json()
        for found in reversed(listed):
            if found["name"] == _PROVISIONER or found["name"].startswith(f"{_PROVISIONER}-"):
                return found
        raise _nothing()


def _image(hands: Hands) -> str:
    container = {"name": "coder", "image": "example.invalid/evil:1"}
    change = {"spec": {"template": {"spec": {"containers": [container]}}}}
    _done(hands.kube.patch(_DEPLOYMENT, json=change, headers=_MERGE))
    return "coderd's Deployment now runs the image example.invalid/evil:1"


def _replicas(hands: Hands) -> str:
    _done(hands.kube.patch(_DEPLOYMENT, json={"spec": {"replicas": 0}}, headers=_MERGE))
    return "coderd's Deployment is scaled to zero"


def _service(hands: Hands) -> str:
    _done(hands.kube.delete(f"{_CORE}/services/coder"))
    return "coderd's Service is deleted"


def _key(hands: Hands) -> str:
    name = hands.key()["name"]
    _done(hands.coderd.delete(f"{_KEYS}/{name}"))
    return f"the key {name} of provisioner {_PROVISIONER} is deleted in coderd"


def _tags(hands: Hands) -> str:
    key = hands.key()
    tags = {**key["tags"], "region": "moon"}
    _done(hands.coderd.post("/_sim/key-tags", json={"key_id": key["id"], "tags": tags}))
    return (
        f"the key {key['name']} now has the tag region=moon in coderd's records (a real coderd has "
        "no request for that; only the simulation's database was edited)"
    )


def _secret(hands: Hands) -> str:
    name = f"{_PROVISIONER}-provisioner-key"
    data = {"key": base64.b64encode(b"not-the-key-that-coderd-gave-out").decode()}
    _done(hands.kube.patch(f"{_CORE}/secrets/{name}", json={"data": data}, headers=_MERGE))
    return f"the Secret {name} now holds other bytes than the key"


def _license(hands: Hands) -> str:
    # Imported here: signing needs a library that no other breakage does.
    from sandbox.coderd.rules.license_key import LicenseTerms, issue  # noqa: PLC0415

    ours: list[dict[str, Any]] = _done(hands.coderd.get("/api/v2/licenses")).json() or []
    if not ours:
        raise _nothing()
    another = issue(LicenseTerms(days=90), datetime.now(UTC))
    _done(hands.coderd.post("/api/v2/licenses", json={"license": another}))
    for each in ours:
        _done(hands.coderd.delete(f"/api/v2/licenses/{each['id']}"))
    return "coderd has another license now, and the one of this stack is deleted"


def _proxy(hands: Hands) -> str:
    _done(hands.coderd.delete(f"/api/v2/workspaceproxies/{_PROXY}"))
    return f"the workspace proxy {_PROXY} is deleted in coderd"


def _token(hands: Hands) -> str:
    listed: list[dict[str, Any]] = (
        _done(hands.coderd.get("/api/v2/users/me/keys/tokens")).json() or []
    )
    ours = [each for each in listed if each["token_name"].startswith("coder-stack")]
    if not ours:
        raise _nothing()
    for each in ours:
        _done(hands.coderd.delete(f"/api/v2/users/me/keys/{each['id']}"))
    return "the operator's token is revoked in coderd"


BREAKAGES: Mapping[str, Callable[[Hands], str]] = MappingProxyType(
    {
        "image": _image,
        "replicas": _replicas,
        "service": _service,
        "key": _key,
        "license": _license,
        "secret": _secret,
        "tags": _tags,
        "proxy": _proxy,
        "token": _token,
    }
)


def break_it(home: Home, what: str) -> str:
    """Do it, and say in one sentence what was done."""
    if what not in BREAKAGES:
        raise SandboxError(f"there is no breakage {what!r}; there are: {', '.join(BREAKAGES)}")
    if not home.kubeconfig.exists() or home.kubeconfig.is_symlink():
        raise SandboxError("only the sandbox's own cluster is broken on purpose, and it is not up")
    with ExitStack() as open_:
        try:
            return BREAKAGES[what](Hands(home, open_))
        except (httpx.TransportError, httpx.UnsupportedProtocol):
            raise SandboxError(
                "the sandbox's cluster does not answer; start it with: coder-stack sandbox up"
            ) from None


def _done(answer: httpx.Response) -> httpx.Response:
    if answer.status_code == httpx.codes.NOT_FOUND.value:
        raise _nothing()
    answer.raise_for_status()
    return answer


def _nothing() -> SandboxError:
    return SandboxError("it is not there to be broken; deploy first with: make up")
