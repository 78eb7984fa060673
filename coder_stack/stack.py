"""The whole stack: a provider for the cluster, the components, and their conditions.

Only connects components. Objects are defined in components/, conditions in conditions.py.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from coder_stack.cluster.references import Marks
from coder_stack.coderd.upgrade import NOTHING, UpgradePlan
from coder_stack.components.control_plane import ControlPlane, ControlPlaneArgs
from coder_stack.components.existing_control_plane import ExistingControlPlane
from coder_stack.components.operator import Operator, OperatorArgs
from coder_stack.components.organization import organization_status
from coder_stack.components.parts.clusters import Clusters
from coder_stack.components.parts.ownership import mark_of
from coder_stack.components.parts.status import Status
from coder_stack.components.provisioner import Provisioner, ProvisionerArgs
from coder_stack.components.provisioner_account import ProvisionerAccount, ProvisionerAccountArgs
from coder_stack.components.reconcile_account import ReconcileAccount, ReconcileAccountArgs
from coder_stack.components.reconcile_job import ReconcileJob, ReconcileJobArgs
from coder_stack.components.workspace_proxy import WorkspaceProxy, WorkspaceProxyArgs
from coder_stack.connection import connection_of
from coder_stack.details import Part, conditions_of_all
from coder_stack.dynamic.feature_gate import FeatureGate
from coder_stack.dynamic.organization import Organization
from coder_stack.dynamic.secret_value import SecretValue
from coder_stack.features import HIGH_AVAILABILITY, MULTIPLE_ORGANIZATIONS
from coder_stack.naming import at_cluster
from coder_stack.needs import needed_features, needs_output
from coder_stack.settings import (
    OrganizationSettings,
    ProvisionerSettings,
    ProxySettings,
    Settings,
)


@dataclass(frozen=True, kw_only=True)
class StackSecrets:
    """Secrets of the stack's config as Outputs; see SECRETS in settings/loading.py."""

    token: pulumi.Output[str] | None = None
    license_jwt: pulumi.Output[str] | None = None
    initial_password: pulumi.Output[str] | None = None
    """Only for an output: the provider process reads the config itself."""

    @classmethod
    def of(cls, config: pulumi.Config) -> "StackSecrets":
        """Read those that are set."""
        return cls(
            token=config.get_secret("token"),
            license_jwt=config.get_secret("licenseJwt"),
            initial_password=config.get_secret("initialPassword"),
        )


