"""Facts of a small stack, and the looks of its objects."""

from dataclasses import replace

from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.operate.watch.facts import AnswerFact, CoderdFact, Facts, ObjectFact

CLUSTER = "coder-cluster"
DEPLOYMENTS = "/apis/apps/v1/namespaces/coder/deployments"
SECRETS = "/api/v1/namespaces/coder/secrets"


def deployment(name: str = "coder", generation: int = 1) -> ObjectFact:
    return ObjectFact(
        urn=f"urn:pulumi:dev::coder-stack::kubernetes:apps/v1:Deployment::{name}",
        cluster=CLUSTER,
        collection=DEPLOYMENTS,
        name=name,
        uid=f"uid-{name}",
        resource_version="7",
        generation=generation,
        labels={"app": "coder", "tier": name},
        annotations={},
    )


def secret(name: str = "eu-key", version: str = "3") -> ObjectFact:
    return replace(
        deployment(name),
        urn=f"urn:pulumi:dev::coder-stack::kubernetes:core/v1:Secret::{name}",
        collection=SECRETS,
        resource_version=version,
        generation=None,
    )


def key(name: str = "eu", id_: str = "1", **tags: str) -> CoderdFact:
    urn = f"urn:pulumi:dev::coder-stack::ProvisionerKey::{name}"
    fields = {"name": name, "tags": tags}
    return CoderdFact(urn, "keys/coder", id_, f"key `{name}`", fields)


def facts(*things: ObjectFact | CoderdFact | AnswerFact) -> Facts:
    return Facts(
        version="1",
        objects=tuple(each for each in things if isinstance(each, ObjectFact)),
        coderd=tuple(each for each in things if isinstance(each, CoderdFact)),
        answers=tuple(each for each in things if isinstance(each, AnswerFact)),
        clusters={CLUSTER: Kubeconfig()},
        namespace="coder",
        outputs={"conditions": []},
    )
