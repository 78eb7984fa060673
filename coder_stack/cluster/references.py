"""Look for the namespaces, Secrets and ConfigMaps that the config refers to (F2).

Reports all that are missing at once, with the command that creates each. Only what the API server
itself calls "not found" is missing; without an answer or the right to ask, the engine finds out.
Secrets with a condition of their own (a license, a token) are looked for only until the stack has
deployed coderd: later their absence is a condition, and must not keep a run from repairing anything
else. Values are never read.
"""

import json
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from pydantic import AliasPath, Field, ValidationError

from coder_stack.cluster.absence import is_absent
from coder_stack.cluster.client import connected, send
from coder_stack.cluster.deployments import Deployments, Images, Place
from coder_stack.cluster.kubeconfig import Kubeconfig, kubeconfig_of
from coder_stack.coderd.errors import CoderdError
from coder_stack.frozen_model import FrozenModel
from coder_stack.naming import OWNER
from coder_stack.settings import Settings
from coder_stack.settings.references import (
    Needed,
    creates_namespace,
    needed_namespaces,
    needed_objects,
)

_OPERATION = "look for what the config refers to"
_ABSENT: Final = "absent"
_UNKNOWN: Final = "unknown"
_PLURALS = {"Secret": "secrets", "ConfigMap": "configmaps"}


class _Object(FrozenModel):
    annotations: Mapping[str, str] = Field(
        default_factory=dict[str, str], validation_alias=AliasPath("metadata", "annotations")
    )
    data: Mapping[str, Any] | None = Field(default=None, repr=False)
    binary: Mapping[str, Any] | None = Field(default=None, repr=False, alias="binaryData")

    @property
    def keys(self) -> set[str]:
        return {*(self.data or {}), *(self.binary or {})}


_Answer = _Object | Literal["absent", "unknown"]


class Survey(NamedTuple):
    """What the cluster has and lacks, before anything is registered."""

    missing: list[str]
    """A line for each object that is missing, with the paths of the fields that name it."""
    images: Images | None
    """Images of coderd and of what follows it; None if coderd's is absent or unknown."""


def missing_references(settings: Settings, namespace_mark: str | None) -> list[str]:
    """Return what is missing; see `survey`."""
    return survey(settings, namespace_mark, images=False).missing


def survey(
    settings: Settings,
    namespace_mark: str | None,
    *,
    images: bool = True,
    without: Collection[str | None] = (),
) -> Survey:
    """Look in every cluster for what the config refers to, and read the images that run.

    `namespace_mark` is the mark of a namespace that this stack has created; None: any will do.
    `without` are the clusters to leave out.
    """
    missing: list[str] = []
    found: dict[Place, str] = {}
    coderd_runs = False
    home: _Search | None = None
    with ExitStack() as connections:
        for cluster in settings.clusters_in_use:
            if cluster in without:
                continue
            link = connected(kubeconfig_of(settings.cluster(cluster)), Kubeconfig(), _OPERATION)
            try:
                http = connections.enter_context(link)
                deployed = Deployments(http, settings, cluster)
                search = _Search(settings, namespace_mark, http, deployed, cluster, home)
                home = search if cluster is None else home
                missing += [*search.namespaces(), *search.objects()]
                seen = deployed.images if images else None
            except CoderdError:
                continue
            coderd_runs |= cluster is None and seen is not None
            found |= seen or {}
    return Survey(missing, found if coderd_runs else None)


