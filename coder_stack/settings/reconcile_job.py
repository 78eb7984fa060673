"""An optional CronJob, or a watcher, in the cluster that repairs drift (D4, N1).

The backend's URL, the passphrase and the kubeconfigs of other clusters stay in existing Secrets:
the stack must not hold the key to its own state.
"""

from collections.abc import Collection, Iterator
from typing import Annotated, Literal

from pydantic import Field

from coder_stack.settings.part import (
    Annotations,
    Clash,
    EnvName,
    Label,
    Labels,
    Manifest,
    ObjectName,
    Part,
    Reference,
    SecretRef,
    Shape,
)
from coder_stack.settings.workload import Resources

_CRON = r"[0-9*/,A-Za-z-]+"


_ONLY_SCHEDULED = ("schedule", "wait_seconds", "deadline_seconds")


class ReconcileJobSettings(Part):
    """A CronJob that runs `coder-stack reconcile`, with the pod's ServiceAccount as kubeconfig.

    Or, with `mode: watch`, a Deployment that runs `coder-stack watch --repair`.
    """

    mode: Literal["schedule", "watch"] = Field(
        default="schedule",
        description=(
            "`schedule`: a CronJob; `watch`: a Deployment with one pod that notices drift in "
            "seconds, as `watch` describes."
        ),
    )

    image: Annotated[
        str,
        Shape(
            r"[a-z0-9][-a-z0-9._/:]*(?::[A-Za-z0-9_][A-Za-z0-9_.-]*|@sha256:[0-9a-f]{64})",
            "an image with a tag or a digest, e.g. registry.example.com/coder-stack:1.2.0",
        ),
    ] = Field(description="Image built from the Dockerfile, with this project and its config.")
    backend: SecretRef = Field(description="Secret with the backend's URL, `PULUMI_BACKEND_URL`.")
    passphrase: SecretRef | None = Field(
        default=None,
        description=(
            "Secret with `PULUMI_CONFIG_PASSPHRASE`. Omit it if a key management service encrypts "
            "the stack's secrets."
        ),
    )
    kubeconfigs: dict[Label, SecretRef] = Field(
        default={},
        description=(
            "Secrets with the kubeconfigs of `clusters`, by name. Each is a file at "
            "`clusters.<name>.kubeconfig`, or else has the context `clusters.<name>.context`."
        ),
    )
    schedule: Annotated[
        str,
        Shape(
            rf"{_CRON}(?: {_CRON}){{4}}|@(?:hourly|daily|weekly|monthly)",
            'a cron schedule with five fields, e.g. "47 5 * * *"',
        ),
    ] = Field(default="47 5 * * *", description="Cron schedule, in the cluster's time zone.")
    suspended: bool = Field(
        default=False,
        description="Suspend it. The Secrets that it refers to may then be missing.",
    )
    wait_seconds: int = Field(
        default=600, ge=0, le=3000, description="How long to wait for another running update."
    )
    deadline_seconds: int = Field(
        default=3600, ge=60, description="Time after which a run is stopped."
    )
    env: dict[EnvName, str] = Field(
        default={}, description="Environment variables in plain text, e.g. `AWS_REGION`."
    )
    secret_env: dict[EnvName, SecretRef] = Field(
        default={}, description="Environment variables whose values come from Secrets."
    )
    pull_secrets: tuple[ObjectName, ...] = Field(
        default=(), strict=False, description="Secrets with registry credentials."
    )
    service_account_annotations: Annotations = Field(
        default={}, description="Annotations for the ServiceAccount, e.g. for a cloud identity."
    )
    resources: Resources = Field(default=Resources(), description="Requests and limits of the pod.")
    labels: Labels = Field(default={}, description="Additional labels for every object.")
    node_selector: Labels = Field(default={}, description="Node labels required for scheduling.")
    tolerations: tuple[Manifest, ...] = Field(
        default=(), strict=False, description="Tolerations for node taints, as in Kubernetes."
    )

    def clashes(self, invalid: Collection[str] = ()) -> Iterator[Clash]:
        """Refuse fields of the CronJob for a watcher."""
        fields = type(self).model_fields
        for name in _ONLY_SCHEDULED if self.mode == "watch" else ():
            if name in self.model_fields_set:
                yield Clash(fields[name].alias or name, "has no effect with mode: watch; remove it")

    def references(self) -> Iterator[Reference]:
        """Return the Secrets with registry credentials."""
        for index, name in enumerate(self.pull_secrets):
            yield Reference(f"pullSecrets[{index}]", name, form="docker-registry")
