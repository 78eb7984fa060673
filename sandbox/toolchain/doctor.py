"""`coder-stack doctor`: show this machine's tools, their sources, and the reasons."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from coder_stack.operate.engine.versions import TRIED, newer_than_tried
from sandbox.errors import SandboxError
from sandbox.toolchain.api_documents import NAME as API_DOCUMENTS
from sandbox.toolchain.api_documents import REASON as DOCUMENTS_FROM
from sandbox.toolchain.browser import Browser
from sandbox.toolchain.build import free_bytes, tree_bytes
from sandbox.toolchain.catalogue import CHECKS, CLUSTER, CONTRACT, ENGINE, WHEELS
from sandbox.toolchain.errors import SourceUnavailable
from sandbox.toolchain.golang import Go
from sandbox.toolchain.install import Toolchain
from sandbox.toolchain.provider_plugin import EXECUTABLE, PluginChoice, PluginFinder
from sandbox.toolchain.recipes import parse_version
from sandbox.toolchain.store import Installed, remove_tree


@dataclass(frozen=True)
class ToolStatus:
    """One row: the state of a tool on this machine."""

    tool: str
    version: str = ""
    source: str = "missing"
    where: str = ""
    why: str = ""
    required: bool = False
    damaged: bool = False

    @property
    def is_problem(self) -> bool:
        """Return whether the sandbox cannot work like this."""
        return self.damaged or (self.required and self.source == "missing")


@dataclass(frozen=True)
class Health:
    """The state of all tools and of the cache."""

    findings: Sequence[ToolStatus]
    cache: str
    cache_bytes: int
    free_bytes: int
    engines_tried: Sequence[str] = TRIED

    @property
    def problems(self) -> list[str]:
        """Return the required tools that are missing, and the damaged ones."""
        return [finding.tool for finding in self.findings if finding.is_problem]


def register(root: typer.Typer) -> None:
    """Add the command to `coder-stack`."""
    root.command(name="doctor")(doctor)


def doctor(
    *,
    install: Annotated[
        bool, typer.Option(help="Install the tools of the engine and the cluster.")
    ] = False,
    install_all: Annotated[
        bool,
        typer.Option(
            help="Also install test tools: Coder servers and API documents, browser, linters."
        ),
    ] = False,
    verify: Annotated[bool, typer.Option(help="Verify the installed files' checksums.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the tools of the sandbox and where each came from. Exit 0: complete, 1: not."""
    tests = (*CONTRACT, *CHECKS) if install_all else ()
    try:
        toolchain = Toolchain.from_environment()
        plugins = PluginFinder.from_environment()
        groups = [name for name in (*ENGINE, *CLUSTER, *tests) if name in toolchain.catalogue]
        if install or install_all:
            if verify:
                drop_damaged(toolchain, groups)
            if install_all:
                # First: what cannot be downloaded is reported before minutes of builds.
                toolchain.ensure_api_documents()
            tools = toolchain.ensure(groups)
            plugins.choose(tools["pulumi"], retry=True)
            if install_all:
                toolchain.ensure_browser()
                for name in WHEELS:
                    toolchain.ensure_wheels(name)
        required = (*groups, *([API_DOCUMENTS] if install_all else []))
        health = examine(toolchain, plugins, required=required, verify=verify)
    except SandboxError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(
            json.dumps({"schema": 1, **asdict(health), "problems": health.problems}, indent=2)
        )
    else:
        show(health, Console() if sys.stdout.isatty() else Console(width=1000))
    if health.problems:
        again = "--verify --install" if any(f.damaged for f in health.findings) else "--install"
        typer.echo(
            f"error: {', '.join(health.problems)}: not usable; run `coder-stack doctor {again}`.",
            err=True,
        )
        raise typer.Exit(1)


def examine(
    toolchain: Toolchain, plugins: PluginFinder, *, required: Sequence[str], verify: bool = False
) -> Health:
    """Return the state of all tools without changing it."""
    findings = [
        _tool(toolchain, name, required=name in required, verify=verify)
        for name in (*ENGINE, *CLUSTER, *CONTRACT, *CHECKS)
        if name in toolchain.catalogue
    ]
    findings += [
        _plugin(plugins),
        _api_documents(toolchain, required=API_DOCUMENTS in required, verify=verify),
        _optional("chromium", toolchain.browser, "only for the tests, see --install-all"),
        _optional("go", toolchain.go, "installed only if something has to be built"),
    ]
    cache = toolchain.cache
    return Health(findings, str(cache), tree_bytes(cache), free_bytes(cache))


