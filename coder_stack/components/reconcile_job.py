"""What keeps the stack converged from within the cluster, with the permissions for it (D4, N1).

A CronJob that runs `coder-stack reconcile`, or a Deployment with one pod that runs `coder-stack
watch`: one run at a time in both cases. The limits are `drift` in the config. The pod is in
parts/reconcile_pod.py, its permissions in other clusters in reconcile_account.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes import apps, batch, core

from coder_stack.components.parts.reconcile_pod import ReconcilePod, kubeconfig
from coder_stack.components.reconcile_account import account_workload, with_permissions
from coder_stack.settings import ReconcileJobSettings, Settings

# Some types are quoted: the SDK loads a Kubernetes API group when it is first used.

PORT = 9187
"""Where the watcher serves /healthz, /readyz and /metrics."""
_FINISH_SECONDS = 1800
"""How long a repair that is interrupted may take to end its current step, such as a rollout."""


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
    """A CronJob or a Deployment that keeps the stack converged, its account and permissions."""

    cron_job: "batch.v1.CronJob | None" = None
    watcher: "apps.v1.Deployment | None" = None
    """One of the two is there."""

    def __init__(
        self, name: str, args: ReconcileJobArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("coder-stack:index:ReconcileJob", name, None, opts)
        self._name = name
        self._args = args
        self._workload = account_workload(name, args.settings, args.namespace, self)
        account = self._workload.service_account(args.job.service_account_annotations)
        permissions = with_permissions(
            self._workload, account, args.settings, kept_databases=args.kept_databases
        )
        config = core.v1.ConfigMap(
            f"{name}-kubeconfig",
            metadata=self._workload.metadata(),
            data={"kubeconfig": kubeconfig(args.settings.kubernetes.context)},
            opts=self._workload.child_options(),
        )
        pod = ReconcilePod(
            workload=self._workload,
            settings=args.settings,
            job=args.job,
            account=account,
            config=config,
        )
        if args.job.mode == "watch":
            self.watcher = self._watcher(pod, permissions)
        else:
            self.cron_job = self._cron_job(pod, permissions)
        self.register_outputs({})

    def _cron_job(
        self, pod: ReconcilePod, permissions: Sequence[pulumi.Resource]
    ) -> "batch.v1.CronJob":
        job = self._args.job
        container = {
            "name": "reconcile",
            "command": command(self._args.stack, job.wait_seconds),
        }
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
                        template=pod.template(container, restart_policy="Never"),
                    )
                ),
            ),
            opts=self._workload.child_options(*permissions),
        )

    def _watcher(
        self, pod: ReconcilePod, permissions: Sequence[pulumi.Resource]
    ) -> "apps.v1.Deployment":
        def probe(path: str) -> dict[str, object]:
            return {"httpGet": {"path": path, "port": "metrics"}, "periodSeconds": 10}

        container = {
            "name": "watch",
            "command": watch_command(self._args.stack),
            "ports": [{"name": "metrics", "containerPort": PORT}],
            "readinessProbe": probe("/readyz"),
            "livenessProbe": {**probe("/healthz"), "initialDelaySeconds": 60},
        }
        template = pod.template(container, termination_grace_period_seconds=_FINISH_SECONDS)
        return apps.v1.Deployment(
            f"{self._name}-watcher",
            # It waits for this very update, whose lock it respects: nobody may wait for it.
            metadata=self._workload.metadata(annotations={"pulumi.com/skipAwait": "true"}),
            spec=apps.v1.DeploymentSpecArgs(
                replicas=0 if self._args.job.suspended else 1,
                # Two at once would wait for each other's Lease.
                strategy=apps.v1.DeploymentStrategyArgs(type="Recreate"),
                selector=self._workload.pod_selector(),
                template=template,
            ),
            opts=self._workload.child_options(*permissions),
        )


def command(stack: str, wait_seconds: int) -> list[str]:
    """Return the command of the CronJob's container."""
    return ["coder-stack", "reconcile", "--stack", stack, "--wait", str(wait_seconds)]


def watch_command(stack: str) -> list[str]:
    """Return the command of the watcher's container."""
    listen = f"0.0.0.0:{PORT}"
    return ["coder-stack", "watch", "--stack", stack, "--repair", "--listen", listen]
