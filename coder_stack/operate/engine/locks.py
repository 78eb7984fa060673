"""Pulumi's lock files of a stack whose state is kept in a folder.

A shortcut for checks: any other backend is asked through a command that takes the lock for a moment
(pulumi.py). Locks in an unknown layout count as none; an update still respects Pulumi's own lock.
"""

import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

from coder_stack.operate.engine.errors import LockedError, lock_message


def lock_folder(backend: str, project: str, stack: str) -> Path | None:
    """Return the folder with the stack's locks; None if the backend is not a folder."""
    url = urlsplit(backend)
    if url.scheme != "file" or not project:
        return None
    # Users may also write the stack's name as `org/project/stack`.
    name = stack.rpartition("/")[2]
    return (
        Path(unquote(url.netloc + url.path))
        .expanduser()
        .joinpath(*(".pulumi", "locks", "organization", project, name))
    )


def raise_if_locked(locks: Path) -> None:
    """Raise LockedError if there is a lock, with its holder if the file names one."""
    for lock in sorted(locks.glob("*.json")):
        try:
            held = json.loads(lock.read_text())
            user = f"{held['username']}@{held['hostname']}"
            raise LockedError(lock_message(user, str(held["pid"]), str(held["timestamp"])))
        except FileNotFoundError:
            continue  # released in the meantime
        except (OSError, ValueError, KeyError, TypeError):
            raise LockedError(lock_message()) from None
