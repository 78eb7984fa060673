"""Where the objects of one component stand: names, namespace, labels, parent; and their likenesses.

An account, a Deployment and the number of its ready pods are the same thing for coderd, daemons and
proxies. Leaves alone what runs in the pods (pod.py) and what else a component has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import pulumi
from pulumi_kubernetes import apps, core, meta

from coder_stack.components.parts.labels import Labels
from coder_stack.components.parts.pod import Container, pod_template
from coder_stack.settings import WorkloadSettings

__all__ = ["Workload", "ready_replicas"]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What all objects of one component have in common."""

    name: str
    """Beginning of the names of Pulumi's resources."""
    object_name: str
    """Of the objects themselves, but for those that have a name of their own."""
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
        """Further labels come below ours: those that tools go by are not the config's to change."""
        return meta.v1.ObjectMetaArgs(
            name=name or self.object_name,
            namespace=self.namespace,
            labels={**(labels or {}), **self.labels.all},
            annotations=dict(annotations) if annotations else None,
        )

    def child(self, *after: pulumi.Resource) -> pulumi.ResourceOptions:
        """Options of every object: it goes with the component."""
        return pulumi.ResourceOptions(parent=self.parent, depends_on=list(after) or None)

    def pods(self) -> meta.v1.LabelSelectorArgs:
        """The selector in the form that most objects take."""
        return meta.v1.LabelSelectorArgs(match_labels=self.labels.selector)

    def at(self, namespace: pulumi.Input[str]) -> Self:
        """The same, in another namespace."""
        return replace(self, namespace=namespace)

    def account(
        self, annotations: Mapping[str, str], *, automount: bool | None = None
    ) -> core.v1.ServiceAccount:
        """Who the pods are for the API server."""
        return core.v1.ServiceAccount(
            f"{self.name}-account",
            metadata=self.metadata(annotations=annotations),
            automount_service_account_token=automount,
            opts=self.child(),
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
        """Pods with one container; `annotations` are theirs."""
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
        """As many of those pods as wanted."""
        return apps.v1.Deployment(
            f"{self.name}-deployment",
            metadata=self.metadata(annotations=want.annotations),
            spec=apps.v1.DeploymentSpecArgs(
                replicas=replicas, selector=self.pods(), template=template
            ),
            opts=self.child(*after),
        )


def ready_replicas(deployment: apps.v1.Deployment) -> pulumi.Output[int]:
    """As of the last look; Kubernetes leaves the field out while there is none."""
    return deployment.status.apply(lambda status: (status.ready_replicas if status else None) or 0)
