"""What can be said about any Deployment of ours: image, size, surroundings, where it may run.

The control plane, provisioners and proxies all take these; components/pod.py makes a pod of them.
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
    SecretRef,
    Shape,
)

__all__ = ["Image", "Probe", "Resources", "Workload"]


_PIECE = r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*"


class Image(Part):
    """Which image to run."""

    repository: Annotated[
        str,
        Shape(
            rf"(?:[a-z0-9][a-z0-9.-]*(?::[0-9]+)?/)?{_PIECE}(?:/{_PIECE})*",
            "an image without tag or digest, e.g. ghcr.io/coder/coder",
        ),
    ] = Field(default="ghcr.io/coder/coder", description="Image without its tag.")
    tag: Annotated[
        str, Shape(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}", "the tag of an image, e.g. v2.30.0")
    ] = Field(default="v2.30.0", description="Version of Coder, as the image is tagged.")
    digest: (
        Annotated[str, Shape(r"sha256:[0-9a-f]{64}", "sha256: and 64 hexadecimal digits")] | None
    ) = Field(
        default=None,
        description="Digest that the image must have; the tag is then only for people.",
    )
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = Field(
        default="IfNotPresent", description="When the kubelet pulls the image."
    )
    pull_secrets: tuple[ObjectName, ...] = Field(
        default=(), strict=False, description="Secrets with the registry's credentials."
    )

    @property
    def reference(self) -> str:
        """What the container's `image` says."""
        return f"{self.repository}:{self.tag}" + (f"@{self.digest}" if self.digest else "")


class Resources(Part):
    """What one pod asks for and may use, as Kubernetes quantities."""

    requests: dict[str, Quantity] = Field(
        default={"cpu": "250m", "memory": "512Mi"}, description="What the scheduler reserves."
    )
    limits: dict[str, Quantity] = Field(
        default={"memory": "1Gi"}, description="What the pod may not exceed."
    )


class Probe(Part):
    """When Kubernetes asks `/healthz`."""

    enabled: bool = Field(default=True, description="Ask at all.")
    initial_delay_seconds: int = Field(default=0, ge=0, description="Wait before the first time.")
    period_seconds: int = Field(default=10, ge=1, description="Time between two questions.")
    timeout_seconds: int = Field(default=1, ge=1, description="Time to answer.")
    failure_threshold: int = Field(default=3, ge=1, description="Bad answers in a row that count.")


class Workload(Part):
    """Options of a Deployment and its pods."""

    replicas: int = Field(default=1, ge=0, le=100, description="Number of pods.")
    resources: Resources = Field(default=Resources(), description="Requests and limits of a pod.")
    env: dict[EnvName, str] = Field(
        default={}, description="More environment variables. No secrets: all can be read."
    )
    secret_env: dict[EnvName, SecretRef] = Field(
        default={}, description="Environment variables whose values are in Secrets."
    )
    env_from: tuple[Manifest, ...] = Field(
        default=(),
        strict=False,
        description="Whole Secrets or ConfigMaps as environment, as in Kubernetes (`envFrom`).",
    )
    labels: Labels = Field(default={}, description="More labels of every object.")
    annotations: Annotations = Field(default={}, description="Annotations of the Deployment.")
    pod_labels: Labels = Field(default={}, description="More labels of the pods.")
    pod_annotations: Annotations = Field(default={}, description="Annotations of the pods.")
    service_account_annotations: Annotations = Field(
        default={}, description="Annotations of the ServiceAccount, e.g. a cloud identity."
    )
    node_selector: Labels = Field(default={}, description="Labels that a node must have.")
    tolerations: tuple[Manifest, ...] = Field(
        default=(), strict=False, description="Taints to bear, as in Kubernetes."
    )
    affinity: Manifest = Field(default={}, description="Affinity, as in Kubernetes.")
    topology_spread_constraints: tuple[Manifest, ...] = Field(
        default=(), strict=False, description="How to spread the pods, as in Kubernetes."
    )
    priority_class_name: ObjectName | None = Field(
        default=None, description="Priority of the pods."
    )
    volumes: tuple[Manifest, ...] = Field(
        default=(), strict=False, description="More volumes, as in Kubernetes."
    )
    volume_mounts: tuple[Manifest, ...] = Field(
        default=(), strict=False, description="Where the container sees them, as in Kubernetes."
    )
    ca_bundles: tuple[SecretRef, ...] = Field(
        default=(),
        strict=False,
        description="Further certificate authorities to trust; PEM in Secrets.",
    )
    security_context: Manifest = Field(
        default={},
        description=(
            "Of the container, as in Kubernetes, laid over the safe defaults: user 1000, non-root, "
            "no privilege escalation, no capabilities, seccomp RuntimeDefault."
        ),
    )
    pod_security_context: Manifest = Field(
        default={}, description="Of the pod, as in Kubernetes, laid over the safe defaults."
    )

    def clashes(self, unsure: Collection[str] = ()) -> Iterator[Clash]:
        """One value for a variable, one file for a bundle."""
        del unsure
        for name in sorted(set(self.env) & set(self.secret_env)):
            yield Clash(f"secretEnv.{name}", "is set in env too: give one of them")
        for index, bundle in enumerate(self.ca_bundles):
            if bundle in self.ca_bundles[:index]:
                yield Clash(f"caBundles[{index}]", "is there already: leave it out")
