"""Find the pods of a Deployment's newest ReplicaSet by the beginning of their names.

Coderd lists a daemon for three minutes after its pod has ended. Daemons are named after their pods,
and pods after their ReplicaSet: the name tells the daemons of this rollout from earlier ones.
"""

from collections.abc import Mapping, Sequence

from pydantic import Field, ValidationError

from coder_stack.cluster.client import not_kubernetes, refused, request
from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.coderd.errors import ApiServerRefused
from coder_stack.frozen_model import FrozenModel

_OPERATION = "read the Deployment's ReplicaSets"
_REVISION = "deployment.kubernetes.io/revision"
_LONGEST_PREFIX = 58
"""Kubernetes shortens what comes before the five random letters of a pod's name."""


class Rollout(Kubeconfig):
    """A Deployment, in the stack's cluster unless another one is given."""

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
    """A ReplicaSet's owner and revision."""

    metadata: _Metadata

    @property
    def revision(self) -> int:
        """Return the Deployment's count of rollouts; a rollback makes an old one the newest."""
        text = self.metadata.annotations.get(_REVISION, "")
        return int(text) if text.isdecimal() else 0

    def made_by(self, deployment: str) -> str:
        """Return the uid of the Deployment of that name that made it; empty if none did."""
        ours = ("Deployment", deployment)
        owners = self.metadata.owners
        return next((each.uid for each in owners if (each.kind, each.name) == ours), "")


class _ReplicaSets(FrozenModel):
    items: tuple[ReplicaSet, ...]


def newest_pods(rollout: Rollout, stack: Kubeconfig) -> str:
    """Return how the newest pods' names begin; raise a CoderdError if the cluster cannot tell."""
    path = ("apis", "apps", "v1", "namespaces", rollout.namespace, "replicasets")
    query = {"labelSelector": rollout.selector}
    status, body = request(rollout, stack, _OPERATION, path, query=query)
    if status != 200:
        raise refused(_OPERATION, status, "list ReplicaSets")
    try:
        found = _ReplicaSets.model_validate_json(body).items
    except ValidationError:
        raise not_kubernetes(_OPERATION, status) from None
    prefix = pod_prefix(found, rollout.name)
    if not prefix:
        why = "this cluster does not know the Deployment; check its kubeconfig in the config."
        raise ApiServerRefused(_OPERATION, why)
    return prefix


def pod_prefix(replica_sets: Sequence[ReplicaSet], deployment: str) -> str:
    """Return how the pods of the newest ReplicaSet are named; empty if there is none.

    A Deployment that was created again counts from one, while ReplicaSets of the former may linger.
    """
    own = [each for each in replica_sets if each.made_by(deployment)]
    if not own:
        return ""
    owner = max(own, key=lambda each: each.metadata.created).made_by(deployment)
    newest = max(
        (each for each in own if each.made_by(deployment) == owner), key=lambda each: each.revision
    )
    return f"{newest.metadata.name}-"[:_LONGEST_PREFIX]
