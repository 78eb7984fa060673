"""Choose another Pulumi engine, or other Coder servers, than the catalogue's (V3).

`make engines ENGINE=…` and `make contract CODER=…` set these variables. Versions live side by side
in the cache. Without a variable nothing changes.
"""

from collections.abc import Iterable, Mapping

from sandbox.toolchain.catalogue import CATALOGUE, CONTRACT
from sandbox.toolchain.coder_servers import SERVERS, UNAVAILABLE, coder_servers
from sandbox.toolchain.engines import ENGINES, pulumi
from sandbox.toolchain.errors import ToolchainError
from sandbox.toolchain.recipes import Tool

ENGINE_VARIABLE = "CODER_STACK_ENGINE"
CODER_VARIABLE = "CODER_STACK_CODER"
_HOW_TO_ADD = "CONTRIBUTING.md says how to add one."


def chosen_catalogue(environment: Mapping[str, str]) -> Mapping[str, Tool]:
    """Return the catalogue with the versions that the environment asks for."""
    chosen = dict(CATALOGUE)
    if engine := _version(environment, ENGINE_VARIABLE):
        chosen["pulumi"] = _engine(engine)
    if coder := _version(environment, CODER_VARIABLE):
        servers = {tool.name: tool for tool in _servers(coder)}
        others = {name: tool for name, tool in chosen.items() if name not in CONTRACT}
        chosen = {**others, **servers}
    return chosen


def servers_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the servers that the chosen version of Coder has."""
    catalogue = chosen_catalogue(environment)
    return tuple(name for name in CONTRACT if name in catalogue)


def _version(environment: Mapping[str, str], variable: str) -> str:
    return environment.get(variable, "").strip().removeprefix("v")


def _engine(version: str) -> Tool:
    if version not in ENGINES:
        raise ToolchainError(
            f"{ENGINE_VARIABLE}: there is no lock for Pulumi v{version}; "
            f"there are {_listed(ENGINES)}. {_HOW_TO_ADD}"
        )
    return pulumi(version, exactly=True)


def _servers(version: str) -> tuple[Tool, ...]:
    if version in SERVERS:
        return coder_servers(version)
    why = UNAVAILABLE.get(version)
    problem = f"cannot be built, {why}" if why else "has no lock"
    raise ToolchainError(
        f"{CODER_VARIABLE}: Coder v{version} {problem}. "
        f"There are {_listed(map(_described, SERVERS))}. {_HOW_TO_ADD}"
    )


def _described(version: str) -> str:
    missing = [name for name in CONTRACT if name not in SERVERS[version]]
    return f"{version} (AGPL only: {UNAVAILABLE[version]})" if missing else version


def _listed(versions: Iterable[str]) -> str:
    return ", ".join(f"v{version}" for version in versions)
