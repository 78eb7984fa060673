"""A Deployment of coderd, provisioner daemons or a proxy: shared metadata, and builders of objects.

The pods' spec is in pod.py. Objects that only one component has are in that component.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import pulumi
from pulumi_kubernetes import apps, core, meta

from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.components.parts.pod import Container, pod_template
from coder_stack.settings import WorkloadSettings


@dataclass(frozen=True, kw_only=True)
class Labels:
    """Labels of one workload. `name` is the kind of program, `instance` which one of its kind."""

    name: str
    instance: str
    component: str
    more: Mapping[str, str] = field(default_factory=dict[str, str])
    """From the config; ours override them, so that none breaks the selector."""

    @property
    def selector(self) -> dict[str, str]:
        """The labels that select the pods; immutable in a Deployment, so the config adds none."""
        return {"app.kubernetes.io/name": self.name, "app.kubernetes.io/instance": self.instance}

    @property
    def all(self) -> dict[str, str]:
        """The labels of every object."""
        return {
            **self.more,
            **self.selector,
            "app.kubernetes.io/component": self.component,
            "app.kubernetes.io/part-of": "coder",
            "app.kubernetes.io/managed-by": "pulumi",
        }


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What all objects of one component share."""

    name: str
    """Prefix of the names of Pulumi's resources."""
    object_name: str
    """Default name of the Kubernetes objects."""
    namespace: pulumi.Input[str]
    labels: Labels
    parent: pulumi.Resource

    def metadata(
        self,
        name: str = "",
        *,
        annotations: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> meta.v1.ObjectMetaArgs:
        """Return the metadata of one object; our labels override the further ones."""
        return meta.v1.ObjectMetaArgs(
            name=name or self.object_name,
            namespace=self.namespace,
            labels={**(labels or {}), **self.labels.all},
            annotations=dict(annotations) if annotations else None,
        )

    def child_options(self, *after: pulumi.Resource) -> pulumi.ResourceOptions:
        """Make a resource a child of the component that waits for others."""
        return pulumi.ResourceOptions(parent=self.parent, depends_on=list(after) or None)

    def pod_selector(self) -> meta.v1.LabelSelectorArgs:
        """Return the selector in the form that most objects take."""
        return meta.v1.LabelSelectorArgs(match_labels=self.labels.selector)

    def in_namespace(self, namespace: pulumi.Input[str]) -> Self:
        """Return the same workload in another namespace."""
        return replace(self, namespace=namespace)

    def rollout(self, cluster: Kubeconfig | None = None) -> dict[str, pulumi.Input[str]]:
        """Identify the Deployment by name: a preview may not know what the cluster answers."""
        selector = ",".join(f"{name}={value}" for name, value in self.labels.selector.items())
        place = {"namespace": self.namespace, "name": self.object_name, "selector": selector}
        return {**place, **_given(cluster)}

    def service_account(
        self, annotations: Mapping[str, str], *, automount: bool | None = None
    ) -> core.v1.ServiceAccount:
        """Create the ServiceAccount of the pods."""
        return core.v1.ServiceAccount(
            f"{self.name}-account",
            metadata=self.metadata(annotations=annotations),
            automount_service_account_token=automount,
            opts=self.child_options(),
        )

    def template(
        self,
        want: WorkloadSettings,
        container: Container,
        account: core.v1.ServiceAccount,
        *,
        annotations: Mapping[str, pulumi.Input[str]] | None = None,
        grace_seconds: int = 60,
    ) -> core.v1.PodTemplateSpecArgs:
        """Return the template of pods with one container; `annotations` are the pods'."""
        return pod_template(
            want,
            container,
            service_account=account.metadata.name,
            labels=self.labels.all,
            annotations=annotations,
            grace_seconds=grace_seconds,
        )

    def deployment(
        self,
        want: WorkloadSettings,
        template: core.v1.PodTemplateSpecArgs,
        *,
        replicas: pulumi.Input[int],
        after: Sequence[pulumi.Resource] = (),
    ) -> apps.v1.Deployment:
        """Create the Deployment."""
        return apps.v1.Deployment(
            f"{self.name}-deployment",
            metadata=self.metadata(annotations=want.annotations),
            spec=apps.v1.DeploymentSpecArgs(
                replicas=replicas, selector=self.pod_selector(), template=template
            ),
            opts=self.child_options(*after),
        )


def _given(cluster: Kubeconfig | None) -> dict[str, str]:
    """Return the fields of another cluster than that of `kubernetes`."""
    return cluster.model_dump(exclude_none=True) if cluster else {}


def licensed_replicas(
    wanted: int, provisioned: pulumi.Output[bool], enabled: pulumi.Output[bool]
) -> pulumi.Output[int]:
    """Return 0 until the license first allows pods, and all of them from then on (E4, E5).

    `enabled` counts too: while the license is unknown, so is the number of replicas.
    """
    return pulumi.Output.all(provisioned, enabled).apply(
        lambda either: wanted if any(either) else 0
    )


def pod_revision(
    template: core.v1.PodTemplateSpecArgs,
    replicas: pulumi.Output[int],
    deployment: apps.v1.Deployment,
    coderd_image: str,
) -> pulumi.Output[str]:
    """Hash what decides which pods run, so that a change makes coderd be asked again (P4).

    The template is the program's own, without what the API server or others add to it. The uid
    changes when the Deployment, or the whole cluster, was deleted and created again.
    """
    parts: list[pulumi.Input[Any]] = [template, replicas, uid_of(deployment), coderd_image]
    return _text_of(parts).apply(lambda text: hashlib.sha256(text.encode()).hexdigest()[:16])


def _text_of(parts: list[pulumi.Input[Any]]) -> pulumi.Output[str]:
    """Return them as JSON once their Outputs are known.

    `Output.json_dumps` makes an Output of every value first, which are most of all in a stack.
    """
    outputs = list[Any]()

    def dumps(of_output: Callable[[Any], object]) -> str:
        def default(value: object) -> object:
            return of_output(value) if isinstance(value, pulumi.Output) else vars(value)

        return json.dumps(parts, default=default, sort_keys=True)

    def filled(known: Sequence[Any]) -> str:
        values = iter(known)  # in the order in which the Outputs were met, the same both times
        return dumps(lambda _: next(values))

    dumps(outputs.append)
    return pulumi.Output.all(*outputs).apply(filled)


def ready_replicas(deployment: apps.v1.Deployment) -> pulumi.Output[int]:
    """Count ready pods as of the last refresh; Kubernetes omits the field while there is none."""
    return deployment.status.apply(lambda status: (status.ready_replicas if status else None) or 0)


def uid_of(made: apps.v1.Deployment | core.v1.Secret) -> pulumi.Output[str | None]:
    """Return the uid that the API server gave to the object; None if a refresh found it gone."""
    return made.metadata.apply(lambda metadata: metadata.uid if metadata else None)
