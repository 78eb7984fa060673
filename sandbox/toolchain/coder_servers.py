"""Unmodified Coder servers of the contract tests, in each version that has a lock.

A version needs every module of its dependencies on the Go module proxy. Some are not there, so the
newest versions have no enterprise server, or none at all.
"""

from collections.abc import Mapping

from sandbox.toolchain.recipes import GoProgram, Tool

CODER = "2.26.0"
"""The version that `make test` compares the simulation with."""

ENTERPRISE, AGPL = "coder", "coder-agpl"
_MODULE = "github.com/coder/coder/v2"
_PACKAGES: Mapping[str, str] = {
    ENTERPRISE: f"{_MODULE}/enterprise/cmd/coder",
    AGPL: f"{_MODULE}/cmd/coder",
}
_NO_AIBRIDGE = "the Go module proxy does not have github.com/coder/aibridge"
_NO_BOUNDARY = (
    "the Go module proxy does not have "
    "github.com/coder/boundary v1.0.1-0.20250925154134-55a44f2a7945"
)

SERVERS: Mapping[str, tuple[str, ...]] = {
    "2.20.0": (ENTERPRISE, AGPL),
    "2.26.0": (ENTERPRISE, AGPL),
    "2.26.1": (ENTERPRISE, AGPL),
    "2.30.0": (AGPL,),
}
"""Versions with a lock, and the servers whose modules can all be downloaded."""

UNAVAILABLE: Mapping[str, str] = {
    "2.27.0": _NO_BOUNDARY,
    "2.29.1": f"{_NO_BOUNDARY}, nor github.com/coder/aibridge v0.2.0",
    "2.30.0": f"{_NO_AIBRIDGE} v1.0.1, nor github.com/coder/boundary v0.6.0",
}
"""Why a server of these versions cannot be built."""


def part_of(version: str) -> str:
    """Return the folder of a version's lock in `modules/`."""
    return "coder" if version == CODER else f"coder-{version}"


def coder_servers(version: str = CODER) -> tuple[Tool, ...]:
    """Describe the servers of one version."""
    return tuple(_server(name, version) for name in SERVERS[version])


def _server(name: str, version: str) -> Tool:
    return Tool(
        name=name,
        version=version,
        not_from_path="the contract is held against one exact, unmodified server",
        no_release="the contract is held against a server built from the locked source",
        programs=(
            GoProgram(
                part=part_of(version),
                package=_PACKAGES[name],
                output=name,
                ldflags=f"-s -w -X {_MODULE}/buildinfo.tag={version}",
            ),
        ),
    )
