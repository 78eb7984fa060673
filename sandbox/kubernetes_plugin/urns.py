"""Parse URNs: `urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME`."""

from dataclasses import dataclass

from sandbox.kubernetes_plugin.objects import Kind


@dataclass(frozen=True)
class Urn:
    """The URN of a resource."""

    text: str

    @property
    def type(self) -> str:
        """Return the type without its parents, such as `kubernetes:apps/v1:Deployment`."""
        return self.text.split("::", 3)[2].rpartition("$")[2]

    @property
    def name(self) -> str:
        """Return the resource's name in the program; it may contain any character."""
        return self.text.split("::", 3)[3]

    @property
    def module(self) -> str:
        """Return the module of the type, such as `apps/v1` or `core/v1`."""
        return self.type.split(":")[1]

    @property
    def kind(self) -> Kind:
        """Return the Kubernetes kind of the type; `core/v1` is `v1`."""
        return Kind(self.module.removeprefix("core/"), self.type.split(":")[2])
