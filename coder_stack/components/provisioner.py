"""External provisioner daemons: their key, its Secret, account with permissions, Deployment.

The order of the resource graph is the rotation (K5): new key, Secret, rollout, daemons connected,
old key deleted. Without entitlement all objects exist except the key and the pods (E4). The
namespaces must exist.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

import pulumi
from pulumi_kubernetes import apps, core

from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.components.parts.credential_secret import credential_fault, credential_secret
from coder_stack.components.parts.operator_handle import OperatorHandle
from coder_stack.components.parts.pod import Container, secret_env
from coder_stack.components.parts.status import Status, collect_facts, conditions_of, summary_of
from coder_stack.components.parts.workload import (
    Workload,
    licensed_replicas,
    pod_revision,
    ready_replicas,
)
from coder_stack.components.provisioner_account import (
    ProvisionerAccount,
    account_of,
    provisioner_labels,
)
from coder_stack.conditions import (
    Condition,
    LicenseFacts,
    ObjectFacts,
    daemons_connected,
    deployment_ready,
    feature_entitled,
    provisioner_key_ready,
    secret_ready,
)
from coder_stack.dynamic.daemons_connected import DaemonsConnected
from coder_stack.dynamic.organization import Organization
from coder_stack.dynamic.provisioner_key import ProvisionerKey
from coder_stack.environment import DAEMON_KEY, DAEMON_NAME, URL
from coder_stack.features import EXTERNAL_PROVISIONERS
from coder_stack.naming import at_cluster, provisioner_name, provisioner_secret_name
from coder_stack.settings import Image, ProvisionerSettings


@dataclass(frozen=True, kw_only=True)
class ProvisionerArgs:
    """Arguments of a Provisioner."""

    settings: ProvisionerSettings
    operator: OperatorHandle
    image: Image
    """Default image: the control plane's."""
    url: pulumi.Input[str]
    """Default URL of coderd for the daemons."""
    namespace: pulumi.Input[str]
    """Default namespace: coderd's."""
    adopted_material: pulumi.Input[str] | None = None
    """The key in the Secret `key.adoptSecret`; a secret."""
    organization: Organization | None = None
    """The organization, if this stack declares it."""
    account: ProvisionerAccount | None = None
    """The account that it shares, if not one of its own."""
    cluster: Kubeconfig | None = None
    """Where the objects are, if not in the cluster of `kubernetes`."""


