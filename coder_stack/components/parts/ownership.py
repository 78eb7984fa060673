"""Take over objects that a killed run could not record or a destroy has kept, and no others.

Kubernetes refuses to create an object twice, so every later run would fail. Therefore each object
has an annotation that identifies its resource. A create that finds an object takes it over if that
annotation is its own; else the create fails. Only creates check, not updates.
"""

import copy
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import pulumi
from pulumi_kubernetes import meta
from pydantic import Field

from coder_stack.cluster.client import api_settings
from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.cluster.object_path import object_path
from coder_stack.dynamic.runtime.props import PropsModel
from coder_stack.naming import OWNER

_LENGTH = 16
_OK, _NOT_FOUND = 200, 404
_TIMEOUT = (3.0, 10.0)
"""Seconds to connect and to read."""


class _Metadata(PropsModel):
    name: str
    namespace: str | None = None
    annotations: Mapping[str, str] = Field(default_factory=dict[str, str])


class _Inputs(PropsModel):
    metadata: _Metadata


@dataclass(frozen=True)
class Ownership:
    """Marks the objects below a component. Their provider must set `upsert_existing_objects`."""

    hook: pulumi.ResourceHook

    @classmethod
    def of(cls, name: str, cluster: Kubeconfig) -> "Ownership":
        """Make it for the component of that name, whose objects are in that cluster."""
        return cls(pulumi.ResourceHook(f"{name}-refuse-foreign-objects", _hook(cluster)))

    def options(self) -> pulumi.ResourceOptions:
        """Return options for the component that mark and check all Kubernetes objects below it."""
        return pulumi.ResourceOptions(transformations=[self._mark])

    def _mark(
        self, args: pulumi.ResourceTransformationArgs
    ) -> pulumi.ResourceTransformationResult | None:
        props = cast("Mapping[str, Any]", args.props)
        if not args.type_.startswith("kubernetes:") or "metadata" not in props:
            return None
        metadata = copy.copy(props["metadata"])  # two resources may share one
        assert isinstance(metadata, meta.v1.ObjectMetaArgs), args.name  # noqa: S101
        given = cast("Mapping[str, str] | None", metadata.annotations)
        metadata.annotations = {**(given or {}), OWNER: mark_of(args.type_, args.name)}
        hooks = pulumi.ResourceHookBinding(before_create=[self.hook])
        options = pulumi.ResourceOptions.merge(args.opts, pulumi.ResourceOptions(hooks=hooks))
        return pulumi.ResourceTransformationResult({**props, "metadata": metadata}, options)


def mark_of(type_: str, name: str) -> str:
    """Hash stack and resource: the same in every run, and different for any other resource."""
    where = [pulumi.get_organization(), pulumi.get_project(), pulumi.get_stack()]
    return hashlib.sha256(json.dumps([*where, type_, name]).encode()).hexdigest()[:_LENGTH]


def _hook(cluster: Kubeconfig) -> Callable[[pulumi.ResourceHookArgs], None]:
    def refuse_foreign(args: pulumi.ResourceHookArgs) -> None:
        wanted = _Inputs.model_validate(args.new_inputs).metadata
        found = _existing(cluster, object_path(args.type, wanted.namespace, wanted.name))
        if found is None:
            return
        where = f" in {wanted.namespace}" if wanted.namespace else ""
        what = f'{args.type.rpartition(":")[2]} "{wanted.name}"{where}'
        if found.annotations.get(OWNER) != wanted.annotations[OWNER]:
            raise RuntimeError(
                f"{what} exists and does not belong to this stack: import it (docs/adopt.md), "
                "delete it, or choose another name."
            )
        pulumi.log.info(f"{what} was created by an earlier run; taking it over.")

    return refuse_foreign


def _existing(cluster: Kubeconfig, path: str) -> _Metadata | None:
    """Return the object's metadata, or None if the API server says that it does not exist."""
    from urllib3 import exceptions  # noqa: PLC0415  # comes with the library below

    http = _client(cluster.kubeconfig, cluster.context)
    request = http.param_serialize("GET", path, auth_settings=["BearerToken"])
    unknown = f"cannot tell whether {path} exists: the API server"
    try:
        answer = http.call_api(*request, _request_timeout=_TIMEOUT)
        body = answer.read()
    except exceptions.HTTPError:
        raise RuntimeError(f"{unknown} does not answer; run again.") from None
    if answer.status == _NOT_FOUND:
        return None
    if answer.status != _OK:
        raise RuntimeError(f"{unknown} answered {answer.status}; check the right to get it.")
    return _Inputs.model_validate_json(body).metadata


@cache
def _client(kubeconfig: str | None, context: str | None) -> Any:
    """Keep one connection for the whole run."""
    from kubernetes import client  # noqa: PLC0415  # slow to load, and only needed to create objects

    library: Any = client
    cluster = Kubeconfig(kubeconfig=kubeconfig, context=context)
    return library.ApiClient(api_settings(cluster, Kubeconfig()))