@dataclass
class _Search:
    settings: Settings
    namespace_mark: str | None
    http: Any
    deployed: Deployments
    cluster: str | None
    """Name of the cluster; None: that of `kubernetes`."""
    home: "_Search | None" = None
    """The search in the cluster of `kubernetes`, for one in another; None if that is silent."""

    def namespaces(self) -> Iterator[str]:
        """Return the lines about namespaces, first that of coderd."""
        if self._creates_home:
            yield from self._home()
        uses: dict[str, list[str]] = {}
        for each in needed_namespaces(self.settings):
            if each.cluster != self.cluster:
                continue
            is_home = each.name == self._home_name and self._creates_home
            if not is_home and (not each.has_condition or self._is_first):
                uses.setdefault(each.name, []).append(each.path)
        for name, paths in uses.items():
            if self._namespace(name) == _ABSENT:
                create = f"{self._kubectl} create namespace {name}"
                fields = ", ".join(dict.fromkeys(paths))
                yield f"{fields}: namespace {name} does not exist{self._where}; create it: {create}"

    def objects(self) -> Iterator[str]:
        """Return the lines about Secrets and ConfigMaps."""
        uses: dict[tuple[str, str, str], list[Needed]] = {}
        for each in self._needed:
            key = (each.object.kind, each.namespace, each.object.name)
            uses.setdefault(key, []).append(each)
        for (kind, namespace, name), needed in uses.items():
            fields = ", ".join(dict.fromkeys(each.path for each in needed))
            what = f"{fields}: {kind} {namespace}/{name}"
            found = self._object(kind, namespace, name)
            if found == _ABSENT:
                yield f"{what} does not exist{self._where}; create it: {self._create(needed)}"
            elif isinstance(found, _Object) and (keys := _keys(needed) - found.keys):
                listed = " and ".join(f'"{key}"' for key in sorted(keys))
                add = self._add(needed[0], keys)
                yield f"{what} has no key {listed}{self._where}; add it: {add}"

    def _home(self) -> Iterator[str]:
        """Return what is wrong with the namespace that the stack is to create."""
        name, found = self._home_name, self._namespace(self._home_name)
        if found == _ABSENT and any(each.namespace == name for each in self._needed):
            yield (
                f"controlPlane.createNamespace: namespace {name} does not exist yet, and cannot "
                "hold what is missing below; on a first deployment set createNamespace: false and "
                f"create it: {self._kubectl} create namespace {name}; or leave the fields below "
                "out of the first `pulumi up`"
            )
        if isinstance(found, _Object) and found.annotations.get(OWNER) != self.namespace_mark:
            if self.namespace_mark is None or not self._is_first:
                return  # imported, or renamed with the stack: the update marks it
            yield (
                f"controlPlane.createNamespace: namespace {name} exists, and this stack did not "
                "create it; set createNamespace: false, or, if this stack is to own and delete it: "
                f"{self._kubectl} annotate namespace {name} {OWNER}={self.namespace_mark}"
            )

    @cached_property
    def _needed(self) -> list[Needed]:
        """What is to be looked for: see the module's docstring for what has a condition."""
        homeless = self._creates_home and self._namespace(self._home_name) == _ABSENT
        return [
            each
            for each in needed_objects(self.settings)
            if each.cluster == self.cluster
            and (
                not each.object.has_condition
                # In a namespace that this very run creates, the update names it.
                or (self._is_first and not (homeless and each.namespace == self._home_name))
            )
        ]

    @cached_property
    def _is_first(self) -> bool:
        """Whether the stack is to deploy coderd, and it was never deployed, or is gone."""
        if self.settings.control_plane.exists_already:
            return False
        if self.cluster is not None:  # coderd's Deployment is not in it, first run or not
            return self.home is not None and self.home._is_first  # noqa: SLF001  # of this class
        if self._namespace(self._home_name) == _ABSENT:
            return True
        return self.deployed.coderd_is_absent

    @property
    def _home_name(self) -> str:
        return self.settings.control_plane.namespace

    @property
    def _creates_home(self) -> bool:
        return self.cluster is None and creates_namespace(self.settings)

    @property
    def _where(self) -> str:
        return f" in cluster {self.cluster}" if self.cluster else ""

    @cached_property
    def _known_namespaces(self) -> dict[str, _Answer]:
        return {}

    def _namespace(self, name: str) -> _Answer:
        known = self._known_namespaces
        if name not in known:
            known[name] = self._look("api", "v1", "namespaces", name)
        return known[name]

    def _object(self, kind: str, namespace: str, name: str) -> _Answer:
        if self._known_namespaces.get(namespace) == _ABSENT:
            return _ABSENT
        return self._look("api", "v1", "namespaces", namespace, _PLURALS[kind], name)

    def _look(self, *path: str) -> _Answer:
        status, body = send(self.http, _OPERATION, path)
        if status != 200:
            return _ABSENT if is_absent(status, body, path[-2]) else _UNKNOWN
        try:
            return _Object.model_validate_json(body)
        except ValidationError:
            return _UNKNOWN

    # The way out --------------------------------------------------------------------------------

    @cached_property
    def _kubectl(self) -> str:
        """Return `kubectl` for the cluster of the config."""
        cluster = self.settings.cluster(self.cluster)
        words = ["kubectl"]
        words += ["--kubeconfig", cluster.kubeconfig] if cluster.kubeconfig else []
        words += ["--context", cluster.context] if cluster.context else []
        return shlex.join(words)

    def _create(self, needed: list[Needed]) -> str:
        first, forms = needed[0], {each.object.form for each in needed}
        kind = "configmap" if first.object.kind == "ConfigMap" else "secret"
        form = next((each for each in ("tls", "docker-registry") if each in forms), "generic")
        if form == "tls":
            values = ["--cert=…", "--key=…"]
        elif form == "docker-registry":
            values = ["--docker-server=…", "--docker-username=…", "--docker-password=…"]
        else:
            values = list(_values(needed))
        what = [kind] if kind == "configmap" else [kind, form]
        words = ["--namespace", first.namespace, "create", *what, shlex.quote(first.object.name)]
        return " ".join([self._kubectl, *words, *values])

    def _add(self, needed: Needed, keys: Iterable[str]) -> str:
        field = "data" if needed.object.kind == "ConfigMap" else "stringData"
        patch = json.dumps({field: dict.fromkeys(sorted(keys), "…")}, ensure_ascii=False)
        what = f"{needed.object.kind.lower()} {shlex.quote(needed.object.name)}"
        return f"{self._kubectl} --namespace {needed.namespace} patch {what} --patch '{patch}'"


def _keys(needed: Iterable[Needed]) -> set[str]:
    return {key for each in needed for key in each.object.keys}


def _values(needed: list[Needed]) -> Iterator[str]:
    """Return the options of kubectl; a key with a dot in it looks like the name of a file."""
    keys = sorted(_keys(needed))
    for key in keys:
        yield f"--from-file={key}=…" if "." in key else f"--from-literal={key}=…"
    if not keys:
        yield "--from-env-file=…" if "envFrom" in needed[0].path else "--from-file=…"
