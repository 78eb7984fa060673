"""The first source: a tool that this machine already has on PATH, if it is new enough.

Asks each tool for its version with a time limit, since anything may bear its name. Installs
nothing.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from sandbox.toolchain.errors import Unavailable
from sandbox.toolchain.processes import capture
from sandbox.toolchain.recipes import Probe, Version, parse_version, version_text

ANSWER_SECONDS = 5.0


# One process asks the same file once: a tool that hangs costs its time limit a single time.
_answers: dict[tuple[Path, int, int], Version | str] = {}


@dataclass(frozen=True)
class Found:
    """A tool on PATH that is good enough."""

    path: Path
    version: str


def look(name: str, probe: Probe, *, path: str | None, seconds: float = ANSWER_SECONDS) -> Found:
    """Find a tool on PATH and judge it; raises Unavailable with the reason why it is not taken."""
    where = shutil.which(name, path=path)
    if where is None:
        raise Unavailable("not found")
    executable = Path(where)
    version = _ask(executable, probe.arguments, seconds)
    if version < probe.at_least:
        raise Unavailable(
            f"{executable} is {version_text(version)}, too old: "
            f"{version_text(probe.at_least)} or newer is needed"
        )
    if version >= probe.below:
        raise Unavailable(
            f"{executable} is {version_text(version)}, too new: "
            f"older than {version_text(probe.below)} is needed"
        )
    missing = [other for other in probe.beside if not _is_executable(executable.parent / other)]
    if missing:
        raise Unavailable(f"{executable} has no {missing[0]} beside it")
    return Found(executable, version_text(version))


def _ask(executable: Path, arguments: tuple[str, ...], seconds: float) -> Version:
    status = executable.stat()
    key = (executable, status.st_mtime_ns, status.st_size)
    if key not in _answers:
        try:
            _answers[key] = _run(executable, arguments, seconds)
        except Unavailable as why:
            _answers[key] = str(why)
    answer = _answers[key]
    if isinstance(answer, str):
        raise Unavailable(answer)
    return answer


def _run(executable: Path, arguments: tuple[str, ...], seconds: float) -> Version:
    try:
        answer = capture(
            [executable, *arguments],
            seconds=seconds,
            # Neither may the question go to the network, nor may Go switch to another toolchain.
            env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "1", "GOTOOLCHAIN": "local"},
        )
    except TimeoutError as late:
        raise Unavailable(f"{executable} does not tell its version ({late})") from None
    except OSError as error:
        raise Unavailable(f"{executable} cannot be run ({error.strerror})") from None
    version = parse_version(answer.stdout) if answer.code == 0 else None
    if version is None:
        raise Unavailable(f"{executable} does not tell its version (exit code {answer.code})")
    return version


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