def drop_damaged(toolchain: Toolchain, names: Sequence[str]) -> None:
    """Remove installed tools whose files have changed, so that they are installed again."""
    damaged = [
        found.path.parents[1]
        for name in names
        if (found := toolchain.find(name)) and _damaged(toolchain, found)
    ]
    documents = toolchain.api_documents.damaged()
    if damaged or documents:
        with toolchain.store.lock(toolchain.progress):
            for folder in damaged:
                remove_tree(folder)
            toolchain.api_documents.drop(documents)


def show(health: Health, console: Console) -> None:
    """Print a table."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("tool", "version", "source", "where", "why"):
        table.add_column(column, overflow="fold", no_wrap=column in {"tool", "version", "source"})
    for finding in health.findings:
        style = "red" if finding.is_problem else ""
        source = "damaged" if finding.damaged else finding.source
        cells = (finding.tool, finding.version, source, finding.where, finding.why)
        table.add_row(*cells, style=style)
    console.print(table)
    console.print(f"\npulumi was tried in {', '.join(health.engines_tried)}", highlight=False)
    console.print(
        f"cache {health.cache}: {health.cache_bytes / 1e9:.2f} GB, "
        f"{health.free_bytes / 1e9:.1f} GB free",
        highlight=False,
        soft_wrap=True,
    )


def _tool(toolchain: Toolchain, name: str, *, required: bool, verify: bool) -> ToolStatus:
    found = toolchain.find(name)
    if found is None:
        why = "" if required else "only for the tests, see --install-all"
        return ToolStatus(name, toolchain.catalogue[name].version, why=why, required=required)
    damaged = _damaged(toolchain, found) if verify else []
    why = f"changed since it was installed: {', '.join(damaged)}" if damaged else found.reason
    return _of(found, why=why + _newer(found), required=required, damaged=bool(damaged))


def _newer(found: Installed) -> str:
    """Return a remark on an engine that was not tried yet (V3)."""
    version = parse_version(found.version) if found.name in ENGINE else None
    return f". {newer_than_tried(version)}" if version and newer_than_tried(version) else ""


def _damaged(toolchain: Toolchain, found: Installed) -> list[str]:
    folder = found.path.parents[1]
    if not folder.is_relative_to(toolchain.store.tools):
        return []
    return toolchain.store.damaged(folder)


def _of(found: Installed, *, why: str, required: bool = False, damaged: bool = False) -> ToolStatus:
    where = str(found.path)
    return ToolStatus(found.name, found.version, found.source, where, why, required, damaged)


def _plugin(plugins: PluginFinder) -> ToolStatus:
    try:
        choice: PluginChoice = plugins.find()
    except SandboxError as error:
        return ToolStatus(EXECUTABLE, plugins.version, why=str(error), required=True)
    return ToolStatus(
        EXECUTABLE, choice.version, choice.source, str(choice.bin_dir / EXECUTABLE), choice.reason
    )


def _api_documents(toolchain: Toolchain, *, required: bool, verify: bool) -> ToolStatus:
    documents = toolchain.api_documents
    versions = f"{documents.versions[0]} to {documents.versions[-1]}"
    missing = [each for each in documents.versions if each not in documents.find()]
    if missing:
        why = f"only for the tests, see --install-all: {', '.join(missing)}"
        return ToolStatus(API_DOCUMENTS, versions, why=why, required=required)
    damaged = documents.damaged() if verify else []
    why = f"changed since they were downloaded: {', '.join(damaged)}" if damaged else DOCUMENTS_FROM
    where = str(documents.folder)
    return ToolStatus(API_DOCUMENTS, versions, "release", where, why, required, bool(damaged))


def _optional(name: str, tool: Browser | Go, why_not: str) -> ToolStatus:
    try:
        found = tool.find()
    except SourceUnavailable as why:
        return ToolStatus(name, why=f"on PATH: {why}; {why_not}")
    return _of(found, why=found.reason)
