"""Write files that contain a key or a token."""

import os
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Write a file atomically, readable only by its owner from the start."""
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f"{path.name}.new")
    staged.unlink(missing_ok=True)
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(content)
    staged.replace(path)
