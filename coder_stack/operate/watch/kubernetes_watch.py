"""The streams of one stack: one for each kind, namespace and cluster (N1).

Says what the stack's objects and the API servers look like, as far as that is known, and which
objects may not be watched.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.operate.watch.facts import ANSWERS, REFUSED, SILENT, Facts, Seen, Stream
from coder_stack.operate.watch.object_stream import StreamState, StreamThread

_CLUSTER_SILENT_SECONDS = 45.0
"""An API server that starts answers nothing for a while, or refuses everything."""
_UNAUTHORIZED, _FORBIDDEN = 401, 403
_NEXT_STEPS = {
    _UNAUTHORIZED: "check the credentials in the kubeconfig",
    _FORBIDDEN: "give its account the right to list and watch them",
}


def _say_nothing(_: str) -> None:
    """Stand in for a log."""


@dataclass
class KubernetesWatch:
    """The streams of one stack in all of its clusters."""

    folder: Path
    changed: Callable[[], None]
    say: Callable[[str], None] = _say_nothing
    threads: dict[Stream, StreamThread] = field(default_factory=dict[Stream, StreamThread])
    _said: set[Stream] = field(default_factory=set[Stream])
    """The refused streams that the log has."""

    def follow(self, facts: Facts) -> None:
        """Start the streams that the facts need, and stop the others.

        A stream of a cluster that has another kubeconfig or context by now is started again.
        """
        clusters = self.clusters(facts)
        wanted = {stream: clusters[stream.cluster] for stream in facts.streams}
        for stream, thread in list(self.threads.items()):
            if wanted.get(stream) != thread.cluster:
                self.threads.pop(stream).stop()
        for stream in sorted(wanted.keys() - self.threads.keys(), key=lambda each: each.collection):
            thread = StreamThread(stream, wanted[stream], self.changed)
            thread.start()
            self.threads[stream] = thread

    def looks(self, facts: Facts, now: float) -> dict[str, str]:
        """Return what the objects and the API servers look like, as far as that is known.

        Log each stream that the API server has begun to refuse.
        """
        states = {stream: thread.state for stream, thread in self.threads.items()}
        self._say_refused(states)
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
            each.state.objects is not None or each.state.failing or each.state.refused
            for each in self.threads.values()
        )

    @property
    def unseen(self) -> list[Stream]:
        """Return the streams that do not run now; those that are refused have no objects."""
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

    def _say_refused(self, states: Mapping[Stream, StreamState]) -> None:
        refused = {stream: state.refused for stream, state in states.items() if state.refused}
        new = refused.keys() - self._said
        for cluster, status in sorted({(stream.cluster, refused[stream]) for stream in new}):
            mine = [_place(s) for s in new if (s.cluster, refused[s]) == (cluster, status)]
            self.say(_refusal(cluster, status, mine))
        # One that is refused again after a while without an answer is known.
        known = {each for each in self._said if each in states and states[each].objects is None}
        self._said = known | new

    def _absolute(self, cluster: Kubeconfig) -> Kubeconfig:
        if cluster.kubeconfig is None:
            return cluster
        path = str(self.folder / Path(cluster.kubeconfig).expanduser())
        return cluster.model_copy(update={"kubeconfig": path})


def _place(stream: Stream) -> str:
    """Name a stream for people: `roles in vault`."""
    namespace, _, kind = stream.collection.partition("/namespaces/")[2].partition("/")
    return f"{kind} in {namespace}"


def _refusal(cluster: str, status: int, places: list[str]) -> str:
    step = _NEXT_STEPS.get(status, "check the kubeconfig's server")
    what = ", ".join(sorted(places))
    return f"may not watch {what} of {cluster}: its API server answered {status}; {step}"


def _answer_of(states: list[StreamState], now: float) -> str:
    """Tell whether an API server answers: a single stream that ends and starts again is nothing."""
    is_blind = all(
        (each.failing or each.refused) and now - each.answered_at > _CLUSTER_SILENT_SECONDS
        for each in states
    )
    if not is_blind:
        return ANSWERS
    return REFUSED if all(each.refused for each in states) else SILENT
