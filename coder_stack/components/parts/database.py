"""coderd's database as a Cluster of CloudNativePG: the object, its wait and its status.

The operator creates pods, volumes and the Secret that coderd reads. Unless the config says
otherwise, the Cluster outlives the stack; ownership.py lets the next `up` take it over again.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import pulumi
from pulumi_kubernetes import meta
from pydantic import Field, ValidationError

from coder_stack.cluster.client import request
from coder_stack.cluster.kept_database import API_GROUP, KIND, PLURAL, VERSION
from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.coderd.errors import CoderdError
from coder_stack.components.parts.workload import Labels, Workload
from coder_stack.conditions import DatabaseFacts
from coder_stack.frozen_model import FrozenModel
from coder_stack.naming import DATABASE_COMPONENT
from coder_stack.settings import CloudNativePg, ControlPlaneSettings

_API_VERSION = f"{API_GROUP}/{VERSION}"
_OWNER = "coder"
"""Name of the database and of its owner."""


class _Status(FrozenModel):
    phase: str = ""
    phase_reason: str = Field(default="", alias="phaseReason")


class _Cluster(FrozenModel):
    status: _Status = _Status()


class DatabaseCluster(pulumi.CustomResource):
    """A Cluster of CloudNativePG; unlike the SDK's class for custom kinds, it has a status."""

    metadata: pulumi.Output[Any]
    status: pulumi.Output[Any]

    def __init__(
        self,
        name: str,
        *,
        metadata: meta.v1.ObjectMetaArgs,
        spec: Mapping[str, Any],
        opts: pulumi.ResourceOptions,
    ) -> None:
        props = {
            "apiVersion": _API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec,
            "status": None,
        }  # fmt: skip
        super().__init__(f"kubernetes:{_API_VERSION}:{KIND}", name, props, opts)

    @property
    def facts(self) -> pulumi.Output[DatabaseFacts]:
        """What the operator reported at the last update or refresh."""
        return pulumi.Output.all(self.metadata, self.status).apply(
            lambda both: _facts(both[0], both[1])
        )


def database_cluster(
    workload: Workload,
    plane: ControlPlaneSettings,
    want: CloudNativePg,
    cluster: Kubeconfig | None = None,
) -> DatabaseCluster:
    """Create the Cluster, and wait until it is ready; `cluster` is where to ask why it is not."""
    # Not coderd's labels: an operator that copies them to its pods would make them coderd's.
    labels = Labels(
        name="postgresql",
        instance=plane.database_name,
        component=DATABASE_COMPONENT,
        more=plane.labels,
    )
    own = replace(workload, object_name=plane.database_name, labels=labels)
    wait = f"{want.wait_seconds}s"
    options = pulumi.ResourceOptions(
        retain_on_delete=want.deletion == "keep",
        custom_timeouts=pulumi.CustomTimeouts(create=wait, update=wait),
        hooks=_explain_failure(f"{workload.name}-database", cluster) if cluster else None,
    )
    return DatabaseCluster(
        f"{workload.name}-database",
        metadata=own.metadata(annotations={"pulumi.com/waitFor": "condition=Ready"}),
        spec=cluster_spec(want),
        opts=pulumi.ResourceOptions.merge(own.child_options(), options),
    )


def cluster_spec(want: CloudNativePg) -> dict[str, Any]:
    """Return the Cluster's spec: ours, and over it what the config says in the operator's words."""
    storage = {"size": want.storage, "storageClass": want.storage_class}
    ours: dict[str, Any] = {
        "instances": want.instances,
        "storage": {key: value for key, value in storage.items() if value},
    }
    if "bootstrap" not in want.spec:  # a Cluster has one way to begin
        ours["bootstrap"] = {"initdb": {"database": _OWNER, "owner": _OWNER}}
    if want.image_name:
        ours["imageName"] = want.image_name
    if want.resources:
        ours["resources"] = want.resources
    if want.parameters:
        ours["postgresql"] = {"parameters": want.parameters}
    return _merged(ours, want.spec)


def _merged(ours: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(ours)
    for key, value in over.items():
        mine = merged.get(key)
        both = isinstance(mine, dict) and isinstance(value, dict)
        merged[key] = (
            _merged(cast("Mapping[str, Any]", mine), cast("Mapping[str, Any]", value))
            if both
            else value
        )
    return merged


def _facts(metadata: Any, status: Any) -> DatabaseFacts:
    """Read what the API server answered; a refresh that found the Cluster gone leaves no uid."""
    seen, given = cast("Mapping[str, Any]", status or {}), cast("Mapping[str, Any]", metadata or {})
    conditions = cast("list[Mapping[str, Any]]", seen.get("conditions") or [])
    return DatabaseFacts(
        exists=bool(given.get("uid")),
        ready=any((c.get("type"), c.get("status")) == ("Ready", "True") for c in conditions),
        ready_instances=int(seen.get("readyInstances") or 0),
        phase=str(seen.get("phase") or ""),
    )


def _explain_failure(name: str, cluster: Kubeconfig) -> pulumi.ResourceHookBinding:
    hook = pulumi.ErrorHook(f"{name}-not-ready", _say_phase(cluster))
    return pulumi.ResourceHookBinding(on_error=[hook])


def _say_phase(cluster: Kubeconfig) -> Callable[[pulumi.ErrorHookArgs], bool]:
    """Return a hook that adds the Cluster's phase: the engine only says that a wait timed out."""

    def say(args: pulumi.ErrorHookArgs) -> bool:
        metadata = (args.new_inputs or {}).get("metadata")
        if metadata:
            pulumi.log.error(not_ready(cluster, metadata["namespace"], metadata["name"]))
        return False  # do not retry

    return say


def not_ready(cluster: Kubeconfig, namespace: str, name: str) -> str:
    """Say why the Cluster is not ready, in the operator's words, and where to look next."""
    path = ("apis", API_GROUP, VERSION, "namespaces", namespace, PLURAL, name)
    found = _Cluster()
    with suppress(CoderdError, ValidationError):
        _, body = request(cluster, Kubeconfig(), "read the database's phase", path)
        found = _Cluster.model_validate_json(body)
    phase, why = found.status.phase, found.status.phase_reason
    said = f'its phase is "{phase}"{f" ({why})" if why else ""}.'
    if not phase:
        said = "it has no phase yet. Is the CloudNativePG operator running?"
    return (
        f"The database, {KIND} {name} in namespace {namespace}, is not ready: {said} "
        f"See: kubectl -n {namespace} describe {PLURAL}.{API_GROUP} {name}"
    )
