"""The Kubernetes providers of a stack: one for each cluster that it uses, made when first used."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pulumi
import pulumi_kubernetes as kubernetes

from coder_stack.cluster.kubeconfig import Kubeconfig, kubeconfig_of
from coder_stack.components.parts.ownership import Ownership
from coder_stack.left_out import provider_name
from coder_stack.settings import Settings


@dataclass(frozen=True)
class OtherCluster:
    """Another cluster than that of `kubernetes`."""

    kubeconfig: Kubeconfig
    provider: pulumi.Resource


@dataclass(frozen=True)
class Clusters:
    """The clusters of one stack by name; None is that of `kubernetes`."""

    name: str
    """Name of the stack's component."""
    settings: Settings
    parent: pulumi.Resource
    _options: dict[str | None, pulumi.ResourceOptions] = field(
        default_factory=dict[str | None, pulumi.ResourceOptions]
    )
    _providers: dict[str | None, kubernetes.Provider] = field(
        default_factory=dict[str | None, kubernetes.Provider]
    )

    def options(self, cluster: str | None) -> pulumi.ResourceOptions:
        """Return options for a component whose objects are in that cluster."""
        if cluster not in self._options:
            owned = Ownership.of(self._hook_name(cluster), self.kubeconfig(cluster)).options()
            self._providers[cluster] = provider = self._provider(cluster)
            there = pulumi.ResourceOptions(parent=self.parent, providers=[provider])
            options = pulumi.ResourceOptions.merge(owned, there)
            if cluster is not None:
                after = pulumi.ResourceOptions(transformations=[_after(provider)])
                options = pulumi.ResourceOptions.merge(options, after)
            self._options[cluster] = options
        return self._options[cluster]

    def other(self, cluster: str | None) -> OtherCluster | None:
        """Return the cluster, if it is another one."""
        if cluster is None:
            return None
        self.options(cluster)
        return OtherCluster(self.kubeconfig(cluster), self._providers[cluster])

    def kubeconfig(self, cluster: str | None) -> Kubeconfig:
        """Return kubeconfig and context of that cluster."""
        return kubeconfig_of(self.settings.cluster(cluster))

    def _hook_name(self, cluster: str | None) -> str:
        return f"{self.name}-{cluster}" if cluster else self.name

    def _provider(self, cluster: str | None) -> kubernetes.Provider:
        settings = self.settings.cluster(cluster)
        return kubernetes.Provider(
            provider_name(self.name, cluster),
            kubeconfig=settings.kubeconfig,
            context=settings.context,
            enable_server_side_apply=True,
            # Without this, a field that another program has changed makes preview and up fail with
            # a conflict, instead of being reported and repaired.
            enable_patch_force=True,
            # Without this, the plugin replaces a Secret whose data change: a gap in a rotation.
            enable_secret_mutable=True,
            enable_config_map_mutable=True,
            # Take over objects of a killed run; Ownership refuses those of others.
            upsert_existing_objects=True,
            opts=pulumi.ResourceOptions(
                parent=self.parent, transformations=[_only_kubeconfig(settings.kubeconfig)]
            ),
        )


def _only_kubeconfig(named: str | None) -> pulumi.ResourceTransformation:
    """Keep the environment's `KUBECONFIG` out of the provider's inputs, where the SDK puts it.

    The plugin reads the variable itself, and the files in it by kubectl's rules. As an input it
    would be one path, and a difference in every run with another path: a pipeline, the CronJob.
    """

    def replace(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult:
        props = {**cast("Mapping[str, Any]", args.props), "kubeconfig": named}
        return pulumi.ResourceTransformationResult(props, args.opts)

    return replace


def _after(provider: pulumi.Resource) -> pulumi.ResourceTransformation:
    """Make everything below a component depend on its cluster's provider, keys in coderd too.

    A run that leaves the cluster out excludes what depends on the provider (left_out.py), and the
    engine sees only named dependencies. A credential is thus renewed only with what holds it: else
    such a run would delete a key that is still in use there.
    """

    def depend(
        args: pulumi.ResourceTransformationArgs,
    ) -> pulumi.ResourceTransformationResult | None:
        if not isinstance(args.resource, pulumi.CustomResource):
            return None
        after = pulumi.ResourceOptions(depends_on=[provider])
        options = pulumi.ResourceOptions.merge(args.opts, after)
        return pulumi.ResourceTransformationResult(args.props, options)

    return depend
