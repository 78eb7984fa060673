"""Carry on after a killed run: take over the object that it made and could not record any more.

Kubernetes refuses to create an object twice, so the run after a kill would fail for good. Every
object carries a mark of the resource that makes it. A create that meets an object takes it over if
the mark is its own; any other object is left alone, and the create fails. An object that Pulumi has
recorded is never looked at here.
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
from coder_stack.dynamic.runtime.props import PropsModel

__all__ = ["MARK", "Ownership", "object_path"]

MARK = "coder-stack/resource"
"""The annotation with the mark."""
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
    """Of the objects below one component. Their provider must have `upsert_existing_objects`."""

    hook: pulumi.ResourceHook

    @classmethod
    def of(cls, name: str, cluster: Kubeconfig) -> "Ownership":
        """For the component of that name, whose objects are in that cluster."""
        return cls(pulumi.ResourceHook(f"{name}-refuse-foreign-objects", _refuser(cluster)))

    def options(self) -> pulumi.ResourceOptions:
        """For the component: all Kubernetes objects below it are marked and guarded."""
        return pulumi.ResourceOptions(transformations=[self._mark])

    def _mark(
        self, args: pulumi.ResourceTransformationArgs
    ) -> pulumi.ResourceTransformationResult | None:
        props = cast("Mapping[str, Any]", args.props)
        if not args.type_.startswith("kubernetes:") or "metadata" not in props:
            return None
        metadata = copy.copy(props["metadata"])  # two objects may have been given the same one
        assert isinstance(metadata, meta.v1.ObjectMetaArgs), args.name  # noqa: S101
        given = cast("Mapping[str, str] | None", metadata.annotations)
        metadata.annotations = {**(given or {}), MARK: _mark_of(args.type_, args.name)}
        guard = pulumi.ResourceHookBinding(before_create=[self.hook])
        options = pulumi.ResourceOptions.merge(args.opts, pulumi.ResourceOptions(hooks=guard))
        return pulumi.ResourceTransformationResult({**props, "metadata": metadata}, options)


def object_path(type_: str, namespace: str | None, name: str) -> str:
    """Where the API server has the object of a Pulumi type such as `kubernetes:apps/v1:Deployment`.

    The plural follows English, as it does for every kind that this program makes.
    """
    _, version, kind = type_.split(":")
    root = "/api" if version.startswith("core/") else "/apis"
    within = f"namespaces/{namespace}/" if namespace else ""
    plural = kind.lower() + ("es" if kind.endswith("s") else "s")
    if kind.endswith("y"):
        plural = f"{kind.lower()[:-1]}ies"
    return f"{root}/{version.removeprefix('core/')}/{within}{plural}/{name}"


def _mark_of(type_: str, name: str) -> str:
    """Differ from stack to stack and from resource to resource, and stay the same in each run."""
    where = [pulumi.get_organization(), pulumi.get_project(), pulumi.get_stack()]
    return hashlib.sha256(json.dumps([*where, type_, name]).encode()).hexdigest()[:_LENGTH]


def _refuser(cluster: Kubeconfig) -> Callable[[pulumi.ResourceHookArgs], None]:
    def refuse_foreign(args: pulumi.ResourceHookArgs) -> None:
        wanted = _Inputs.model_validate(args.new_inputs).metadata
        found = _found(cluster, object_path(args.type, wanted.namespace, wanted.name))
        if found is None:
            return
        where = f" in {wanted.namespace}" if wanted.namespace else ""
        what = f'{args.type.rpartition(":")[2]} "{wanted.name}"{where}'
        if found.annotations.get(MARK) != wanted.annotations[MARK]:
            raise RuntimeError(
                f"{what} is there already and is not this stack's: import it (docs/adopt.md), "
                "give this one another name, or delete it."
            )
        pulumi.log.info(f"{what} was left by a run that was interrupted; it is taken over.")

    return refuse_foreign


def _found(cluster: Kubeconfig, path: str) -> _Metadata | None:
    """The metadata of an object, or None if the API server says that there is none."""
    from urllib3 import exceptions  # noqa: PLC0415  # comes with the library below

    http = _client(cluster.kubeconfig, cluster.context)
    request = http.param_serialize("GET", path, auth_settings=["BearerToken"])
    unknown = f"whether {path} is there already cannot be told: the API server"
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
    from kubernetes import client  # noqa: PLC0415  # slow, and only needed where something is made

    library: Any = client
    cluster = Kubeconfig(kubeconfig=kubeconfig, context=context)
    return library.ApiClient(api_settings(cluster, Kubeconfig()))
