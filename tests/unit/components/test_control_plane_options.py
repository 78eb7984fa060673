"""CP3: every option of the control plane ends up in the objects, and nowhere else.

What each case changes is read once, in its snapshot; from then on no other change may come with it.
"""

from collections.abc import Iterator
from types import UnionType
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel

from coder_stack.components.control_plane import ControlPlane, ControlPlaneArgs
from coder_stack.settings import ControlPlaneSettings
from tests.unit.components.control_plane_cases import CASES, Config
from tests.unit.components.rendering import (
    Object,
    Recorder,
    check_snapshot,
    render,
    snapshots_without_case,
)

FOLDER = "control_plane"


def objects(recorder: Recorder, config: Config) -> dict[str, Object]:
    settings = ControlPlaneSettings.model_validate(config, by_alias=True, by_name=False)
    recorder.resources.clear()
    render(lambda: {"url": ControlPlane("c", ControlPlaneArgs(settings=settings)).url})
    return recorder.manifests()


def test_CP1_CP2_what_the_defaults_make(recorder: Recorder) -> None:
    check_snapshot(FOLDER, "defaults", objects(recorder, {}).values())


@pytest.mark.parametrize("case", CASES)
def test_CP3_an_option_changes_its_objects_and_no_others(recorder: Recorder, case: str) -> None:
    without = objects(recorder, CASES[case].given)
    with_it = objects(recorder, CASES[case].whole)
    check_snapshot(FOLDER, case, [o for name, o in with_it.items() if o != without.get(name)])


def test_every_snapshot_belongs_to_a_case() -> None:
    assert snapshots_without_case(FOLDER, ["defaults", *CASES]) == []


def test_CP3_every_field_of_the_settings_has_a_case() -> None:
    covered = {path for case in CASES.values() for path in paths_in(case.config)}
    # Without a control plane there are no objects: see test_existing_control_plane.py.
    assert set(paths_of(ControlPlaneSettings)) - covered == {"deploy", "fromStack"}


def paths_of(model: type[BaseModel], above: str = "") -> Iterator[str]:
    """Every field that a config may set, as `service.tlsPort`."""
    for name, info in model.model_fields.items():
        path = f"{above}{info.alias or name}"
        optional = get_origin(info.annotation) is UnionType
        kinds = get_args(info.annotation) if optional else (info.annotation,)
        part = next((k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)), None)
        if part is None:
            yield path
        else:
            yield from paths_of(part, f"{path}.")


def paths_in(config: Any, above: str = "") -> Iterator[str]:
    """Every path that a config sets, those of mappings included."""
    for key, value in config.items() if isinstance(config, dict) else ():
        yield f"{above}{key}"
        yield from paths_in(value, f"{above}{key}.")
