"""The Secret with a credential that coderd gave out: a provisioner key or a proxy's token."""

import base64

import pulumi
from pulumi_kubernetes import core, meta

from coder_stack.components.parts.workload import uid_of
from coder_stack.conditions import secret_fault


def credential_secret(
    name: str,
    metadata: meta.v1.ObjectMetaArgs,
    key: str,
    credential: pulumi.Output[str],
    opts: pulumi.ResourceOptions,
) -> core.v1.Secret:
    """Create a Secret with that one value, which is empty until coderd has given out one.

    Use data, not stringData: the API server does not record who applied stringData and removes none
    of it, so after a change of the key the credential would be under both keys (K4).
    """
    encoded = pulumi.Output.secret(credential).apply(
        lambda text: base64.b64encode((text or "").encode()).decode()
    )
    return core.v1.Secret(name, metadata=metadata, data={key: encoded}, opts=opts)


def credential_fault(
    secret: core.v1.Secret, key: str, sha256: pulumi.Output[str]
) -> pulumi.Output[str]:
    """Return what is wrong with the Secret as of the last refresh: a reason, or empty.

    The reason is no secret: else the stack's conditions could not be read. For a Secret that a
    refresh has found gone, Pulumi returns the inputs, but no uid.
    """
    reason = pulumi.Output.all(secret.data, uid_of(secret), sha256).apply(
        lambda found: secret_fault(found[0] if found[1] else None, key, found[2])
    )
    return pulumi.Output.unsecret(reason)
