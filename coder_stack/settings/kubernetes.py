"""Which cluster to use: a kubeconfig and a context in it."""

from pydantic import Field

from coder_stack.settings.part import Part


class KubernetesSettings(Part):
    """A cluster: a kubeconfig, and a context in it."""

    kubeconfig: str | None = Field(
        default=None,
        min_length=1,
        description="Path of the kubeconfig, relative to the project. Default: as for kubectl.",
    )
    context: str | None = Field(
        default=None,
        min_length=1,
        description="Context in the kubeconfig. Default: the current one.",
    )
