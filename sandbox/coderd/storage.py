"""The state file: the records as JSON, replaced atomically.

Only its owner may read it: secrets are hashed, but licenses are in plain text.
"""

import os
import tempfile
from datetime import timedelta
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from sandbox.coderd.rules.clock import MovableClock
from sandbox.coderd.rules.records import Records
from sandbox.coderd.rules.state import CoderdState, ServerFlags
from sandbox.errors import SandboxError

_RECORDS = TypeAdapter(Records)


def load(path: Path, flags: ServerFlags) -> CoderdState | None:
    """Return the state in a file; None if the file does not exist."""
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
    clock = MovableClock(timedelta(seconds=records.clock_offset_seconds))
    state = CoderdState(records, clock, flags)
    state.refresh_entitlements()
    return state


def save(path: Path, state: CoderdState) -> None:
    """Replace the file with the current state."""
    state.records.clock_offset_seconds = state.clock.offset.total_seconds()
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(_RECORDS.dump_json(state.records))
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
