"""The pods that a Deployment has rolled out: those of its newest ReplicaSet.

Coderd lists a daemon for three minutes after its pod has ended. Daemons are named after their pods
and pods after their ReplicaSet, so its name tells the daemons of this rollout from earlier ones.
One GET with the kubeconfig's rights; writes nothing and knows nothing of coderd.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field, ValidationError

from coder_stack.cluster.client import Kubeconfig, api_settings
from coder_stack.coderd import ApiServerRefused, Connection, InsecureConnection, Unavailable
from coder_stack.frozen_model import FrozenModel

__all__ = ["ReplicaSet", "Rollout", "newest_pods", "pod_prefix"]

_OPERATION = "read the Deployment's ReplicaSets"
_REVISION = "deployment.kubernetes.io/revision"
_TIMEOUT = (3.0, 5.0)
"""Seconds to connect and to read; a refused connection is tried once more."""
_LONGEST_PREFIX = 58
"""Kubernetes cuts what it puts before the five random letters of a pod's name."""


class Rollout(Kubeconfig):
    """A Deployment; the cluster is the stack's unless one is given."""

    namespace: str
    name: str
    selector: str
    """Its pods' labels as `a=b,c=d`."""


class _Owner(FrozenModel):
    kind: str
    name: str
    uid: str


class _Metadata(FrozenModel):
    name: str
    created: str = Field(alias="creationTimestamp")
    annotations: Mapping[str, str] = {}
    owners: tuple[_Owner, ...] = Field(default=(), alias="ownerReferences")


class ReplicaSet(FrozenModel):
    """As much of one as tells whose it is, and which is the newest."""

    metadata: _Metadata

    @property
    def revision(self) -> int:
        """Counted by the Deployment's controller; a rollback makes an old one the newest."""
        text = self.metadata.annotations.get(_REVISION, "")
        return int(text) if text.isdecimal() else 0

    def made_by(self, deployment: str) -> str:
        """The uid of the Deployment of that name that made it; empty if another one did."""
        ours = ("Deployment", deployment)
        owners = self.metadata.owners
        return next((each.uid for each in owners if (each.kind, each.name) == ours), "")


class _ReplicaSets(FrozenModel):
    items: tuple[ReplicaSet, ...]


def newest_pods(rollout: Rollout, stack: Kubeconfig) -> str:
    """How the names of the newest pods begin; a CoderdError if the cluster cannot be asked."""
    try:
        found = _ReplicaSets.model_validate_json(_get(rollout, stack)).items
    except ValidationError:
        why = "the answer is not one of a Kubernetes API server; check the kubeconfig's server."
        raise ApiServerRefused(_OPERATION, why) from None
    prefix = pod_prefix(found, rollout.name)
    if not prefix:
        why = "this cluster does not know the Deployment; check kubernetes.kubeconfig."
        raise ApiServerRefused(_OPERATION, why)
    return prefix


def pod_prefix(replica_sets: Sequence[ReplicaSet], deployment: str) -> str:
    """How pods of the Deployment's newest ReplicaSet are named; empty if it has none.

    A Deployment that came back counts from one again, while the sets of the former one may linger.
    """
    own = [each for each in replica_sets if each.made_by(deployment)]
    if not own:
        return ""
    owner = max(own, key=lambda each: each.metadata.created).made_by(deployment)
    newest = max(
        (each for each in own if each.made_by(deployment) == owner), key=lambda each: each.revision
    )
    return f"{newest.metadata.name}-"[:_LONGEST_PREFIX]


def _get(rollout: Rollout, stack: Kubeconfig) -> bytes:
    from kubernetes import client  # noqa: PLC0415  # slow, and rarely needed
    from urllib3 import Retry, exceptions  # noqa: PLC0415  # comes with it

    library: Any = client
    settings = api_settings(rollout, stack)
    host = Connection(base_url=str(settings.host))
    verified = settings.verify_ssl or not host.base_url.startswith("https:")
    if not (host.may_carry_secrets and verified):
        why = "the kubeconfig's cluster has no TLS, or turns its verification off; correct it."
        raise InsecureConnection(_OPERATION, why)
    settings.retries = Retry(total=1, read=0, redirect=0, status=0, backoff_factor=0.2)
    try:
        with library.ApiClient(settings) as http:
            answer = library.AppsV1Api(http).list_namespaced_replica_set(
                rollout.namespace,
                label_selector=rollout.selector,
                _preload_content=False,
                _request_timeout=_TIMEOUT,
            )
            return bytes(answer.data)
    except library.ApiException as error:
        why = "the API server refused; check the kubeconfig and its right to list ReplicaSets."
        raise ApiServerRefused(_OPERATION, why, status=error.status or None) from None
    except exceptions.HTTPError:
        why = "the API server does not answer; check the kubeconfig's server."
        raise Unavailable(_OPERATION, why) from None
