"""Write Kubernetes Events on the objects that drifted or were repaired (N2).

`kubectl describe` shows them. An Event has the name of its object and cause, so a repeated one is
updated. Where the account may not write Events, there are none; drift in coderd has no object here.
"""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from coder_stack.cluster.client import connected, send
from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.coderd.errors import CoderdError
from coder_stack.operate.report.model import ResourceReport
from coder_stack.operate.watch.facts import Facts, ObjectFact

_OPERATION = "write an Event"
Reason = Literal["DriftFound", "DriftRepaired"]


@dataclass(frozen=True)
class ObjectEvents:
    """Writes to the clusters of one stack."""

    facts: Facts
    clusters: dict[str, Kubeconfig]
    """By the name of their provider, with absolute paths."""

    def write(self, resources: Iterable[ResourceReport], reason: Reason) -> None:
        """Write one Event for each Kubernetes object among the resources."""
        objects = {each.urn: each for each in self.facts.objects}
        by_cluster: dict[str, list[dict[str, Any]]] = {}
        for each in resources:
            if each.cluster is None and (fact := objects.get(each.urn)):
                event = event_of(fact, each, reason, datetime.now(UTC))
                by_cluster.setdefault(fact.cluster, []).append(event)
        for cluster, events in by_cluster.items():
            with suppress(CoderdError):
                self._send(self.clusters[cluster], events)

    def _send(self, cluster: Kubeconfig, events: list[dict[str, Any]]) -> None:
        with connected(cluster, Kubeconfig(), _OPERATION) as http:
            for event in events:
                metadata = event["metadata"]
                path = ("api", "v1", "namespaces", metadata["namespace"], "events")
                query = {"fieldManager": "coder-stack-watch", "force": "true"}
                status, _ = send(
                    http,
                    _OPERATION,
                    (*path, metadata["name"]),
                    method="PATCH",
                    query=query,
                    apply=event,
                )
                if status == 403:
                    return


def event_of(
    fact: ObjectFact, resource: ResourceReport, reason: Reason, now: datetime
) -> dict[str, Any]:
    """Return the Event about one object. Pure."""
    namespace = fact.namespace
    kind, version = resource.type.rpartition(":")[2], resource.type.split(":")[1]
    digest = hashlib.sha256(f"{reason} {resource.urn} {resource.cause}".encode()).hexdigest()[:16]
    at = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{fact.name}.{digest}", "namespace": namespace},
        "involvedObject": {
            "apiVersion": version.removeprefix("core/"),
            "kind": kind,
            "namespace": namespace,
            "name": fact.name,
            "uid": fact.uid,
        },
        "reason": reason,
        "message": resource.cause,
        "type": "Warning" if reason == "DriftFound" else "Normal",
        "source": {"component": "coder-stack"},
        "firstTimestamp": at,
        "lastTimestamp": at,
        "count": 1,
    }
