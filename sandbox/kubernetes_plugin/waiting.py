"""Wait until objects are ready (readiness.py), and report progress.

It polls: that misses no event, and survives a restart of the API server. It ends when the engine
cancels.
"""

from dataclasses import dataclass
from typing import Final

from sandbox.kubernetes_plugin.api import Api
from sandbox.kubernetes_plugin.engine_log import EngineLog
from sandbox.kubernetes_plugin.errors import (
    ApiError,
    Cancelled,
    NotReady,
    PluginError,
    Unreachable,
)
from sandbox.kubernetes_plugin.objects import (
    SKIP_AWAIT,
    TIMEOUT_SECONDS,
    WAIT_FOR,
    Kind,
    annotation,
    condition,
    kind_of,
    name_of,
    namespace_of,
    owned_by,
)
from sandbox.kubernetes_plugin.readiness import (
    READY,
    Readiness,
    judge,
    judge_service,
    pod_troubles,
    waiting,
)
from sandbox.kubernetes_plugin.values import Object, as_list, as_text, dig
from sandbox.kubernetes_plugin.wait_for import judge_conditions, parse

_DEFAULT_SECONDS: Final = {
    "v1/PersistentVolume": 300.0,
    "v1/PersistentVolumeClaim": 300.0,
    "v1/ResourceQuota": 60.0,
    "v1/Secret": 5.0,
}
TEN_MINUTES: Final = 600.0
# A Service without endpoints is ready after this time.
_SETTLE_SECONDS: Final = 10.0
SLOWEST_POLL: Final = 1.0
# A refresh does not report that these are not ready.
_NOT_JUDGED_ON_READ: Final = frozenset(
    {"v1/PersistentVolume", "v1/PersistentVolumeClaim", "v1/ResourceQuota", "v1/Secret"}
)


