"""Break one thing in the sandbox behind Pulumi's back, so that anyone can watch it being found.

Acts on the sandbox's own cluster only, with the API calls that a person with kubectl would make.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import httpx

from sandbox.cluster import api
from sandbox.errors import SandboxError
from sandbox.home import Home

_NAMESPACE = "coder"
_DEPLOYMENT = f"/apis/apps/v1/namespaces/{_NAMESPACE}/deployments/coder"
_SERVICE = f"/api/v1/namespaces/{_NAMESPACE}/services/coder"
_MERGE = {"Content-Type": "application/strategic-merge-patch+json"}


def _image(http: httpx.Client) -> str:
    container = {"name": "coder", "image": "example.invalid/evil:1"}
    change = {"spec": {"template": {"spec": {"containers": [container]}}}}
    _did(http.patch(_DEPLOYMENT, json=change, headers=_MERGE))
    return "coderd's Deployment now runs the image example.invalid/evil:1"


def _replicas(http: httpx.Client) -> str:
    _did(http.patch(_DEPLOYMENT, json={"spec": {"replicas": 0}}, headers=_MERGE))
    return "coderd's Deployment is scaled to zero"


def _service(http: httpx.Client) -> str:
    _did(http.delete(_SERVICE))
    return "coderd's Service is deleted"


BREAKAGES: Mapping[str, Callable[[httpx.Client], str]] = MappingProxyType(
    {"image": _image, "replicas": _replicas, "service": _service}
)


def break_it(home: Home, what: str) -> str:
    """Do it, and say in one sentence what was done."""
    if what not in BREAKAGES:
        raise SandboxError(f"there is no breakage {what!r}; there are: {', '.join(BREAKAGES)}")
    if not home.kubeconfig.exists() or home.kubeconfig.is_symlink():
        raise SandboxError("only the sandbox's own cluster is broken on purpose, and it is not up")
    with api.client(home.kubeconfig) as http:
        try:
            return BREAKAGES[what](http)
        except httpx.TransportError:
            raise SandboxError(
                "the sandbox's cluster does not answer; start it with: coder-stack sandbox up"
            ) from None


def _did(answer: httpx.Response) -> None:
    if answer.status_code == httpx.codes.NOT_FOUND.value:
        raise SandboxError("it is not there to be broken; deploy first with: make up")
    answer.raise_for_status()
