"""The recorded state of one stack: its facts, whether it has changed, and whether it is locked.

`pulumi stack export` prints it with its secrets encrypted, and nothing decrypts them. Where the
backend is a folder, a change and a lock show in its files; with any other backend the watcher reads
the state again before it starts a check, and the check itself respects the lock.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from coder_stack.operate.engine.errors import LockedError, OperationError
from coder_stack.operate.engine.locks import lock_folder, raise_if_locked
from coder_stack.operate.engine.pulumi import Project
from coder_stack.operate.watch.exported_state import read_facts
from coder_stack.operate.watch.facts import Facts


@dataclass
class RecordedState:
    """What the backend keeps of one stack."""

    project: Project
    stack: str
    _stamp: tuple[int, int] | None = field(default=None, init=False)

    def read(self, poll: Callable[[], None] | None = None) -> Facts:
        """Read it; `poll` is called while the backend takes its time.

        Raise OperationError if there is no such stack, or nothing is recorded of it.
        """
        stamp = self._files_stamp()
        done = self.project.call(("stack", "export", "--stack", self.stack), poll=poll)
        if done.code:
            raise self.project.error(done)
        facts = read_facts(done.stdout)
        if not facts.outputs:
            raise OperationError(
                f"The stack `{self.stack}` has no outputs, so there is nothing to watch yet.",
                "Deploy it first.",
                "pulumi up --stack {stack}",
            )
        self._stamp = stamp
        return facts

    @property
    def may_have_changed(self) -> bool:
        """Whether to read it again; always true if the backend's files cannot be seen."""
        return self._stamp is None or self._files_stamp() != self._stamp

    @property
    def has_visibly_changed(self) -> bool:
        """Whether the backend's file was written since it was read."""
        return self._stamp is not None and self._files_stamp() != self._stamp

    @property
    def lock(self) -> LockedError | None:
        """The lock of a running update, as far as the backend's files show it."""
        locks = lock_folder(self.project.backend, self.project.name, self.stack)
        try:
            if locks is not None:
                raise_if_locked(locks)
        except LockedError as locked:
            return locked
        return None

    def _files_stamp(self) -> tuple[int, int] | None:
        """Return time and size of the state's file; None if the backend is not a folder."""
        url = urlsplit(self.project.backend)
        if url.scheme != "file" or not self.project.name:
            return None
        folder = Path(unquote(url.netloc + url.path)).expanduser() / ".pulumi" / "stacks"
        name = self.stack.rpartition("/")[2]
        for file in (folder / self.project.name / f"{name}.json{end}" for end in ("", ".gz")):
            if file.exists():
                found = file.stat()
                return found.st_mtime_ns, found.st_size
        return None
