"""The words in which the catalogue describes a tool: how to recognise it, download it, or build it.

Pure data, no I/O. Paths are templates over {version}, {os}, {arch} and {suffix}.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sandbox.toolchain.platforms import Platform

Version = tuple[int, int, int]

_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


def parse_version(text: str) -> Version | None:
    """The first thing in a text that looks like a version; None if nothing does."""
    match = _VERSION.search(text)
    if match is None:
        return None
    major, minor, patch = match.groups(default="0")
    return int(major), int(minor), int(patch)


def version_text(version: Version) -> str:
    """A version as people write it."""
    return ".".join(str(number) for number in version)


@dataclass(frozen=True, kw_only=True)
class Probe:
    """How a tool on PATH is asked for its version, and which answers are good enough."""

    arguments: tuple[str, ...]
    at_least: Version
    below: Version
    beside: tuple[str, ...] = ()
    """Other executables that must lie in the same folder for this one to be of use."""


@dataclass(frozen=True, kw_only=True)
class Release:
    """Where a vendor publishes the tool, and where the checksum of that file."""

    host: str
    asset: str
    checksums: str
    checksum_format: Literal["sums", "bare", "github"]
    """Lines of `hash  name`; the hash alone; or the digests in GitHub's record of a release."""
    checksums_host: str = ""
    members: tuple[str, ...] = ()
    """What to take out of the archive; empty where the asset is the executable itself."""
    arch_names: Mapping[str, str] = field(default_factory=dict[str, str])
    suffixes: Mapping[str, str] = field(default_factory=dict[str, str])
    unpublished: Mapping[str, str] = field(default_factory=dict[str, str])
    """Operating systems the vendor publishes nothing for, each with the reason to show."""

    def path(self, template: str, version: str, platform: Platform) -> str:
        """Fill a template of this release."""
        return template.format(
            version=version,
            os=platform.os,
            arch=self.arch_names.get(platform.arch, platform.arch),
            suffix=self.suffixes.get(platform.os, ""),
        )


@dataclass(frozen=True, kw_only=True)
class GoProgram:
    """One executable built from a package that the wrapper module `modules/<part>` locks."""

    part: str
    package: str
    output: str
    ldflags: str = "-s -w"


@dataclass(frozen=True, kw_only=True)
class ModuleFile:
    """A file made of files inside a locked module; several become one YAML stream."""

    part: str
    module: str
    sources: tuple[str, ...]
    output: str
    executable: bool = False
    sha256: str = ""
    """Pinned where the file may also come from elsewhere: every source gives the same bytes."""
    published_host: str = ""
    published_under: str = ""
    """Where the vendor serves the same sources; empty where the archive holds the file."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One installable thing: an executable of the same name, and what must lie beside it."""

    name: str
    version: str
    probe: Probe | None = None
    not_from_path: str = ""
    release: Release | None = None
    no_release: str = ""
    programs: tuple[GoProgram, ...] = ()
    files: tuple[ModuleFile, ...] = ()

    @property
    def parts(self) -> frozenset[str]:
        """The wrapper modules that a build of this tool needs."""
        return frozenset(item.part for item in (*self.programs, *self.files))
