"""A CronJob that runs `coder-stack reconcile` of this very stack, with the rights for that (D4).

One run at a time, on a read-only root, with nothing to write to but an empty folder. The state's
address and the passphrase come from Secrets that somebody else makes. Leaves alone: what a
reconcile does (operate/), its limits (`drift` in the config), and the image (Dockerfile).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import yaml
from pulumi_kubernetes import batch, core, meta, rbac

from coder_stack.components.parts.labels import Labels
from coder_stack.components.parts.pod import secret_env
from coder_stack.components.parts.reconcile_rbac import (
    Rule,
    cluster_rules,
    namespace_rules,
)
from coder_stack.components.parts.workload import Workload
from coder_stack.naming import reconcile_cluster_role_name, reconcile_name
from coder_stack.settings import ReconcileJobSettings, Settings

__all__ = ["PROJECT", "ReconcileJob", "ReconcileJobArgs", "command", "kubeconfig"]

# Types of options are quoted: the SDK loads a Kubernetes group at its first mention.

PROJECT = "/srv/coder-stack"
"""Where the Dockerfile puts the project."""
_WORK = "/work"
_CONFIG = "/etc/coder-stack"
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_GROUP = "rbac.authorization.k8s.io"
_USER = 1000


@dataclass(frozen=True, kw_only=True)
class ReconcileJobArgs:
    """Which stack, with which settings; the job is part of both."""

    job: ReconcileJobSettings
    settings: Settings
    """Of the whole stack: they decide which rights it takes to deploy it."""
    stack: str
    """Name of the Pulumi stack."""
    namespace: pulumi.Input[str]


class ReconcileJob(pulumi.ComponentResource):
    """Keeps the stack converged from inside the cluster."""

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
        account = self._workload.account(args.job.service_account_annotations)
        rights = [*self._rights(account), *self._cluster_rights(account)]
        config = core.v1.ConfigMap(
            f"{name}-kubeconfig",
            metadata=self._workload.metadata(),
            data={"kubeconfig": kubeconfig(args.settings.kubernetes.context)},
            opts=self._workload.child(),
        )
        self.cron_job = self._cron_job(account, config, rights)
        self.register_outputs({})

    def _rights(self, account: core.v1.ServiceAccount) -> list[pulumi.Resource]:
        made: list[pulumi.Resource] = []
        home = self._args.settings.control_plane.namespace
        for place, rules in namespace_rules(self._args.settings).items():
            namespace = self._args.namespace if place == home else place
            role = rbac.v1.Role(
                f"{self._name}-{place}",
                metadata=self._workload.at(namespace).metadata(),
                rules=[_rule(rule) for rule in rules],
                opts=self._workload.child(),
            )
            binding = rbac.v1.RoleBinding(
                f"{self._name}-{place}",
                metadata=self._workload.at(namespace).metadata(),
                role_ref=_reference("Role", role.metadata.name),
                subjects=[_subject(account)],
                opts=self._workload.child(),
            )
            made += [role, binding]
        return made

    def _cluster_rights(self, account: core.v1.ServiceAccount) -> list[pulumi.Resource]:
        rules = cluster_rules(self._args.settings, self._cluster_name)
        if not rules:
            return []
        metadata = meta.v1.ObjectMetaArgs(name=self._cluster_name, labels=self._workload.labels.all)
        role = rbac.v1.ClusterRole(
            f"{self._name}-cluster",
            metadata=metadata,
            rules=[_rule(rule) for rule in rules],
            opts=self._workload.child(),
        )
        binding = rbac.v1.ClusterRoleBinding(
            f"{self._name}-cluster",
            metadata=metadata,
            role_ref=_reference("ClusterRole", role.metadata.name),
            subjects=[_subject(account)],
            opts=self._workload.child(),
        )
        return [role, binding]

    def _cron_job(
        self,
        account: core.v1.ServiceAccount,
        config: core.v1.ConfigMap,
        rights: Sequence[pulumi.Resource],
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
                        # A run that failed is repeated by the schedule, not at once.
                        backoff_limit=0,
                        active_deadline_seconds=job.deadline_seconds,
                        template=self._pod(account, config),
                    )
                ),
            ),
            opts=self._workload.child(*rights),
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
    """What the container runs."""
    return ["coder-stack", "reconcile", "--stack", stack, "--wait", str(wait_seconds)]


def environment(job: ReconcileJobSettings) -> list[dict[str, Any]]:
    """Everything that Pulumi would write goes to the one folder that can be written."""
    env: list[dict[str, Any]] = [
        {"name": "HOME", "value": _WORK},
        {"name": "TMPDIR", "value": _WORK},
        {"name": "PULUMI_HOME", "value": f"{_WORK}/pulumi"},
        {"name": "PULUMI_SKIP_UPDATE_CHECK", "value": "true"},
        # The plugin is in the image; a pod that downloads programs is a pod that can be fooled.
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
    """The pod's own account, under the context that the config asks for.

    The program is the same inside and outside the cluster, down to the context's name: otherwise
    the Kubernetes provider would differ from the recorded one in every run.
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