class CoderStack(pulumi.ComponentResource):
    """Everything that one stack config describes."""

    settings: Settings
    secrets: StackSecrets
    control_plane: ControlPlane | ExistingControlPlane
    operator: Operator
    organizations: dict[str, Organization]
    """Those that this stack declares, by name."""
    organization_statuses: list[pulumi.Output[Status]]
    provisioners: list[Provisioner]
    proxies: list[WorkspaceProxy]
    reconcile_job: ReconcileJob | None
    conditions: pulumi.Output[list[dict[str, str]]]
    """Conditions of every component, and last the aggregate `Ready`."""
    needs: pulumi.Output[list[dict[str, Any]]]
    """The licensed features that the config needs, and whether the license allows them."""
    details: dict[str, pulumi.Input[Any]]
    """Conditions, needs, and a summary of each part that the config lists."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        secrets: StackSecrets | None = None,
        opts: pulumi.ResourceOptions | None = None,
        *,
        kept_databases: bool = False,
        upgrade: UpgradePlan = NOTHING,
        left_out: Collection[str] = (),
        deployment_id: str = "",
    ) -> None:
        super().__init__("coder-stack:index:CoderStack", name, None, opts)
        self._name = name
        self.settings = settings
        self.secrets = secrets = secrets or StackSecrets()
        plane = settings.control_plane
        self._connection = connection_of(settings, token_given=secrets.token is not None)
        self._clusters = Clusters(name, settings, self)
        self._left_out = left_out
        self._deployment_id = deployment_id
        needed = needed_features(settings)
        deployed = self._control_plane(keep_namespace=kept_databases)
        self.operator = self._operator(deployed, secrets, list(needed), upgrade.expected)
        self.control_plane = deployed or ExistingControlPlane(plane, self.operator.access)
        self.organizations = {
            each.name: self._organization(each) for each in settings.organizations
        }
        self.organization_statuses = [
            organization_status(name, each, self.operator.license_facts)
            for name, each in self.organizations.items()
        ]
        self._accounts = dict[str, ProvisionerAccount]()
        self.provisioners = [self._provisioner(each) for each in settings.provisioners]
        # Else a provisioner that fails holds back no proxy.
        first = self.provisioners if upgrade.under_way else ()
        self.proxies = [self._proxy(each, first) for each in settings.proxies]
        self.reconcile_job = self._reconcile_job(kept_databases=kept_databases)
        self.needs = self.operator.license_facts.apply(lambda known: needs_output(needed, known))
        self._record()

    def _control_plane(self, *, keep_namespace: bool) -> ControlPlane | None:
        plane = self.settings.control_plane
        if plane.exists_already:
            return None
        return ControlPlane(
            f"{self._name}-control-plane",
            ControlPlaneArgs(
                settings=plane,
                replicas=self._replicas(self._high_availability()),
                cluster=self._clusters.kubeconfig(None),
                keep_namespace=keep_namespace,
            ),
            self._clusters.options(None),
        )

    def _high_availability(self) -> FeatureGate | None:
        """Gate the replicas by the last known entitlement: coderd starts before it can be asked."""
        if self.settings.control_plane.replicas <= 1:
            return None
        return FeatureGate(
            f"{self._name}-high-availability",
            connection=self._connection,
            feature=HIGH_AVAILABILITY,
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _replicas(self, gate: FeatureGate | None) -> pulumi.Input[int]:
        wanted = self.settings.control_plane.replicas
        return wanted if gate is None else gate.open.apply(lambda open_: wanted if open_ else 1)

    def _operator(
        self,
        deployed: ControlPlane | None,
        secrets: StackSecrets,
        needed: list[str],
        expected_version: str,
    ) -> Operator:
        return Operator(
            f"{self._name}-operator",
            OperatorArgs(
                connection=self._connection,
                settings=self.settings.access,
                license=self.settings.license,
                namespace=self.settings.control_plane.namespace,
                token=secrets.token,
                license_jwt=secrets.license_jwt,
                needed_features=needed,
                after=[deployed] if deployed else [],
                expected_version=expected_version,
                expected_deployment=self._deployment_id,
            ),
            pulumi.ResourceOptions(parent=self),
        )

    def _organization(self, settings: OrganizationSettings) -> Organization:
        prefix = f"{self._name}-organization-"
        former = settings.former_name and pulumi.Alias(name=f"{prefix}{settings.former_name}")
        return Organization(
            f"{prefix}{settings.name}",
            connection=self.operator.handle.connection,
            name=settings.name,
            deployment_id=self.operator.handle.deployment_id,
            display_name=settings.display_name,
            description=settings.description,
            icon=settings.icon,
            adopt=settings.adopt,
            deletion=settings.deletion,
            enabled=self.operator.handle.entitled(MULTIPLE_ORGANIZATIONS),
            opts=pulumi.ResourceOptions(parent=self, aliases=[former] if former else None),
        )

    def _provisioner(self, settings: ProvisionerSettings) -> Provisioner:
        name = f"{self._name}-provisioner-{settings.name}"
        other = self._clusters.other(settings.cluster)
        adopted = None
        if settings.key.adopt_secret:
            adopted = SecretValue(
                f"{name}-adopted",
                namespace=settings.namespace or self.settings.control_plane.namespace,
                name=settings.key.adopt_secret,
                key=settings.key.secret_key,
                kubeconfig=other.kubeconfig.kubeconfig if other else None,
                context=other.kubeconfig.context if other else None,
                opts=pulumi.ResourceOptions(
                    parent=self, depends_on=[other.provider] if other else None
                ),
            ).value
        return Provisioner(
            name,
            ProvisionerArgs(
                settings=settings,
                operator=self.operator.handle,
                image=self.settings.control_plane.image,
                url=self._url_from(settings.cluster),
                namespace=self._default_namespace(settings.cluster),
                adopted_material=adopted,
                organization=self.organizations.get(settings.organization),
                account=self._account(settings),
                cluster=other.kubeconfig if other else None,
            ),
            self._clusters.options(settings.cluster),
        )

    def _account(self, settings: ProvisionerSettings) -> ProvisionerAccount | None:
        """Return the account that it shares, made for the first one that names it."""
        if settings.account is None:
            return None
        name = at_cluster(f"{self._name}-account-{settings.account}", settings.cluster)
        if name not in self._accounts:
            args = ProvisionerAccountArgs(
                settings=settings,
                name=settings.account,
                namespace=self._default_namespace(settings.cluster),
            )
            options = self._clusters.options(settings.cluster)
            self._accounts[name] = ProvisionerAccount(name, args, options)
        return self._accounts[name]

    def _proxy(self, settings: ProxySettings, after: Sequence[pulumi.Resource]) -> WorkspaceProxy:
        plane = self.settings.control_plane
        return WorkspaceProxy(
            f"{self._name}-proxy-{settings.name}",
            WorkspaceProxyArgs(
                settings=settings,
                operator=self.operator.handle,
                image=plane.image,
                primary_url=plane.access_url or self.control_plane.url,
                namespace=self._default_namespace(settings.cluster),
                after=after,
            ),
            self._clusters.options(settings.cluster),
        )

    def _url_from(self, cluster: str | None) -> pulumi.Input[str]:
        """Return coderd's URL for daemons in that cluster: its Service's only within its own."""
        outside = cluster or self.settings.control_plane.exists_already
        return (outside and self.settings.control_plane.access_url) or self.control_plane.url

    def _default_namespace(self, cluster: str | None) -> pulumi.Input[str]:
        """Return coderd's; of another cluster, the namespace with the same name."""
        return self.settings.control_plane.namespace if cluster else self.control_plane.namespace

    def _reconcile_job(self, *, kept_databases: bool) -> ReconcileJob | None:
        if self.settings.reconcile_job is None:
            return None
        for cluster in filter(None, self.settings.clusters_in_use):
            ReconcileAccount(
                f"{self._name}-reconcile-{cluster}",
                ReconcileAccountArgs(settings=self.settings, cluster=cluster),
                self._clusters.options(cluster),
            )
        return ReconcileJob(
            f"{self._name}-reconcile",
            ReconcileJobArgs(
                job=self.settings.reconcile_job,
                settings=self.settings,
                stack=pulumi.get_stack(),
                namespace=self.control_plane.namespace,
                kept_databases=kept_databases,
            ),
            self._clusters.options(None),
        )

    def _record(self) -> None:
        """Register what is known of the parts as outputs of this component.

        `pulumi up` prints those of the stack in every run, and these grow with the config (S1).
        """
        wanted = self.settings
        organizations = [Part(each) for each in self.organization_statuses]
        provisioners = self._parts(wanted.provisioners, self.provisioners)
        proxies = self._parts(wanted.proxies, self.proxies)
        self.conditions = conditions_of_all(
            self.operator.license_facts,
            self.operator.access.version,
            [
                *(Part(each.status) for each in (self.control_plane, self.operator)),
                *provisioners,
                *proxies,
                *organizations,
            ],
            highly_available=wanted.control_plane.replicas > 1,
        )
        summaries = {
            "organizations": organizations,
            "provisioners": provisioners,
            "proxies": proxies,
        }
        self.details = {
            "conditions": self.conditions,
            "needs": self.needs,
            **{name: [each.summary for each in parts] for name, parts in summaries.items()},
        }
        self.register_outputs(self.details)

    def _parts(
        self,
        wanted: Sequence[ProvisionerSettings | ProxySettings],
        made: Sequence[Provisioner | WorkspaceProxy],
    ) -> list[Part]:
        return [
            Part(each.status, next((c for c in self._left_out if c == want.cluster), ""))
            for want, each in zip(wanted, made, strict=True)
        ]


def own_marks(name: str) -> Marks:
    """Return the annotations by which a CoderStack of that name recognizes what it created."""
    return Marks(
        namespace=mark_of("kubernetes:core/v1:Namespace", f"{name}-control-plane-namespace"),
        deployment=mark_of("kubernetes:apps/v1:Deployment", f"{name}-control-plane-deployment"),
    )
