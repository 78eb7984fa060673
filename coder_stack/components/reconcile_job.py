"""A CronJob that runs `coder-stack reconcile` of this stack, with the permissions for it (D4).

One run at a time, with a read-only root and one empty folder to write to. The backend's URL, the
passphrase and the kubeconfigs of other clusters are in existing Secrets. The reconcile itself is in
operate/, its limits are `drift` in the config, and its image is the Dockerfile's. Its permissions
in other clusters are in reconcile_account.py.
"""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pulumi
import yaml
from pulumi_kubernetes import batch, core, meta

from coder_stack.components.parts.pod import secret_env
from coder_stack.components.reconcile_account import account_workload, with_permissions
from coder_stack.naming import fit
from coder_stack.settings import ReconcileJobSettings, SecretRef, Settings

# Some types are quoted: the SDK loads a Kubernetes API group when it is first used.

PROJECT = "/srv/coder-stack"
"""Where the Dockerfile puts the project."""
_WORK = "/work"
_CONFIG = "/etc/coder-stack"
_CLUSTERS = "/etc/coder-clusters"
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
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
        self._kubeconfigs = mounted_kubeconfigs(args.settings)
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
        self.cron_job = self._cron_job(account, config, permissions)
        self.register_outputs({})

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
                *(each.volume for each in self._kubeconfigs),
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
            "env": environment(job, self._kubeconfigs),
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
                *(each.mount for each in self._kubeconfigs),
            ],
        }


def command(stack: str, wait_seconds: int) -> list[str]:
    """Return the command of the container."""
    return ["coder-stack", "reconcile", "--stack", stack, "--wait", str(wait_seconds)]


def environment(
    job: ReconcileJobSettings, kubeconfigs: Sequence["MountedKubeconfig"] = ()
) -> list[dict[str, Any]]:
    """Return the environment, which makes Pulumi write to the one writable folder."""
    # The first has the current context.
    files = [f"{_CONFIG}/kubeconfig", *(each.listed for each in kubeconfigs if each.listed)]
    env: list[dict[str, Any]] = [
        {"name": "HOME", "value": _WORK},
        {"name": "TMPDIR", "value": _WORK},
        {"name": "PULUMI_HOME", "value": f"{_WORK}/pulumi"},
        {"name": "PULUMI_SKIP_UPDATE_CHECK", "value": "true"},
        # The plugin is in the image; downloading programs at run time would be a risk.
        {"name": "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "value": "true"},
        {"name": "PYTHONDONTWRITEBYTECODE", "value": "1"},
        {"name": "KUBECONFIG", "value": ":".join(files)},
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


class MountedKubeconfig(NamedTuple):
    """The kubeconfig of another cluster: at the path that the config names, or else in KUBECONFIG.

    With another path the Kubernetes provider would differ from the recorded one in every run.
    """

    name: str
    secret: SecretRef
    path: str

    @property
    def volume(self) -> dict[str, Any]:
        """The volume with this one key of the Secret."""
        items = [{"key": self.secret.key, "path": "kubeconfig"}]
        return {
            "name": self._volume_name,
            "secret": {"secretName": self.secret.name, "items": items},
        }

    @property
    def mount(self) -> dict[str, Any]:
        """The file, without hiding what the image has beside it."""
        return {
            "name": self._volume_name,
            "mountPath": self.path or self.listed,
            "subPath": "kubeconfig",
            "readOnly": True,
        }

    @property
    def listed(self) -> str:
        """The path in KUBECONFIG; empty if the config names one."""
        return "" if self.path else f"{_CLUSTERS}/{self.name}"

    @property
    def _volume_name(self) -> str:
        return fit(f"cluster-{self.name}")


def mounted_kubeconfigs(settings: Settings) -> list[MountedKubeconfig]:
    """Return the files to mount; clusters may share one."""
    job = settings.reconcile_job
    found: list[MountedKubeconfig] = []
    for name, secret in job.kubeconfigs.items() if job else ():
        path = _in_pod(settings.clusters[name].kubeconfig)
        if not path or path not in {each.path for each in found}:
            found.append(MountedKubeconfig(name, secret, path))
    return found


def _in_pod(path: str | None) -> str:
    """Return the absolute path of a file that the config names, as the program finds it."""
    if path is None:
        return ""
    if path.startswith("~/"):
        return f"{_WORK}{path[1:]}"  # the pod's HOME
    return posixpath.normpath(posixpath.join(PROJECT, path))
