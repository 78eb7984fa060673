"""An optional CronJob in the cluster that repairs drift by itself (D4).

Values of the backend's address and of the passphrase stay in Secrets that are made by somebody
else: the stack must not hold the key to its own state.
"""

from typing import Annotated

from pydantic import Field

from coder_stack.settings.part import (
    Annotations,
    EnvName,
    Labels,
    Manifest,
    ObjectName,
    Part,
    SecretRef,
    Shape,
)
from coder_stack.settings.workload import Resources

__all__ = ["ReconcileJob"]

_CRON = r"[0-9*/,A-Za-z-]+"


class ReconcileJob(Part):
    """Runs `coder-stack reconcile` on a schedule, with the pod's own account as its kubeconfig."""

    image: Annotated[
        str,
        Shape(
            r"[a-z0-9][-a-z0-9._/:]*(?::[A-Za-z0-9_][A-Za-z0-9_.-]*|@sha256:[0-9a-f]{64})",
            "an image with a tag or a digest, e.g. registry.example.com/coder-stack:1.2.0",
        ),
    ] = Field(description="Image made from the Dockerfile: this project, its config inside.")
    backend: SecretRef = Field(description="Secret with the state's address, `PULUMI_BACKEND_URL`.")
    passphrase: SecretRef | None = Field(
        default=None,
        description=(
            "Secret with `PULUMI_CONFIG_PASSPHRASE`. Leave it out if a key service encrypts the "
            "stack's secrets."
        ),
    )
    schedule: Annotated[
        str,
        Shape(
            rf"{_CRON}(?: {_CRON}){{4}}|@(?:hourly|daily|weekly|monthly)",
            'five fields of cron, e.g. "47 5 * * *"',
        ),
    ] = Field(default="47 5 * * *", description="When, in the time zone of the cluster.")
    suspended: bool = Field(default=False, description="Keep it, but do not start it.")
    wait_seconds: int = Field(
        default=600, ge=0, le=3000, description="How long to wait for an update that is running."
    )
    deadline_seconds: int = Field(
        default=3600, ge=60, description="A run that takes longer is ended."
    )
    env: dict[EnvName, str] = Field(
        default={}, description="More environment variables, e.g. `AWS_REGION`. No secrets."
    )
    secret_env: dict[EnvName, SecretRef] = Field(
        default={}, description="Environment variables whose values are in Secrets."
    )
    pull_secrets: tuple[ObjectName, ...] = Field(
        default=(), strict=False, description="Secrets with the registry's credentials."
    )
    service_account_annotations: Annotations = Field(
        default={}, description="Annotations of the ServiceAccount, e.g. a cloud identity."
    )
    resources: Resources = Field(default=Resources(), description="Requests and limits of the pod.")
    labels: Labels = Field(default={}, description="More labels of every object.")
    node_selector: Labels = Field(default={}, description="Labels that a node must have.")
    tolerations: tuple[Manifest, ...] = Field(
        default=(), strict=False, description="Taints to bear, as in Kubernetes."
    )
