"""The types of catalogue.py: how to recognize, download and build a tool.

Paths are templates with {version}, {os}, {arch} and {suffix}.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sandbox.toolchain.platforms import Platform

Version = tuple[int, int, int]

_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


def parse_version(text: str) -> Version | None:
    """Return the first version in a text, or None."""
    match = _VERSION.search(text)
    if match is None:
        return None
    major, minor, patch = match.groups(default="0")
    return int(major), int(minor), int(patch)


def numbers(version: str) -> Version:
    """Return the numbers of a version of the catalogue."""
    major, minor, patch = map(int, version.split("."))
    return major, minor, patch


def version_text(version: Version) -> str:
    """Format a version."""
    return ".".join(str(number) for number in version)


@dataclass(frozen=True, kw_only=True)
class VersionProbe:
    """How to get the version of a tool on PATH, and which versions are suitable."""

    arguments: tuple[str, ...]
    at_least: Version
    below: Version
    beside: tuple[str, ...] = ()
    """Other executables that must be in the same folder."""
    dropped_in: Mapping[str, Version] = field(default_factory=dict[str, Version])
    """Those of them that newer versions do without, and the first such version."""


@dataclass(frozen=True, kw_only=True)
class Release:
    """Where a vendor publishes a tool and its checksum."""

    host: str
    asset: str
    checksums: str
    checksum_format: Literal["sums", "bare", "github"]
    """Lines of `hash  name`; only the hash; or digests in GitHub's description of a release."""
    checksums_host: str = ""
    members: tuple[str, ...] = ()
    """The files to extract from the archive; empty if the asset is the executable."""
    arch_names: Mapping[str, str] = field(default_factory=dict[str, str])
    suffixes: Mapping[str, str] = field(default_factory=dict[str, str])
    unpublished: Mapping[str, str] = field(default_factory=dict[str, str])
    """Operating systems without a release, with the reason."""

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
    """An executable, built from a package that `modules/<part>` locks."""

    part: str
    package: str
    output: str
    ldflags: str = "-s -w"


@dataclass(frozen=True, kw_only=True)
class ModuleFile:
    """A file from a locked module; several sources are joined to one YAML stream."""

    part: str
    module: str
    sources: tuple[str, ...]
    output: str
    executable: bool = False
    sha256: str = ""
    """Set if the file may also come from another source, which must have the same content."""
    published_host: str = ""
    published_under: str = ""
    """Where the vendor publishes the sources; empty if the archive contains the file."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """An executable and the files beside it."""

    name: str
    version: str
    probe: VersionProbe | None = None
    not_from_path: str = ""
    release: Release | None = None
    no_release: str = ""
    programs: tuple[GoProgram, ...] = ()
    files: tuple[ModuleFile, ...] = ()

    @property
    def parts(self) -> frozenset[str]:
        """Return the modules that a build of this tool needs."""
        return frozenset(item.part for item in (*self.programs, *self.files))