@dataclass(frozen=True)
class Waiter:
    """Waits for objects of one cluster and reports progress to the engine."""

    api: Api
    log: EngineLog

    def until_ready(self, live: Object, inputs: Object, timeout: float, urn: str) -> Object:
        """Return the live object when it is ready; raise NotReady with its last state."""
        if annotation(inputs, SKIP_AWAIT) in {"true", "ready"}:
            return live
        kind, name = kind_of(live), name_of(live)
        seconds = timeout_seconds(timeout, inputs, _DEFAULT_SECONDS.get(kind.key, TEN_MINUTES))
        expired, settled = self.api.deadline(seconds), self.api.deadline(_SETTLE_SECONDS)
        verdict, pause = self._awaited(live, inputs), 0.2
        while not verdict.ready and not (verdict.settling and settled()):
            reasons = [*verdict.reasons, *self._explain(live)]
            if verdict.hopeless:
                raise NotReady(f'{kind.name} "{name}" failed', reasons, live)
            if expired():
                raise NotReady(
                    f'{kind.name} "{name}" timed out after {seconds:g} s waiting to be ready',
                    reasons,
                    live,
                )
            self.log.status(urn, reasons[-1] if reasons else "waiting")
            try:
                self.api.pause(pause)
            except Cancelled:
                raise NotReady(
                    f'waiting for {kind.name} "{name}" was cancelled', reasons, live
                ) from None
            pause = min(pause * 1.3, SLOWEST_POLL)
            live = self._refetch(kind, live, urn)
            verdict = self._awaited(live, inputs)
        self.log.status(urn, f"{kind.name} initialization complete" if pause > 0.2 else "")
        return live

    def _awaited(self, live: Object, inputs: Object) -> Readiness:
        """Return the readiness by the program's own conditions, or else by the kind's rule."""
        expected = parse(annotation(inputs, WAIT_FOR))
        return judge_conditions(live, expected) if expected else self.verdict(live)

    def _refetch(self, kind: Kind, live: Object, urn: str) -> Object:
        """Return the current object; its last state if the API server does not answer.

        Only a 404 means that the object is gone; the state must keep it after all other errors.
        """
        name = name_of(live)
        try:
            return self.api.get(kind, namespace_of(live), name)
        except (Unreachable, Cancelled) as error:
            self.log.status(urn, str(error))
            return live
        except ApiError as error:
            if error.not_found:
                told = f'{kind.name} "{name}" was deleted while waiting for it to be ready'
                raise PluginError(told) from error
            told = f'{kind.name} "{name}" cannot be watched until it is ready'
            raise NotReady(told, [str(error)], live) from error

    def verdict(self, live: Object) -> Readiness:
        """Return the object's readiness, and look up what it depends on."""
        key = kind_of(live).key
        if key == "v1/Service":
            label = f"kubernetes.io/service-name={name_of(live)}"
            slices = Kind("discovery.k8s.io/v1", "EndpointSlice")
            found = self._listed(slices, namespace_of(live), labelSelector=label)
            return judge_service(live, found)
        verdict = judge(live)
        if key == "v1/PersistentVolumeClaim" and not verdict.ready and self._first_consumer(live):
            return READY
        if key == "apps/v1/Deployment" and verdict.ready:
            return self._claims_verdict(live)
        return verdict

    def troubles(self, live: Object, inputs: Object) -> list[str]:
        """Return why an object is not ready in a refresh; empty if it is."""
        kind = kind_of(live)
        if kind.key in _NOT_JUDGED_ON_READ or annotation(inputs, SKIP_AWAIT) in {"true", "ready"}:
            return []
        verdict = self.verdict(live)
        if verdict.ready or verdict.settling or verdict.unseen:
            return []
        told = f'{kind.name} "{name_of(live)}" is not ready'
        return [told, *verdict.reasons, *self._explain(live)]

    def _first_consumer(self, claim: Object) -> bool:
        name = as_text(dig(claim, "spec", "storageClassName"))
        if not name or dig(claim, "status", "phase") != "Pending":
            return False
        try:
            found = self.api.get(Kind("storage.k8s.io/v1", "StorageClass"), "", name)
        except PluginError:
            return False
        return found.get("volumeBindingMode") == "WaitForFirstConsumer"

    def _claims_verdict(self, deployment: Object) -> Readiness:
        """Require that the claims that a Deployment mounts are bound."""
        volumes = as_list(dig(deployment, "spec", "template", "spec", "volumes"))
        names = {as_text(dig(entry, "persistentVolumeClaim", "claimName")) for entry in volumes}
        unbound: list[str] = []
        for name in sorted(names - {""}):
            claim = self._found(Kind("v1", "PersistentVolumeClaim"), deployment, name)
            if claim and dig(claim, "status", "phase") != "Bound":
                unbound.append(name)
        told = f"PersistentVolumeClaims not bound: {', '.join(unbound)}"
        return waiting(told) if unbound else READY

    def _found(self, kind: Kind, beside: Object, name: str) -> Object:
        try:
            return self.api.get(kind, namespace_of(beside), name)
        except PluginError:
            return {}

    def _explain(self, live: Object) -> list[str]:
        """Return the problems of a workload's pods for the message."""
        if kind_of(live).key not in {
            "apps/v1/DaemonSet",
            "apps/v1/Deployment",
            "apps/v1/StatefulSet",
            "batch/v1/Job",
        }:
            return []
        namespace = namespace_of(live)
        owners, reasons = [live], list[str]()
        if kind_of(live).name == "Deployment":
            sets = self._listed(Kind("apps/v1", "ReplicaSet"), namespace)
            owners = [entry for entry in sets if owned_by(entry, live)]
            for entry in owners:
                failure = condition(entry, "ReplicaFailure")
                if failure.get("status") == "True":
                    reasons.append(
                        f'ReplicaSet "{name_of(entry)}": {as_text(failure.get("reason"))}: '
                        f"{as_text(failure.get('message'))}"
                    )
        for pod in self._listed(Kind("v1", "Pod"), namespace):
            if any(owned_by(pod, owner) for owner in owners):
                reasons += pod_troubles(pod)
        return reasons

    def _listed(self, kind: Kind, namespace: str, **query: str) -> list[Object]:
        try:
            return self.api.list(kind, namespace, **query)
        except PluginError:
            return []


def timeout_seconds(timeout: float, inputs: Object, default: float) -> float:
    """Return the timeout from `customTimeouts`, else the annotation, else the default."""
    if timeout > 0:
        return timeout
    text = annotation(inputs, TIMEOUT_SECONDS)
    return float(text) if text.isdigit() else default
