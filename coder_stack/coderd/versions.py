"""Versions of Coder: the range that was tried with this program, and how two compare (V1, V2).

A version is read from a tag (`v2.30.0`) or from coderd's answer (`v2.30.0+abc1234`). What is not
one, such as a digest, `latest` or a development build, is unknown: None.
"""

import re
from typing import Final, NamedTuple

TRIED: Final = ("v2.20.0", "v2.24.0", "v2.26.1", "v2.27.0", "v2.29.1", "v2.30.0")
"""Versions whose API the specification tests compare with the client, oldest first."""

# A suffix after `-` is a pre-release, one after `+` names the commit.
_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")


class Version(NamedTuple):
    """A release of Coder; compares as one expects."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"v{self.major}.{self.minor}.{self.patch}"


def parse(text: str) -> Version | None:
    """Read a version; None if the text is none, or a build without a release."""
    found = _VERSION.fullmatch(text.strip())
    if found is None:
        return None
    version = Version(*map(int, found.groups()))
    return version if version.major else None


def is_version(text: str, expected: str) -> bool:
    """Tell whether both name the same release; an `expected` that names none is no demand."""
    wanted = parse(expected)
    return wanted is None or parse(text) == wanted


def of_image(reference: str) -> Version | None:
    """Read the version from an image's tag; None if it names none, or a digest outweighs it."""
    name, _, digest = reference.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return None if digest else parse(tag)


def tried_range() -> tuple[str, str]:
    """Return the oldest and the newest version that was tried."""
    return TRIED[0], TRIED[-1]


def outside_range(text: str) -> str:
    """Say in a sentence that this version was not tried; empty if it was, or is unknown.

    Patches of the newest minor version count as tried: they add no routes.
    """
    oldest, newest = map(parse, tried_range())
    version = parse(text)
    if version is None or oldest is None or newest is None:
        return ""
    if oldest <= version and version[:2] <= newest[:2]:
        return ""
    return f"Coderd is {version}; this program was tried with {oldest} to {newest}."
