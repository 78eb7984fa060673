"""The pod of the reconcile job or watcher: read-only, with one empty folder to write to (D4).

The backend's URL, the passphrase and the kubeconfigs of other clusters are in existing Secrets. Its
image is the Dockerfile's.
"""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import yaml
from pulumi_kubernetes import core, meta

from coder_stack.components.parts.pod import secret_env
from coder_stack.components.parts.workload import Workload
from coder_stack.naming import fit
from coder_stack.settings import ReconcileJobSettings, SecretRef, Settings

PROJECT = "/srv/coder-stack"
"""Where the Dockerfile puts the project."""
_WORK = "/work"
_CONFIG = "/etc/coder-stack"
_CLUSTERS = "/etc/coder-clusters"
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_USER = 1000


@dataclass(frozen=True, kw_only=True)
class ReconcilePod:
    """What the pods of a CronJob and of a Deployment share."""

    workload: Workload
    settings: Settings
    """Settings of the whole stack, with a reconcile job."""
    job: ReconcileJobSettings
    account: core.v1.ServiceAccount
    config: core.v1.ConfigMap
    """Holds the pod's kubeconfig."""

    def template(self, container: Mapping[str, Any], **spec: Any) -> core.v1.PodTemplateSpecArgs:
        """Return the template with one container; `container` and `spec` have what differs."""
        mounted = mounted_kubeconfigs(self.settings)
        given: dict[str, Any] = {
            "service_account_name": self.account.metadata.name,
            "security_context": {
                "runAsNonRoot": True,
                "runAsUser": _USER,
                "runAsGroup": _USER,
                "fsGroup": _USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [{**self._container(mounted), **container}],
            "volumes": [
                {"name": "work", "emptyDir": {}},
                {"name": "kubeconfig", "configMap": {"name": self.config.metadata.name}},
                *(each.volume for each in mounted),
            ],
            "image_pull_secrets": [{"name": name} for name in self.job.pull_secrets],
            "node_selector": self.job.node_selector,
            "tolerations": list(self.job.tolerations),
            **spec,
        }
        return core.v1.PodTemplateSpecArgs(
            metadata=meta.v1.ObjectMetaArgs(labels=self.workload.labels.all),
            spec=core.v1.PodSpecArgs(**{key: value for key, value in given.items() if value}),
        )

    def _container(self, mounted: Sequence["MountedKubeconfig"]) -> dict[str, Any]:
        return {
            "image": self.job.image,
            "workingDir": PROJECT,
            "env": environment(self.job, mounted),
            "resources": {
                "requests": dict(self.job.resources.requests),
                "limits": dict(self.job.resources.limits),
            },
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            },
            "volumeMounts": [
                {"name": "work", "mountPath": _WORK},
                {"name": "kubeconfig", "mountPath": _CONFIG, "readOnly": True},
                *(each.mount for each in mounted),
            ],
        }


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
