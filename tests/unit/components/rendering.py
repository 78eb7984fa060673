"""Components on Pulumi's mocks: what they register, as Kubernetes objects, and its snapshots.

`render` builds a component and waits for everything it registered with the `Recorder`. A snapshot
is one YAML file with the objects of one case; with UPDATE_SNAPSHOTS set in the environment it is
written anew instead of compared. tests/cluster sends every snapshot to a real API server.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pulumi
import yaml
from pulumi.runtime.mocks import MockCallArgs, MockResourceArgs, Mocks

SNAPSHOTS = Path(__file__).parent / "snapshots"
_SECRET = "4dabf18193072939515e22adb298388d"

Object = dict[str, Any]
"""One Kubernetes object, as it would be sent."""


@dataclass
class Recorder(Mocks):
    """Takes every resource as it is and, for Deployments, plays a cluster with all pods ready."""

    resources: list[MockResourceArgs] = field(default_factory=list[MockResourceArgs])
    ready: int | None = None
    """Ready pods of every Deployment; None: all that it wants."""
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """Outputs of resources beyond their inputs, by the last word of the type: `License`."""

    def new_resource(self, args: MockResourceArgs) -> tuple[str, dict[str, Any]]:
        self.resources.append(args)
        kind = _kind(args)
        outputs = {**args.inputs, **self.answers.get(kind, {})}
        if kind == "Deployment":
            ready = outputs["spec"]["replicas"] if self.ready is None else self.ready
            outputs["status"] = {"readyReplicas": ready}
        if kind in ("Deployment", "Secret"):
            outputs["metadata"] = {**outputs["metadata"], "uid": f"{args.name}-uid"}
        return f"{args.name}-id", outputs

    def call(self, args: MockCallArgs) -> dict[str, Any]:
        raise AssertionError(f"no call expected: {args.token}")

    def objects(self, kind: str) -> list[Object]:
        """Return the inputs of all resources of one kind, without marks of secrets."""
        return [unwrap(r.inputs) for r in self.resources if _kind(r) == kind]

    def one(self, kind: str) -> Object:
        (only,) = self.objects(kind)
        return only

    def container(self) -> dict[str, Any]:
        (only,) = self.one("Deployment")["spec"]["template"]["spec"]["containers"]
        return only

    def manifests(self) -> dict[str, Object]:
        """Every Kubernetes object by the name of its Pulumi resource and its kind, in order."""
        found = {
            f"{r.name} {_kind(r)}": unwrap(r.inputs)
            for r in self.resources
            if r.custom and r.typ.startswith("kubernetes:")
        }
        return dict(sorted(found.items()))


def _kind(resource: MockResourceArgs) -> str:
    return resource.typ.split(":")[-1]


def unwrap(value: Any) -> Any:
    """Remove marks of secrets, and turn whole floats into integers, at any depth."""
    if isinstance(value, dict):
        if _SECRET in value:
            return unwrap(value["value"])
        return {key: unwrap(each) for key, each in value.items()}
    if isinstance(value, list):
        return [unwrap(each) for each in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)  # on Pulumi's wire every number is a float
    return value


def render(build: Callable[[], Mapping[str, pulumi.Input[Any]]]) -> dict[str, Any]:
    """Run `build`, wait for all that it registered, and hand back what its outputs became."""
    seen: dict[str, Any] = {}

    @pulumi.runtime.test
    def run() -> pulumi.Output[Any]:
        return pulumi.Output.all(**build()).apply(seen.update)

    run()
    return unwrap(seen)


def check_snapshot(folder: str, case: str, objects: Iterable[Object]) -> None:
    """Compare the objects with the file of this case, or write it if UPDATE_SNAPSHOTS is set."""
    path = SNAPSHOTS / folder / f"{case}.yaml"
    rendered = list(objects)
    assert rendered, "a snapshot of nothing proves nothing"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump_all(rendered, sort_keys=True, width=100))
    assert path.exists(), (
        f"no snapshot of {case} yet: run once with UPDATE_SNAPSHOTS=1, and read it"
    )
    assert rendered == list(yaml.safe_load_all(path.read_text()))


def snapshots_without_case(folder: str, cases: Iterable[str]) -> list[str]:
    """Files that no case of this folder writes: to be deleted."""
    return sorted({path.stem for path in (SNAPSHOTS / folder).glob("*.yaml")} - set(cases))
