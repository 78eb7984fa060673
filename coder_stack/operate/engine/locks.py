"""Pulumi's locks: the files of a backend that is a folder, and whether who took one is dead.

The files are a shortcut for checks: any other backend is asked through a command that takes the
lock for a moment (pulumi.py). Locks in an unknown layout count as none; an update still respects
Pulumi's own lock. Nobody but a person releases a lock: only they know what was left half done.
"""

import json
import os
import socket
from pathlib import Path
from urllib.parse import unquote, urlsplit

from coder_stack.operate.engine.errors import (
    LeftLockError,
    LockedError,
    LockHolder,
    locked,
)


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
            holder = LockHolder(user, str(held["pid"]), str(held["timestamp"]))
        except FileNotFoundError:
            continue  # released in the meantime
        except (OSError, ValueError, KeyError, TypeError):
            raise locked() from None
        error = judged(locked(holder))
        if isinstance(error, LeftLockError) and not lock.exists():
            continue  # its holder has released it and ended in the meantime
        raise error


def judged(error: LockedError) -> LockedError:
    """Return a LeftLockError if the lock was taken on this machine by what no longer runs.

    For a lock that is still there: its holder may have released it just now, and ended.
    """
    return LeftLockError(error.holder) if error.holder and _has_ended(error.holder) else error


def _has_ended(holder: LockHolder) -> bool:
    if holder.user.rpartition("@")[2] != socket.gethostname() or not holder.pid.isdecimal():
        return False
    try:
        os.kill(int(holder.pid), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # somebody else's process
        return False
    return False
