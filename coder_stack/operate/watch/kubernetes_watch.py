"""The streams of one stack: one for each kind, namespace and cluster (N1).

Says what the stack's objects and the API servers look like, as far as that is known.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.operate.watch.facts import ANSWERS, SILENT, Facts, Seen, Stream
from coder_stack.operate.watch.object_stream import StreamState, StreamThread

_CLUSTER_SILENT_SECONDS = 45.0


@dataclass
class KubernetesWatch:
    """The streams of one stack in all of its clusters."""

    folder: Path
    changed: Callable[[], None]
    threads: dict[Stream, StreamThread] = field(default_factory=dict[Stream, StreamThread])

    def follow(self, facts: Facts) -> None:
        """Start the streams that the facts need, and stop the others."""
        wanted = set(facts.streams)
        for stream in self.threads.keys() - wanted:
            self.threads.pop(stream).stop()
        for stream in sorted(wanted - self.threads.keys(), key=lambda each: each.collection):
            thread = StreamThread(stream, self.clusters(facts)[stream.cluster], self.changed)
            thread.start()
            self.threads[stream] = thread

    def looks(self, facts: Facts, now: float) -> dict[str, str]:
        """Return what the objects and the API servers look like, as far as that is known."""
        states = {stream: thread.state for stream, thread in self.threads.items()}
        by_place = {
            (stream.cluster, stream.collection): state.objects for stream, state in states.items()
        }
        looks: dict[str, str] = {}
        for fact in facts.objects:
            objects = by_place.get((fact.cluster, fact.collection))
            if objects is not None:
                looks[fact.key] = fact.look_of(objects.get(fact.name))
        for cluster in facts.clusters:
            mine = [each for stream, each in states.items() if stream.cluster == cluster]
            if mine:
                looks[cluster] = _answer_of(mine, now)
        return looks

    def seen(self, stream_key: tuple[str, str], name: str) -> Seen | None:
        """Return what was seen last of one object."""
        for stream, thread in self.threads.items():
            if (stream.cluster, stream.collection) == stream_key:
                return (thread.state.objects or {}).get(name)
        return None

    @property
    def settled(self) -> bool:
        """Whether every stream has listed once, or failed to."""
        return all(
            each.state.objects is not None or each.state.failing or each.state.forbidden
            for each in self.threads.values()
        )

    @property
    def unseen(self) -> list[Stream]:
        """Return the streams that do not run now."""
        found = self.threads.items()
        return [
            stream for stream, each in found if each.state.failing or each.state.objects is None
        ]

    @property
    def has_failed(self) -> bool:
        """Whether a stream is read by nobody any more, for a mistake of the program."""
        return any(not each.is_alive() for each in list(self.threads.values()))

    def stop(self) -> None:
        """Stop all streams."""
        for each in self.threads.values():
            each.stop()

    def clusters(self, facts: Facts) -> dict[str, Kubeconfig]:
        """Return the stack's clusters with absolute paths: the config's are of the project."""
        return {name: self._absolute(each) for name, each in facts.clusters.items()}

    def _absolute(self, cluster: Kubeconfig) -> Kubeconfig:
        if cluster.kubeconfig is None:
            return cluster
        path = str(self.folder / Path(cluster.kubeconfig).expanduser())
        return cluster.model_copy(update={"kubeconfig": path})


def _answer_of(states: list[StreamState], now: float) -> str:
    """Tell whether an API server answers: a single stream that ends and starts again is nothing."""
    silent = all(
        each.failing and now - each.answered_at > _CLUSTER_SILENT_SECONDS for each in states
    )
    return SILENT if silent else ANSWERS
