"""A coderd that somebody else deploys: what the stack knows of it. Creates and touches nothing."""

import pulumi

from coder_stack.components.parts.status import Status, conditions_of
from coder_stack.conditions import Condition
from coder_stack.dynamic.operator_access import OperatorAccess
from coder_stack.settings import ControlPlaneSettings


class ExistingControlPlane:
    """Has the outputs of a ControlPlane, as far as coderd itself can tell them."""

    url: pulumi.Output[str]
    """Its access URL; without one, its Service's inside the cluster."""
    namespace: str
    """Default namespace of the stack's own objects."""
    image: pulumi.Output[str]
    """Default image of provisioners and proxies."""
    phase: pulumi.Output[str]
    status: pulumi.Output[Status]
    conditions: pulumi.Output[list[dict[str, str]]]
    """ControlPlaneReady, by what coderd answers: its pods are not looked at."""
    ready_replicas: None = None

    def __init__(self, settings: ControlPlaneSettings, access: OperatorAccess) -> None:
        url = settings.access_url or settings.in_cluster_url
        self.url = pulumi.Output.from_input(url)
        self.namespace = settings.namespace
        self.image = pulumi.Output.from_input(settings.image.reference)
        ready = access.version.apply(
            lambda version: ready_by_answer("controlPlane", url, version or "")
        )
        self.phase = ready.apply(lambda found: "Ready" if found.status == "True" else "Pending")
        self.status = ready.apply(lambda found: Status(conditions=(found,)))
        self.conditions = conditions_of(self.status)


def ready_by_answer(component: str, url: str, version: str) -> Condition:
    """Judge coderd by its own answer; operator access has waited until it called itself healthy."""
    kind = "ControlPlaneReady"
    if not version:
        said = f"coderd at {url} was not asked yet."
        return Condition(
            component=component, type=kind, status="Unknown", reason="NotSeen", message=said
        )
    said = f"coderd at {url} answers with version {version}."
    return Condition(component=component, type=kind, status="True", reason="Healthy", message=said)