class Provisioner(pulumi.ComponentResource):
    """Daemons that build workspaces of one organization."""

    key: ProvisionerKey
    secret: core.v1.Secret
    deployment: apps.v1.Deployment
    daemons: DaemonsConnected
    status: pulumi.Output[Status]
    conditions: pulumi.Output[list[dict[str, str]]]
    summary: pulumi.Output[dict[str, Any]]
    """For the stack's outputs: the key, its age and tags, and the number of daemons."""

    def __init__(
        self, name: str, args: ProvisionerArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("coder-stack:index:Provisioner", name, None, opts)
        self._name = name
        self._args = args
        self._settings = want = args.settings
        self._workload = Workload(
            name=at_cluster(name, want.cluster),
            object_name=provisioner_name(want.name),
            namespace=want.namespace or args.namespace,
            labels=provisioner_labels(want.name, want),
            parent=self,
        )
        self.key = self._key()
        self._replicas = licensed_replicas(want.replicas, self.key.provisioned, self.key.enabled)
        self.secret = self._secret()
        shared = args.account
        account = shared.account if shared else account_of(self._workload, want)
        self._template = self._workload.template(
            want,
            self._container(),
            account.account,
            annotations={"checksum/secret": self.key.material_sha256},
            grace_seconds=want.termination_grace_period_seconds,
        )
        self.deployment = self._workload.deployment(
            want,
            self._template,
            replicas=self._replicas,
            after=[self.secret, *account.permissions],
        )
        self.daemons = self._daemons()
        self.status = self._facts().apply(lambda facts: _status(want, facts))
        self.conditions = conditions_of(self.status)
        self.summary = summary_of(self.status)
        self.register_outputs({})  # the stack exports them; the state needs them once

    def _key(self) -> ProvisionerKey:
        key, operator = self._settings.key, self._args.operator
        organization = self._args.organization
        return ProvisionerKey(
            f"{self._name}-key",
            connection=operator.connection,
            organization=organization.name if organization else self._settings.organization,
            organization_id=organization.organization_id if organization else None,
            base_name=key.name or self._settings.name,
            exact_name=key.exact_name,
            tags=key.tags,
            deployment_id=operator.deployment_id,
            trigger=key.rotation,
            rotate_after_days=key.rotate_after_days,
            enabled=self._enabled(),
            adopt_material=self._args.adopted_material,
            opts=self._workload.child_options(),
        )

    def _enabled(self) -> pulumi.Output[bool]:
        """Tell whether the license allows daemons, and the organization to have them in."""
        allowed = self._args.operator.entitled(EXTERNAL_PROVISIONERS)
        if self._args.organization is None:
            return allowed
        return pulumi.Output.all(allowed, self._args.organization.provisioned).apply(all)

    def _secret(self) -> core.v1.Secret:
        key = self._settings.key
        return credential_secret(
            f"{self._workload.name}-secret",
            self._workload.metadata(
                key.secret_name or provisioner_secret_name(self._settings.name)
            ),
            key.secret_key,
            self.key.material,
            self._workload.child_options(),
        )

    def _container(self) -> Container:
        """Return the container. It has no probe: provisionerd serves no http.

        Organization and tags are not set, because the daemon refuses them beside a key.
        """
        want = self._settings
        pod_name = {"fieldRef": {"fieldPath": "metadata.name"}}
        return Container(
            name="provisioner",
            image=want.image or self._args.image,
            args=["provisionerd", "start", *want.args],
            env=[
                {"name": URL, "value": want.url or self._args.url},
                secret_env(DAEMON_KEY, self.secret.metadata.name, want.key.secret_key),
                {"name": DAEMON_NAME, "valueFrom": pod_name},
            ],
        )

    def _daemons(self) -> DaemonsConnected:
        want, operator = self._settings, self._args.operator
        return DaemonsConnected(
            f"{self._name}-daemons",
            connection=operator.connection,
            organization=self.key.organization,
            key_id=self.key.key_id,
            minimum=self._replicas,
            timeout_seconds=want.connect_timeout_seconds,
            revision=pod_revision(
                self._template, self._replicas, self.deployment, self._args.image.reference
            ),
            rollout=None if _overrides_name(want) else self._workload.rollout(self._args.cluster),
            enabled=self.key.enabled,
            opts=self._workload.child_options(self.deployment),
        )

    def _facts(self) -> pulumi.Output["ProvisionerFacts"]:
        key, daemons = self.key, self.daemons
        return collect_facts(
            ProvisionerFacts,
            license=self._args.operator.license,
            organization=key.organization,
            key_id=key.key_id,
            key_name=key.name,
            created_at=key.created_at,
            tags=key.tags,
            provisioned=key.provisioned,
            reason=key.reason,
            deferred=key.deferred,
            secret_name=self.secret.metadata.name,
            secret_fault=credential_fault(
                self.secret, self._settings.key.secret_key, key.material_sha256
            ),
            ready=ready_replicas(self.deployment),
            daemons=daemons.count,
            versions=daemons.versions,
            connected=daemons.connected,
            daemons_reason=daemons.reason,
            skewed=daemons.skewed,
        )


@dataclass(frozen=True, kw_only=True)
class ProvisionerFacts(ObjectFacts):
    """What the resources report on the key, its Secret, the pods and their daemons."""

    license: LicenseFacts
    organization: str = ""
    key_id: str = ""
    key_name: str = ""
    created_at: str = ""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    secret_name: str = ""
    secret_fault: str = ""
    ready: int = 0
    daemons: int = 0
    versions: Sequence[str] = ()
    connected: bool = False
    daemons_reason: str = ""
    skewed: Sequence[str] = ()


def age_in_days(created_at: str, today: date) -> int | None:
    """Return whole days since then; None if there is no key yet."""
    if not created_at:
        return None
    return (today - datetime.fromisoformat(created_at).astimezone(UTC).date()).days


def _overrides_name(want: ProvisionerSettings) -> bool:
    """Tell whether the config gives the daemons other names than those of their pods."""
    flagged = any(each.split("=", 1)[0] == "--name" for each in want.args)
    return flagged or DAEMON_NAME in {*want.env, *want.secret_env}


def _status(want: ProvisionerSettings, facts: ProvisionerFacts) -> Status:
    return Status(
        conditions=_conditions(want, facts),
        summary={
            "name": want.name,
            "organization": facts.organization,
            "keyId": facts.key_id,
            "keyName": facts.key_name if facts.provisioned else "",
            "keyCreatedAt": facts.created_at,
            "keyAgeDays": age_in_days(facts.created_at, datetime.now(UTC).date()),
            **(
                {"rotateAfterDays": want.key.rotate_after_days}
                if want.key.rotate_after_days
                else {}
            ),
            "tags": facts.tags,
            "daemons": int(facts.daemons),
            "versions": facts.versions,
        },
    )


def _conditions(want: ProvisionerSettings, facts: ProvisionerFacts) -> tuple[Condition, ...]:
    component = f"provisioner/{want.name}"
    allowed = facts.license.allows(EXTERNAL_PROVISIONERS)
    may_run = facts.provisioned or allowed
    return (
        feature_entitled(
            "ExternalProvisionersEntitled", component, EXTERNAL_PROVISIONERS, facts.license
        ),
        provisioner_key_ready(component, facts, facts.key_name, allowed=allowed),
        secret_ready(
            "ProvisionerKeySecretReady",
            component,
            facts.secret_name,
            provisioned=may_run,
            fault=facts.secret_fault,
        ),
        deployment_ready(component, want.replicas, facts.ready, may_run=may_run),
        daemons_connected(
            component,
            connected=facts.connected,
            minimum=want.replicas,
            reason=facts.daemons_reason,
            skewed=facts.skewed,
        ),
    )
