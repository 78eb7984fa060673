"""Files that hold a key or a token: private from the first byte, and never half-written."""

import os
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Write it beside its place, readable by nobody else, then move it there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f"{path.name}.new")
    staged.unlink(missing_ok=True)
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(content)
    staged.replace(path)
