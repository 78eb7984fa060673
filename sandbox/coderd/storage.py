"""The state file: the records as JSON, put in place at once: a crash leaves old or new.

Only its owner may read it: secrets are stored as hashes, but licenses stand in it as they came.
"""

import os
import tempfile
from datetime import timedelta
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from sandbox.coderd.rules.clock import Clock
from sandbox.coderd.rules.records import Records
from sandbox.coderd.rules.world import Settings, World
from sandbox.errors import SandboxError

_RECORDS = TypeAdapter(Records)


def load(path: Path, settings: Settings) -> World | None:
    """The deployment kept in the file, with its clock; None if there is no file yet."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        records = _RECORDS.validate_json(raw)
    except ValidationError as error:
        raise SandboxError(
            f"{path} is not a state file of the simulated coderd; delete it or name another."
        ) from error
    clock = Clock(timedelta(seconds=records.clock_offset_seconds))
    world = World(records, clock, settings)
    world.refresh_entitlements()
    return world


def save(path: Path, world: World) -> None:
    """Replace the file with the present state."""
    world.records.clock_offset_seconds = world.clock.offset.total_seconds()
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(_RECORDS.dump_json(world.records))
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
