"""A CronJob that runs `coder-stack reconcile` of this stack, with the permissions for it (D4).

One run at a time, with a read-only root and one empty folder to write to. The backend's URL and the
passphrase are in existing Secrets. The reconcile itself is in operate/, its limits are `drift` in
the config, and its image is the Dockerfile's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import yaml
from pulumi_kubernetes import batch, core, meta, rbac

from coder_stack.components.parts.pod import secret_env
from coder_stack.components.parts.reconcile_rbac import (
    Rule,
    cluster_rules,
    namespace_rules,
)
from coder_stack.components.parts.workload import Labels, Workload
from coder_stack.naming import reconcile_cluster_role_name, reconcile_name
from coder_stack.settings import ReconcileJobSettings, Settings

# Some types are quoted: the SDK loads a Kubernetes API group when it is first used.

PROJECT = "/srv/coder-stack"
"""Where the Dockerfile puts the project."""
_WORK = "/work"
_CONFIG = "/etc/coder-stack"
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_GROUP = "rbac.authorization.k8s.io"
_USER = 1000


@dataclass(frozen=True, kw_only=True)
class ReconcileJobArgs:
    """Arguments of a ReconcileJob."""

    job: ReconcileJobSettings
    settings: Settings
    """Settings of the whole stack, which determine the permissions."""
    stack: str
    """Name of the Pulumi stack."""
    namespace: pulumi.Input[str]
    kept_databases: bool = False
    """Whether an earlier config declared a database that is kept."""


class ReconcileJob(pulumi.ComponentResource):
    """A CronJob that keeps the stack converged, its ServiceAccount and permissions."""

    cron_job: "batch.v1.CronJob"

    def __init__(
        self, name: str, args: ReconcileJobArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("coder-stack:index:ReconcileJob", name, None, opts)
        self._name = name
        self._args = args
        plane = args.settings.control_plane
        self._cluster_name = reconcile_cluster_role_name(plane.namespace, plane.name)
        self._workload = Workload(
            name=name,
            object_name=reconcile_name(plane.name),
            namespace=args.namespace,
            labels=Labels(
                name="coder-stack", instance=plane.name, component="reconcile", more=args.job.labels
            ),
            parent=self,
        )
        account = self._workload.service_account(args.job.service_account_annotations)
        permissions = [*self._roles(account), *self._cluster_role(account)]
        config = core.v1.ConfigMap(
            f"{name}-kubeconfig",
            metadata=self._workload.metadata(),
            data={"kubeconfig": kubeconfig(args.settings.kubernetes.context)},
            opts=self._workload.child_options(),
        )
        self.cron_job = self._cron_job(account, config, permissions)
        self.register_outputs({})

    def _roles(self, account: core.v1.ServiceAccount) -> list[pulumi.Resource]:
        made: list[pulumi.Resource] = []
        own = self._args.settings.control_plane.namespace
        permissions = namespace_rules(self._args.settings, kept_databases=self._args.kept_databases)
        for name, rules in permissions.items():
            namespace = self._args.namespace if name == own else name
            role = rbac.v1.Role(
                f"{self._name}-{name}",
                metadata=self._workload.in_namespace(namespace).metadata(),
                rules=[_rule(rule) for rule in rules],
                opts=self._workload.child_options(),
            )
            binding = rbac.v1.RoleBinding(
                f"{self._name}-{name}",
                metadata=self._workload.in_namespace(namespace).metadata(),
                role_ref=_reference("Role", role.metadata.name),
                subjects=[_subject(account)],
                opts=self._workload.child_options(),
            )
            made += [role, binding]
        return made

    def _cluster_role(self, account: core.v1.ServiceAccount) -> list[pulumi.Resource]:
        rules = cluster_rules(self._args.settings, self._cluster_name)
        if not rules:
            return []
        metadata = meta.v1.ObjectMetaArgs(name=self._cluster_name, labels=self._workload.labels.all)
        role = rbac.v1.ClusterRole(
            f"{self._name}-cluster",
            metadata=metadata,
            rules=[_rule(rule) for rule in rules],
            opts=self._workload.child_options(),
        )
        binding = rbac.v1.ClusterRoleBinding(
            f"{self._name}-cluster",
            metadata=metadata,
            role_ref=_reference("ClusterRole", role.metadata.name),
            subjects=[_subject(account)],
            opts=self._workload.child_options(),
        )
        return [role, binding]

    def _cron_job(
        self,
        account: core.v1.ServiceAccount,
        config: core.v1.ConfigMap,
        permissions: Sequence[pulumi.Resource],
    ) -> "batch.v1.CronJob":
        job = self._args.job
        return batch.v1.CronJob(
            f"{self._name}-job",
            metadata=self._workload.metadata(),
            spec=batch.v1.CronJobSpecArgs(
                schedule=job.schedule,
                suspend=job.suspended,
                concurrency_policy="Forbid",
                starting_deadline_seconds=600,
                successful_jobs_history_limit=1,
                failed_jobs_history_limit=3,
                job_template=batch.v1.JobTemplateSpecArgs(
                    spec=batch.v1.JobSpecArgs(
                        # The schedule repeats a failed run.
                        backoff_limit=0,
                        active_deadline_seconds=job.deadline_seconds,
                        template=self._pod(account, config),
                    )
                ),
            ),
            opts=self._workload.child_options(*permissions),
        )

    def _pod(
        self, account: core.v1.ServiceAccount, config: core.v1.ConfigMap
    ) -> core.v1.PodTemplateSpecArgs:
        job = self._args.job
        spec: dict[str, Any] = {
            "service_account_name": account.metadata.name,
            "restart_policy": "Never",
            "security_context": {
                "runAsNonRoot": True,
                "runAsUser": _USER,
                "runAsGroup": _USER,
                "fsGroup": _USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [self._container()],
            "volumes": [
                {"name": "work", "emptyDir": {}},
                {"name": "kubeconfig", "configMap": {"name": config.metadata.name}},
            ],
            "image_pull_secrets": [{"name": name} for name in job.pull_secrets],
            "node_selector": job.node_selector,
            "tolerations": list(job.tolerations),
        }
        return core.v1.PodTemplateSpecArgs(
            metadata=meta.v1.ObjectMetaArgs(labels=self._workload.labels.all),
            spec=core.v1.PodSpecArgs(**{key: value for key, value in spec.items() if value}),
        )

    def _container(self) -> Mapping[str, Any]:
        job = self._args.job
        return {
            "name": "reconcile",
            "image": job.image,
            "command": command(self._args.stack, job.wait_seconds),
            "workingDir": PROJECT,
            "env": environment(job),
            "resources": {
                "requests": dict(job.resources.requests),
                "limits": dict(job.resources.limits),
            },
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            },
            "volumeMounts": [
                {"name": "work", "mountPath": _WORK},
                {"name": "kubeconfig", "mountPath": _CONFIG, "readOnly": True},
            ],
        }


def command(stack: str, wait_seconds: int) -> list[str]:
    """Return the command of the container."""
    return ["coder-stack", "reconcile", "--stack", stack, "--wait", str(wait_seconds)]


def environment(job: ReconcileJobSettings) -> list[dict[str, Any]]:
    """Return the environment, which makes Pulumi write to the one writable folder."""
    env: list[dict[str, Any]] = [
        {"name": "HOME", "value": _WORK},
        {"name": "TMPDIR", "value": _WORK},
        {"name": "PULUMI_HOME", "value": f"{_WORK}/pulumi"},
        {"name": "PULUMI_SKIP_UPDATE_CHECK", "value": "true"},
        # The plugin is in the image; downloading programs at run time would be a risk.
        {"name": "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "value": "true"},
        {"name": "PYTHONDONTWRITEBYTECODE", "value": "1"},
        {"name": "KUBECONFIG", "value": f"{_CONFIG}/kubeconfig"},
        secret_env("PULUMI_BACKEND_URL", job.backend.name, job.backend.key),
    ]
    if job.passphrase is not None:
        env.append(secret_env("PULUMI_CONFIG_PASSPHRASE", job.passphrase.name, job.passphrase.key))
    env += [{"name": name, "value": value} for name, value in job.env.items()]
    env += [secret_env(name, ref.name, ref.key) for name, ref in job.secret_env.items()]
    return list({each["name"]: each for each in env}.values())


def kubeconfig(context: str | None) -> str:
    """Return a kubeconfig with the pod's ServiceAccount under the config's context.

    With another context the Kubernetes provider would differ from the recorded one in every run.
    """
    name = context or "in-cluster"
    cluster = {
        "server": "https://kubernetes.default.svc",
        "certificate-authority": f"{_ACCOUNT}/ca.crt",
    }
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "clusters": [{"name": name, "cluster": cluster}],
            "users": [{"name": name, "user": {"tokenFile": f"{_ACCOUNT}/token"}}],
        }
    )


def _rule(rule: Rule) -> rbac.v1.PolicyRuleArgs:
    return rbac.v1.PolicyRuleArgs(
        api_groups=[rule.group],
        resources=list(rule.resources),
        verbs=list(rule.verbs),
        resource_names=list(rule.names) or None,
    )


def _reference(kind: str, name: pulumi.Input[str]) -> rbac.v1.RoleRefArgs:
    return rbac.v1.RoleRefArgs(api_group=_GROUP, kind=kind, name=name)


def _subject(account: core.v1.ServiceAccount) -> rbac.v1.SubjectArgs:
    return rbac.v1.SubjectArgs(
        kind="ServiceAccount", name=account.metadata.name, namespace=account.metadata.namespace
    )
