"""Machines by the names that Python gives them."""

import pytest

from sandbox.toolchain.errors import ToolchainError
from sandbox.toolchain.platforms import Platform, platform_of


@pytest.mark.parametrize(
    ("system", "processor", "expected"),
    [
        ("Linux", "x86_64", Platform("linux", "amd64")),
        ("Linux", "aarch64", Platform("linux", "arm64")),
        ("Darwin", "x86_64", Platform("darwin", "amd64")),
        ("Darwin", "arm64", Platform("darwin", "arm64")),
        ("Linux", "AMD64", Platform("linux", "amd64")),
    ],
)
def test_a_machine_is_translated(system: str, processor: str, expected: Platform) -> None:
    assert platform_of(system, processor) == expected


@pytest.mark.parametrize(("system", "processor"), [("Windows", "AMD64"), ("Linux", "riscv64")])
def test_another_machine_is_refused_by_name(system: str, processor: str) -> None:
    with pytest.raises(ToolchainError, match=f"this machine is {system} {processor}"):
        platform_of(system, processor)
