"""Versions of the Pulumi CLI: which were tried with this program, and what follows for others (V3).

A CLI older than the oldest is refused before a run. A newer one than the newest is used, and named
where something fails. `make engines` tries a version (CONTRIBUTING.md).
"""

from typing import Final

TRIED: Final = ("v3.220.0", "v3.259.0")
"""Versions that engine tests were run on, oldest first; docs/toolchain.md says which tests."""

Version = tuple[int, int, int]


def tried_range() -> str:
    """Return the oldest and the newest version that was tried, for people."""
    return f"{TRIED[0]} to {TRIED[-1]}"


def too_old(version: Version) -> str:
    """Say in a sentence that this CLI is older than any that was tried; empty if it is not."""
    if version >= _parse(TRIED[0]):
        return ""
    return f"The command pulumi is {_text(version)}; {TRIED[0]} or newer is needed."


def newer_than_tried(version: Version) -> str:
    """Say in a sentence that this CLI is newer than any that was tried; empty if it is not.

    Patches of the newest minor version count as tried.
    """
    if version[:2] <= _parse(TRIED[-1])[:2]:
        return ""
    return f"The command pulumi is {_text(version)}; this program was tried with {tried_range()}."


def _text(version: Version) -> str:
    return f"v{'.'.join(map(str, version))}"


def _parse(text: str) -> Version:
    major, minor, patch = map(int, text.removeprefix("v").split("."))
    return major, minor, patch
