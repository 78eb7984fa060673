"""Delete objects and wait until they are gone.

The default policy is `Foreground`, as in the official plugin: dependents are deleted first. A
timeout names the finalizers of the object.
"""

from dataclasses import dataclass
from typing import Final

from sandbox.kubernetes_plugin.api import Api
from sandbox.kubernetes_plugin.engine_log import EngineLog
from sandbox.kubernetes_plugin.errors import ApiError, Cancelled, NoSuchKind, PluginError
from sandbox.kubernetes_plugin.objects import (
    DELETION_PROPAGATION,
    SKIP_AWAIT,
    Kind,
    annotation,
    condition,
    kind_of,
    name_of,
    namespace_of,
)
from sandbox.kubernetes_plugin.values import Object, as_list, as_text, dig
from sandbox.kubernetes_plugin.waiting import SLOWEST_POLL, TEN_MINUTES, timeout_seconds

_POLICIES: Final = {"orphan": "Orphan", "background": "Background"}
# Kinds for which `skipAwait: "true"` also skips the wait for the deletion.
_SKIPS_DELETION_TOO: Final = frozenset(
    {
        "apps/v1/DaemonSet",
        "apps/v1/Deployment",
        "apps/v1/StatefulSet",
        "batch/v1/Job",
        "v1/Namespace",
        "v1/Pod",
        "v1/ReplicationController",
    }
)


@dataclass(frozen=True)
class Deleter:
    """Deletes objects of one cluster and reports progress to the engine."""

    api: Api
    log: EngineLog

    def delete(self, live: Object, inputs: Object, timeout: float, urn: str) -> None:
        """Delete the object and wait until it is gone; a missing object is no error."""
        kind, namespace, name = kind_of(live), namespace_of(live), name_of(live)
        policy = _POLICIES.get(annotation(inputs, DELETION_PROPAGATION).lower(), "Foreground")
        try:
            self.api.delete(kind, namespace, name, policy)
        except NoSuchKind:
            return
        except ApiError as error:
            if error.not_found:
                return
            raise
        if annotation(inputs, SKIP_AWAIT) == "true" and kind.key in _SKIPS_DELETION_TOO:
            return
        seconds = timeout_seconds(timeout, inputs, TEN_MINUTES)
        expired, pause = self.api.deadline(seconds), 0.1
        uid = dig(live, "metadata", "uid")
        while current := self._remaining(kind, namespace, name, uid):
            held = _held_by(current)
            if expired():
                raise PluginError(
                    f'{kind.name} "{name}" still exists after {seconds:g} s of deletion{held}'
                )
            self.log.status(urn, f"waiting for the deletion{held}")
            try:
                self.api.pause(pause)
            except Cancelled:
                raise Cancelled(
                    f'waiting for the deletion of {kind.name} "{name}" was cancelled{held}'
                ) from None
            pause = min(pause * 1.5, SLOWEST_POLL)
        self.log.status(urn, "")

    def _remaining(self, kind: Kind, namespace: str, name: str, uid: object) -> Object | None:
        try:
            current = self.api.get(kind, namespace, name)
        except (ApiError, NoSuchKind) as error:
            if isinstance(error, NoSuchKind) or error.not_found:
                return None
            raise
        # It is another object of the same name.
        return current if uid in (None, dig(current, "metadata", "uid")) else None


def _held_by(obj: Object) -> str:
    finalizers = [as_text(entry) for entry in as_list(dig(obj, "metadata", "finalizers"))]
    finalizers += [as_text(entry) for entry in as_list(dig(obj, "spec", "finalizers"))]
    told = f"; finalizers: {', '.join(finalizers)}" if finalizers else ""
    for kind in ("NamespaceContentRemaining", "NamespaceFinalizersRemaining"):
        entry = condition(obj, kind)
        if entry.get("status") == "True":
            told += f"; {as_text(entry.get('message'))}"
    return told
