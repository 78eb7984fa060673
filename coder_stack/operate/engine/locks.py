"""Who holds a stack whose state is kept in a folder: read off Pulumi's own lock files.

Only a shortcut, and only for looking: every other backend is asked through a command, which takes
the lock itself for as long (engine.py). What is no longer laid out like this counts as unlocked;
an update then still ends at Pulumi's own lock.
"""

import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

from coder_stack.operate.engine.errors import LockedError, locked_by

__all__ = ["lock_folder", "refuse_if_held"]


def lock_folder(backend: str, project: str, stack: str) -> Path | None:
    """Where the locks of that stack are; None if the backend is no folder."""
    url = urlsplit(backend)
    if url.scheme != "file" or not project:
        return None
    # `org/project/stack` is a way to write the stack's name.
    name = stack.rpartition("/")[2]
    return (
        Path(unquote(url.netloc + url.path))
        .expanduser()
        .joinpath(*(".pulumi", "locks", "organization", project, name))
    )


def refuse_if_held(locks: Path) -> None:
    """Raises LockedError, with the holder's name if the lock tells it."""
    for lock in sorted(locks.glob("*.json")):
        try:
            held = json.loads(lock.read_text())
            who = f"{held['username']}@{held['hostname']}"
            raise LockedError(locked_by(who, str(held["pid"]), str(held["timestamp"])))
        except FileNotFoundError:
            continue  # given back in the meantime
        except (OSError, ValueError, KeyError, TypeError):
            raise LockedError(locked_by()) from None
