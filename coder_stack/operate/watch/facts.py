"""What should be there of one stack, as facts that a list or a watch can be compared with (N1).

A fact says how an object that is as recorded looks: `expected` is compared with what the same fact
makes of the object that was seen. exported_state.py reads the facts. Pure, and without secrets.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from coder_stack.cluster.kubeconfig import Kubeconfig

ABSENT = "absent"
ANSWERS = "answers"
SILENT = "does not answer"
REFUSED = "is refused"
CODERD, TOKEN = "coderd", "token"
"""Keys of what answers; clusters have the name of their provider."""


@dataclass(frozen=True)
class Seen:
    """The metadata of a Kubernetes object, as a watch delivers it."""

    uid: str
    resource_version: str
    generation: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    annotations: Mapping[str, str] = field(default_factory=dict[str, str])
    changed_at: datetime | None = None


@dataclass(frozen=True)
class ObjectFact:
    """One Kubernetes object.

    Where Kubernetes counts changes of the spec (`generation`), that number is compared, else the
    resourceVersion. A change of other people's labels and annotations is none, where that is known.
    """

    urn: str
    cluster: str
    collection: str
    """Path of its kind in its namespace."""
    name: str
    uid: str
    resource_version: str
    generation: int | None
    labels: Mapping[str, str]
    annotations: Mapping[str, str]

    @property
    def key(self) -> str:
        """Identify it among everything that is observed."""
        return f"{self.cluster}{self.collection}/{self.name}"

    @property
    def namespace(self) -> str:
        """The object's namespace."""
        return self.collection.split("/namespaces/")[1].partition("/")[0]

    @property
    def label(self) -> str:
        """Name it in messages: `deployments/coder`."""
        return f"{self.collection.rpartition('/')[2]}/{self.name}"

    @property
    def expected(self) -> str:
        """Return what the object looks like when it is as recorded."""
        recorded = Seen(
            self.uid, self.resource_version, self.generation, self.labels, self.annotations
        )
        return self.look_of(recorded)

    def look_of(self, seen: Seen | None) -> str:
        """Reduce what was seen to what counts."""
        if seen is None:
            return ABSENT
        if self.generation is None or seen.generation is None:
            return f"{seen.uid} resourceVersion {seen.resource_version}"
        ours = [seen.labels.get(name) for name in self.labels]
        ours += [seen.annotations.get(name) for name in self.annotations]
        return f"{seen.uid} generation {seen.generation} {digest(ours)}"


@dataclass(frozen=True)
class CoderdFact:
    """One object in coderd: where it is listed, its id there, and the fields that count."""

    urn: str
    listed_in: str
    """`keys/<organization>`, `licenses`, `proxies`, `organizations`, `entitlements`."""
    id: str
    label: str
    fields: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Identify it among everything that is observed."""
        return f"coderd {self.listed_in} {self.id}"

    @property
    def expected(self) -> str:
        """Return what it looks like when it is as recorded."""
        return self.look_of(self.fields)

    def look_of(self, seen: Mapping[str, Any] | None) -> str:
        """Reduce what was listed to what counts."""
        if seen is None:
            return ABSENT
        return digest({name: seen.get(name) for name in self.fields})


@dataclass(frozen=True)
class AnswerFact:
    """Somebody who answers: a cluster's API server, coderd, and coderd to the operator's token."""

    urn: str
    key: str
    label: str
    expected: str = ANSWERS


@dataclass(frozen=True)
class Stream:
    """One list of Kubernetes objects to watch."""

    cluster: str
    collection: str
    selector: str
    """Labels that all recorded objects of the list have; empty if there are none."""


@dataclass(frozen=True)
class LicenseEnd:
    """When the license's grace begins, and how many days before that to warn."""

    license_expires: datetime
    warn_days: int


@dataclass(frozen=True)
class Facts:
    """All that is recorded of one stack."""

    version: str
    """Changes with every update of the state."""
    objects: tuple[ObjectFact, ...] = ()
    coderd: tuple[CoderdFact, ...] = ()
    answers: tuple[AnswerFact, ...] = ()
    clusters: Mapping[str, Kubeconfig] = field(default_factory=dict[str, Kubeconfig])
    """By the name of Pulumi's provider; the first one is coderd's."""
    connection: Mapping[str, Any] | None = None
    """How the providers connect to coderd, and where their token is."""
    lease_cluster: str = ""
    """Where the watcher's Lease is; empty for a stack without objects in any cluster."""
    namespace: str = ""
    """That of the Lease."""
    license: LicenseEnd | None = None
    outputs: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Return the lists to watch."""
        by_place: dict[tuple[str, str], list[ObjectFact]] = {}
        for each in self.objects:
            by_place.setdefault((each.cluster, each.collection), []).append(each)
        return tuple(
            Stream(cluster, collection, _selector([each.labels for each in here]))
            for (cluster, collection), here in by_place.items()
        )

    @property
    def lists(self) -> tuple[str, ...]:
        """Return the lists to ask coderd for.

        Without any, the token's own user: coderd may still fall silent, or refuse the token.
        """
        found = tuple(dict.fromkeys(each.listed_in for each in self.coderd))
        asks_coderd = any(each.key == CODERD for each in self.answers)
        return found or (("user",) if asks_coderd else ())

    @property
    def expected(self) -> Mapping[str, str]:
        """Return what everything looks like when it is as recorded, by key."""
        return {each.key: each.expected for each in self._every}

    @property
    def urns(self) -> Mapping[str, str]:
        """Return the URN of each key."""
        return {each.key: each.urn for each in self._every}

    @property
    def labels(self) -> Mapping[str, str]:
        """Return what messages call each key."""
        return {each.key: each.label for each in self._every}

    @property
    def _every(self) -> tuple[ObjectFact | CoderdFact | AnswerFact, ...]:
        return (*self.objects, *self.coderd, *self.answers)


def _selector(labels: Sequence[Mapping[str, str]]) -> str:
    """Return the labels that all have, as a selector."""
    common = set(labels[0].items()).intersection(*(each.items() for each in labels[1:]))
    return ",".join(f"{name}={value}" for name, value in sorted(common))


def digest(content: object) -> str:
    """Hash JSON; equal content has an equal hash."""
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
