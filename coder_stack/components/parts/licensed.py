"""What provisioners and proxies have in common: pods that run on something which coderd gave out.

The material is in a Secret, and pods run once it was there; a license that is lost later stops none
(E4, E5). Leaves alone what the material is and who decides that the license allows it.
"""

import base64
import hashlib
from typing import Any

import pulumi
from pulumi_kubernetes import apps, core, meta

from coder_stack.components.parts.workload import Workload
from coder_stack.conditions import secret_fault

__all__ = ["gated_replicas", "material_fault", "material_secret", "revision", "rollout"]


def gated_replicas(
    wanted: int, provisioned: pulumi.Output[bool], enabled: pulumi.Output[bool]
) -> pulumi.Output[int]:
    """None before the gate first opens, and all of them ever after.

    `enabled` is asked too: while the license cannot be known yet, neither can the replicas.
    """
    return pulumi.Output.all(provisioned, enabled).apply(lambda gate: wanted if any(gate) else 0)


def revision(
    template: core.v1.PodTemplateSpecArgs,
    replicas: pulumi.Output[int],
    deployment: apps.v1.Deployment,
    coderd: str,
) -> pulumi.Output[str]:
    """A hash of what the pods are, how many, whose, and of coderd's image (P4).

    Another one asks for another look. The template is the program's own: what the API server fills
    in, and what somebody else changes beside it, is no reason to look again. A Deployment that was
    gone and came back, or a whole cluster, has other pods than those that coderd was asked about.
    """
    parts: list[pulumi.Input[Any]] = [template, replicas, _uid(deployment), coderd]
    text = pulumi.Output.json_dumps(parts, default=vars, sort_keys=True)
    return text.apply(lambda known: hashlib.sha256(known.encode()).hexdigest()[:16])


def rollout(workload: Workload) -> dict[str, pulumi.Input[str]]:
    """Whose pods are waited for: by name, since a preview may not know what the cluster answers."""
    selector = ",".join(f"{name}={value}" for name, value in workload.labels.selector.items())
    return {"namespace": workload.namespace, "name": workload.object_name, "selector": selector}


def material_secret(
    name: str,
    metadata: meta.v1.ObjectMetaArgs,
    key: str,
    material: pulumi.Output[str],
    opts: pulumi.ResourceOptions,
) -> core.v1.Secret:
    """A Secret with that one value; empty while coderd has given out nothing.

    As data, not stringData: the API server forgets who applied stringData and removes none of it,
    so after a change of the key the material would be under both (K4).
    """
    encoded = pulumi.Output.secret(material).apply(
        lambda text: base64.b64encode((text or "").encode()).decode()
    )
    return core.v1.Secret(name, metadata=metadata, data={key: encoded}, opts=opts)


def material_fault(
    secret: core.v1.Secret, key: str, sha256: pulumi.Output[str]
) -> pulumi.Output[str]:
    """What is wrong with the Secret as of the last look: one word, or empty.

    Only the word leaves the secret: else the stack's conditions could not be read. Of a Secret that
    a refresh has found gone, Pulumi hands out what was asked for; the API server's uid is missing.
    """
    word = pulumi.Output.all(secret.data, _uid(secret), sha256).apply(
        lambda found: secret_fault(found[0] if found[1] else None, key, found[2])
    )
    return pulumi.Output.unsecret(word)


def _uid(made: apps.v1.Deployment | core.v1.Secret) -> pulumi.Output[str | None]:
    return made.metadata.apply(lambda metadata: metadata.uid if metadata else None)
