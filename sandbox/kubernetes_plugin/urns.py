"""A resource's address in a Pulumi program: `urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME`."""

from dataclasses import dataclass

from sandbox.kubernetes_plugin.objects import Kind


@dataclass(frozen=True)
class Urn:
    """Which resource a request is about."""

    text: str

    @property
    def type(self) -> str:
        """The type token without the parents' types: `kubernetes:apps/v1:Deployment`."""
        return self.text.split("::", 3)[2].rpartition("$")[2]

    @property
    def name(self) -> str:
        """The resource's name in the program (which may hold any character)."""
        return self.text.split("::", 3)[3]

    @property
    def module(self) -> str:
        """The middle part of the type token: `apps/v1`, `core/v1`, `helm.sh/v3`."""
        return self.type.split(":")[1]

    @property
    def kind(self) -> Kind:
        """The Kubernetes kind behind the type: `core/v1` is plain `v1`."""
        return Kind(self.module.removeprefix("core/"), self.type.split(":")[2])
