"""The first source: a tool on PATH, if its version is new enough."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from sandbox.toolchain.errors import SourceUnavailable
from sandbox.toolchain.processes import capture
from sandbox.toolchain.recipes import Version, VersionProbe, parse_version, version_text

ANSWER_SECONDS = 5.0


# Versions by file: a tool that hangs costs its time limit only once per process.
_answers: dict[tuple[Path, int, int], Version | str] = {}


@dataclass(frozen=True)
class Found:
    """A suitable tool on PATH."""

    path: Path
    version: str


def find_on_path(
    name: str, probe: VersionProbe, *, path: str | None, seconds: float = ANSWER_SECONDS
) -> Found:
    """Find a suitable tool on PATH, or raise SourceUnavailable with the reason."""
    where = shutil.which(name, path=path)
    if where is None:
        raise SourceUnavailable("not found")
    executable = Path(where)
    version = _ask(executable, probe.arguments, seconds)
    if version < probe.at_least:
        raise SourceUnavailable(
            f"{executable} is {version_text(version)}, too old: "
            f"{version_text(probe.at_least)} or newer is needed"
        )
    if version >= probe.below:
        raise SourceUnavailable(
            f"{executable} is {version_text(version)}, too new: "
            f"older than {version_text(probe.below)} is needed"
        )
    needed = [each for each in probe.beside if version < probe.dropped_in.get(each, probe.below)]
    missing = [other for other in needed if not _is_executable(executable.parent / other)]
    if missing:
        raise SourceUnavailable(f"{executable} has no {missing[0]} beside it")
    return Found(executable, version_text(version))


def _ask(executable: Path, arguments: tuple[str, ...], seconds: float) -> Version:
    status = executable.stat()
    key = (executable, status.st_mtime_ns, status.st_size)
    if key not in _answers:
        try:
            _answers[key] = _run(executable, arguments, seconds)
        except SourceUnavailable as why:
            _answers[key] = str(why)
    answer = _answers[key]
    if isinstance(answer, str):
        raise SourceUnavailable(answer)
    return answer


def _run(executable: Path, arguments: tuple[str, ...], seconds: float) -> Version:
    try:
        answer = capture(
            [executable, *arguments],
            seconds=seconds,
            # Pulumi must not use the network, and Go must not switch to another toolchain.
            env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "1", "GOTOOLCHAIN": "local"},
        )
    except TimeoutError as late:
        raise SourceUnavailable(f"{executable} does not tell its version ({late})") from None
    except OSError as error:
        raise SourceUnavailable(f"{executable} cannot be run ({error.strerror})") from None
    version = parse_version(answer.stdout) if answer.code == 0 else None
    if version is None:
        raise SourceUnavailable(f"{executable} does not tell its version (exit code {answer.code})")
    return version


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
