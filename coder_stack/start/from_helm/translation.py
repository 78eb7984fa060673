"""Translate values of the charts into a stack's config. Pure.

The tables are in control_plane.py and provisioner.py; fitting.py takes back what the config
refuses. Every value of the files ends in one outcome.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coder_stack.naming import provisioner_name
from coder_stack.settings import ControlPlaneSettings, Image, ProvisionerSettings
from coder_stack.start.from_helm.control_plane import (
    BESIDE,
    DATABASE_URL,
    REPLACE,
    chart_defaults,
    helms,
)
from coder_stack.start.from_helm.fitting import config_of, fitted
from coder_stack.start.from_helm.outcomes import Kind, Outcome, Path, Place, at
from coder_stack.start.from_helm.provisioner import PROVISIONER
from coder_stack.start.from_helm.rules import Scope, walk
from coder_stack.start.from_helm.values import Chart, NotValuesError, Values, releases

_PLANE: Path = ("controlPlane",)
_IMAGE = Image().model_dump(mode="json", by_alias=True)


@dataclass(frozen=True, kw_only=True)
class Target:
    """What the values do not say."""

    replace: bool = False
    """Deploy the control plane instead of Helm; otherwise the stack stands beside it."""
    name: str = "coder"
    namespace: str = "coder"
    provisioner_name: str = "coder-provisioner"
    provisioner_namespace: str | None = None


@dataclass(frozen=True)
class Translation:
    """The config, and what became of every value."""

    config: dict[str, Any]
    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...]
    """What the values leave open, one sentence each."""

    def of(self, kind: Kind) -> list[Outcome]:
        """Return the outcomes of one kind."""
        return [each for each in self.outcomes if each.kind is kind]


def translate(given: Sequence[Values], target: Target) -> Translation:
    """Translate the values of all files."""
    found = releases(given)
    planes = [each for each in found if each.chart is Chart.CODER]
    if target.replace and not planes:
        raise NotValuesError("--replace needs the values of the chart coder, not only provisioners")
    base = list(_base(target))
    outcomes: list[Outcome] = []
    for values in planes:
        scope = _plane_scope(values, target)
        base += chart_defaults(scope) if target.replace else ()
        outcomes += _outcomes(values, scope, target)
    daemons = [each for each in found if each.chart is Chart.PROVISIONER]
    for index, values in enumerate(daemons):
        scope = _provisioner_scope(values, target, index)
        base.append(scope.place("name", scope.default("name")))
        if target.provisioner_namespace:
            base.append(scope.place("namespace", target.provisioner_namespace))
        outcomes += _outcomes(values, scope, target)
    settled = fitted(base, outcomes)
    config = config_of([*base, *(place for each in settled for place in each.places)])
    if not target.replace and "accessUrl" in config["controlPlane"]:
        del config["access"]  # coderd can be reached without the API server
    shared = set(_share_image(config))
    ends = tuple(_is_shared(each) if _image_of(each) in shared else each for each in settled)
    return Translation(config, ends, tuple(_notes(config, target)))


def _base(target: Target) -> Iterator[Place]:
    if not target.replace:
        yield Place((*_PLANE, "deploy"), False)
        yield Place(("access", "throughApiServer"), True)
    yield Place((*_PLANE, "name"), target.name)
    yield Place((*_PLANE, "namespace"), target.namespace)
    if target.replace:  # the namespace exists, and has Secrets in it
        yield Place((*_PLANE, "createNamespace"), False)


def _outcomes(values: Values, scope: Scope, target: Target) -> Iterator[Outcome]:
    if values.chart is Chart.PROVISIONER:
        found = walk(PROVISIONER, scope, values.tree)
    elif target.replace:
        found = walk(REPLACE, scope, values.tree)
    else:
        found = walk(BESIDE, scope, values.tree, others=helms)
    for each in (*found, *values.overridden):
        yield replace(each, file=values.file)


def _plane_scope(values: Values, target: Target) -> Scope:
    defaults = ControlPlaneSettings().model_dump(mode="json", by_alias=True)
    return Scope(_PLANE, defaults, values.tree, target.name, target.namespace)


def _provisioner_scope(values: Values, target: Target, index: int) -> Scope:
    name = f"{target.provisioner_name}-{index + 1}" if index else target.provisioner_name
    defaults = ProvisionerSettings.model_construct(name=name).model_dump(mode="json", by_alias=True)
    override = values.tree.get("nameOverride")
    return Scope(
        ("provisioners", index),
        defaults,
        values.tree,
        provisioner_name(override if isinstance(override, str) and override else name),
        target.provisioner_namespace or target.namespace,
    )


def _share_image(config: dict[str, Any]) -> Iterator[Path]:
    """Leave the control plane's image, which is the default, out of provisioners; return which.

    An image with only a repository has the tag of the control plane, as in releases of one version.
    """
    plane = config["controlPlane"].get("image", {})
    for index, each in enumerate(config.get("provisioners", [])):
        if "image" not in each:
            continue
        if "tag" in plane:
            each["image"].setdefault("tag", plane["tag"])
        if {**_IMAGE, **each["image"]} == {**_IMAGE, **plane}:
            del each["image"]
            yield "provisioners", index


def _image_of(outcome: Outcome) -> Path | None:
    """Return the provisioner whose image the outcome sets."""
    path = outcome.places[0].path if outcome.places else ()
    return path[:2] if path[2:3] == ("image",) else None


def _is_shared(outcome: Outcome) -> Outcome:
    return replace(
        outcome, kind=Kind.UNNEEDED, text="is the control plane's, which is the default", places=()
    )


def _notes(config: dict[str, Any], target: Target) -> Iterator[str]:
    plane, daemons = config["controlPlane"], config.get("provisioners", [])
    if at(plane, ("image", "tag")) is None and not (daemons and _all_have_tags(daemons)):
        yield (
            "no value has the version of Coder: set controlPlane.image.tag to that of the release, "
            "which `helm list` shows as the app version"
        )
    yield from _replace_notes(plane) if target.replace else _beside_notes(plane, daemons)
    for index, each in enumerate(daemons):
        yield from _provisioner_notes(f"provisioners[{index}]", each)


def _all_have_tags(daemons: Sequence[dict[str, Any]]) -> bool:
    return all(at(each, ("image", "tag")) for each in daemons)


def _beside_notes(plane: dict[str, Any], daemons: Sequence[dict[str, Any]]) -> Iterator[str]:
    if "accessUrl" not in plane:
        yield (
            "no value has the URL that people open: set controlPlane.accessUrl and remove "
            "access.throughApiServer, if that URL can be reached from where Pulumi runs"
        )
    if not daemons:
        yield (
            "there are no values of the chart coder-provisioner: add provisioners by hand, as "
            "docs/keys-and-proxies.md shows"
        )


def _replace_notes(plane: dict[str, Any]) -> Iterator[str]:
    yield (
        f"Helm's objects have the name {plane['name']}, too: import them (docs/adopt.md), or give "
        "another --name"
    )
    if "database" not in plane:
        yield (
            f"no Secret has {DATABASE_URL}: set controlPlane.database, or coderd starts with an "
            "empty built-in database"
        )
    if "resources" not in plane:
        yield "no value has requests and limits: compare controlPlane.resources with Helm's pods"


def _provisioner_notes(path: str, provisioner: dict[str, Any]) -> Iterator[str]:
    if "adoptSecret" in provisioner.get("key", {}):
        yield (
            f"set {path}.key.name and {path}.key.tags to what `coder provisioner keys list` shows "
            f"for the key, and {path}.organization to its organization"
        )
    if "resources" not in provisioner:
        yield f"no value has requests and limits: compare {path}.resources with Helm's pods"
