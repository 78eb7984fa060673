"""Clusters of a stack that do not answer: find them, and say what is unknown because of them.

A run that aborted shows the config. If a cluster that it names does not answer, the stack is
checked again without it (left_out.py), so that what is wrong elsewhere is still found.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from coder_stack.cluster.preflight import find_cluster, why_silent
from coder_stack.operate.diagnosis.doubts import component_of
from coder_stack.operate.engine.events import EngineRun
from coder_stack.operate.report.model import NextStep, ResourceReport
from coder_stack.settings import ConfigError, KubernetesSettings, namespace_of


@dataclass(frozen=True)
class SilentCluster:
    """One that does not answer, and why."""

    name: str
    why: str


def silent_clusters(run: EngineRun, folder: Path) -> tuple[SilentCluster, ...]:
    """Ask every cluster in `clusters`; paths in the config are relative to the folder.

    One that cannot be asked, for a mistake in the config, is not among them: that is an error.
    """
    found: list[SilentCluster] = []
    for name, settings in _declared(run, folder):
        field = f"clusters.{name}"
        try:
            cluster = find_cluster(settings, os.environ, field)
            why = why_silent(cluster, os.environ, field) if cluster else ""
        except ConfigError:
            continue
        if why:
            found.append(SilentCluster(name, why))
    return tuple(found)


def _declared(run: EngineRun, folder: Path) -> Iterator[tuple[str, KubernetesSettings]]:
    text = run.config.get(f"{namespace_of(run.config, run.project)}:clusters", "{}")
    try:
        given: Any = json.loads(text)
    except ValueError:
        return
    clusters: Mapping[str, Any] = cast("Any", given) if isinstance(given, dict) else {}
    for name, fields in clusters.items():
        try:
            settings = KubernetesSettings.model_validate(fields, by_alias=True, by_name=False)
        except ValidationError:
            continue
        if settings.kubeconfig:
            path = str(folder / Path(settings.kubeconfig).expanduser())
            settings = settings.model_copy(update={"kubeconfig": path})
        yield name, settings


def unknown_resources(
    stack: str, run: EngineRun, silent: Sequence[SilentCluster]
) -> list[ResourceReport]:
    """Report everything that the run has left out, by the cluster that it depends on."""
    by_suffix = {f"-cluster@{each.name}": each for each in silent}
    unread = {urn: made for urn, made in run.unchanged.items() if urn not in run.refreshed}

    def cluster_of(provider: str) -> SilentCluster | None:
        name = provider.rpartition("::")[0].rpartition("::")[2]
        return next((each for end, each in by_suffix.items() if name.endswith(end)), None)

    # Resources in coderd have another provider, but the component of those in the cluster.
    homes = {made.parent: cluster_of(made.provider) for made in unread.values()}
    homes |= {m.parent: found for m in unread.values() if (found := cluster_of(m.provider))}
    return [
        ResourceReport(
            urn=urn,
            type=made.type,
            name=urn.rpartition("::")[2],
            kind="unknown",
            origin="refresh",
            cluster=found.name,
            cause=f"Cluster {found.name} was not looked at: {found.why}.",
            next_step=NextStep(
                text="Make the cluster answer, then check again.",
                command=f"coder-stack drift --stack {stack}",
            ),
        )
        for urn, made in unread.items()
        if (found := homes.get(made.parent))
    ]


def unseen_components(run: EngineRun, unknown: Iterable[ResourceReport]) -> Mapping[str, str]:
    """Return the components of unknown resources, each with its cluster."""
    return {component_of(run.unchanged[each.urn].parent): each.cluster or "" for each in unknown}
