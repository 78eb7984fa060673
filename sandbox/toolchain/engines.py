"""The Pulumi CLI with its Python parts, in each version that has a lock (V3).

The default is the newest on the Go module proxy whose policy packs run with the old language host:
from 3.222 on the engine asks the host to run a pack, and the last host on the proxy cannot.
"""

from collections.abc import Mapping

from coder_stack.operate.engine.versions import TRIED
from sandbox.toolchain.recipes import (
    GoProgram,
    ModuleFile,
    Release,
    Tool,
    Version,
    VersionProbe,
    numbers,
)

ENGINES = tuple(version.removeprefix("v") for version in TRIED)
PULUMI = ENGINES[0]
"""The engine of the sandbox and of `make test`."""

PACKS_BY_HOST: Version = (3, 222, 0)
"""The first version whose language host runs policy packs, without a script of its own."""

_ANALYZER = "pulumi-analyzer-policy-python"
_SDK = "github.com/pulumi/pulumi/sdk/v3"
# Output → where the SDK's module has it.
_SCRIPTS: Mapping[str, str] = {
    "pulumi-language-python-exec": "python/cmd/pulumi-language-python-exec",
    "pulumi-resource-pulumi-python": "python/dist/pulumi-resource-pulumi-python",
    _ANALYZER: f"python/dist/{_ANALYZER}",
}


def part_of(version: str) -> str:
    """Return the folder of an engine's lock in `modules/`."""
    return "pulumi" if version == PULUMI else f"pulumi-{version}"


def pulumi(version: str = PULUMI, *, exactly: bool = False) -> Tool:
    """Describe the CLI; `exactly`: another version on PATH will not do."""
    part, wanted = part_of(version), numbers(version)
    scripts = {
        name: source
        for name, source in _SCRIPTS.items()
        if name != _ANALYZER or wanted < PACKS_BY_HOST
    }
    beside = ("pulumi-language-python", *scripts)
    return Tool(
        name="pulumi",
        version=version,
        probe=VersionProbe(
            arguments=("version",),
            at_least=wanted,
            below=(*wanted[:2], wanted[2] + 1) if exactly else (4, 0, 0),
            beside=beside,
            dropped_in={_ANALYZER: PACKS_BY_HOST},
        ),
        release=Release(
            host="github.com",
            asset="pulumi/pulumi/releases/download/v{version}/pulumi-v{version}-{os}-{arch}.tar.gz",
            checksums="pulumi/pulumi/releases/download/v{version}/pulumi-{version}-checksums.txt",
            checksum_format="sums",
            members=tuple(f"pulumi/{name}" for name in ("pulumi", *beside)),
            arch_names={"amd64": "x64"},
        ),
        programs=(
            GoProgram(
                part=part,
                package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
                output="pulumi",
                ldflags=f"-s -w -X {_SDK}/go/common/version.Version=v{version}",
            ),
            # v3.79.0, the last version whose module contains the language host.
            GoProgram(
                part="language-host",
                package=f"{_SDK}/python/cmd/pulumi-language-python",
                output="pulumi-language-python",
            ),
        ),
        files=tuple(
            ModuleFile(part=part, module=_SDK, sources=(source,), output=name, executable=True)
            for name, source in scripts.items()
        ),
    )
