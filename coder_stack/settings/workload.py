"""Options that every Deployment has: image, resources, environment, scheduling.

The control plane, provisioners and proxies share them; components/parts/pod.py builds the pod.
"""

from collections.abc import Collection, Iterator
from typing import Annotated, Literal

from pydantic import Field

from coder_stack.settings.part import (
    Annotations,
    Clash,
    EnvName,
    Labels,
    Manifest,
    ObjectName,
    Part,
    Quantity,
    Reference,
    SecretRef,
    Shape,
)

_PIECE = r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*"


class Image(Part):
    """Which image to run."""

    repository: Annotated[
        str,
        Shape(
            rf"(?:[a-z0-9][a-z0-9.-]*(?::[0-9]+)?/)?{_PIECE}(?:/{_PIECE})*",
            "an image without tag or digest, e.g. ghcr.io/coder/coder",
        ),
    ] = Field(default="ghcr.io/coder/coder", description="Image name without tag.")
    tag: Annotated[
        str, Shape(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}", "the tag of an image, e.g. v2.30.0")
    ] = Field(default="v2.30.0", description="Tag of the image, which is the version of Coder.")
    digest: (
        Annotated[str, Shape(r"sha256:[0-9a-f]{64}", "sha256: and 64 hexadecimal digits")] | None
    ) = Field(
        default=None, description="Digest to pin the image to. Kubernetes then ignores the tag."
    )
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = Field(
        default="IfNotPresent", description="When the kubelet pulls the image."
    )
    pull_secrets: tuple[ObjectName, ...] = Field(
        default=(), strict=False, description="Secrets with registry credentials."
    )

    def references(self) -> Iterator[Reference]:
        """Return the Secrets with registry credentials."""
        for index, name in enumerate(self.pull_secrets):
            yield Reference(f"pullSecrets[{index}]", name, form="docker-registry")

    @property
    def reference(self) -> str:
        """The image reference of the container."""
        return f"{self.repository}:{self.tag}" + (f"@{self.digest}" if self.digest else "")


class Resources(Part):
    """Resource requests and limits of a pod, as Kubernetes quantities."""

    requests: dict[str, Quantity] = Field(
        default={"cpu": "250m", "memory": "512Mi"}, description="Resource requests."
    )
    limits: dict[str, Quantity] = Field(default={"memory": "1Gi"}, description="Resource limits.")


class Probe(Part):
    """An HTTP probe of `/healthz`."""

    enabled: bool = Field(default=True, description="Enable the probe.")
    initial_delay_seconds: int = Field(default=0, ge=0, description="Delay before the first probe.")
    period_seconds: int = Field(default=10, ge=1, description="Time between two probes.")
    timeout_seconds: int = Field(default=1, ge=1, description="Timeout of a probe.")
    failure_threshold: int = Field(default=3, ge=1, description="Consecutive failures that count.")


class WorkloadSettings(Part):
    """Options of a Deployment and its pods."""

    replicas: int = Field(default=1, ge=0, le=100, description="Number of pods.")
    resources: Resources = Field(default=Resources(), description="Requests and limits of a pod.")
    env: dict[EnvName, str] = Field(
        default={}, description="Environment variables in plain text. Put secrets into `secretEnv`."
    )
    secret_env: dict[EnvName, SecretRef] = Field(
        default={}, description="Environment variables whose values come from Secrets."
    )
    env_from: tuple[Manifest, ...] = Field(
        default=(),
        strict=False,
        description="Secrets or ConfigMaps to import as environment variables, as in Kubernetes.",
    )
    labels: Labels = Field(default={}, description="Additional labels for every object.")
    annotations: Annotations = Field(default={}, description="Annotations for the Deployment.")
    pod_labels: Labels = Field(default={}, description="Additional labels for the pods.")
    pod_annotations: Annotations = Field(default={}, description="Annotations for the pods.")
    service_account_annotations: Annotations = Field(
        default={}, description="Annotations for the ServiceAccount, e.g. for a cloud identity."
    )
    node_selector: Labels = Field(default={}, description="Node labels required for scheduling.")
    tolerations: tuple[Manifest, ...] = Field(
        default=(), strict=False, description="Tolerations for node taints, as in Kubernetes."
    )
    affinity: Manifest = Field(default={}, description="Affinity, as in Kubernetes.")
    topology_spread_constraints: tuple[Manifest, ...] = Field(
        default=(), strict=False, description="Topology spread constraints, as in Kubernetes."
    )
    priority_class_name: ObjectName | None = Field(
        default=None, description="PriorityClass of the pods."
    )
    volumes: tuple[Manifest, ...] = Field(
        default=(), strict=False, description="Additional volumes, as in Kubernetes."
    )
    volume_mounts: tuple[Manifest, ...] = Field(
        default=(), strict=False, description="Additional volume mounts, as in Kubernetes."
    )
    ca_bundles: tuple[SecretRef, ...] = Field(
        default=(),
        strict=False,
        description="Additional certificate authorities to trust, as PEM in Secrets.",
    )
    security_context: Manifest = Field(
        default={},
        description=(
            "Security context of the container, as in Kubernetes. Merged over the defaults: user "
            "1000, non-root, no privilege escalation, no capabilities, seccomp RuntimeDefault."
        ),
    )
    pod_security_context: Manifest = Field(
        default={}, description="Security context of the pod, merged over safe defaults."
    )

    def clashes(self, invalid: Collection[str] = ()) -> Iterator[Clash]:
        """Refuse duplicate variables and bundles."""
        for name in sorted(set(self.env) & set(self.secret_env)):
            yield Clash(f"secretEnv.{name}", "is also set in env: remove one of them")
        for index, bundle in enumerate(self.ca_bundles):
            if bundle in self.ca_bundles[:index]:
                yield Clash(f"caBundles[{index}]", "is a duplicate: remove it")
