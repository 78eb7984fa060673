"""`coder-stack drift`, `reconcile` and `status`: the commands, where reports go, exit codes.

Thin: each command names its work; fleet.py does it for every stack, and the renderers write.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from coder_stack.operate import drift as looking
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.pulumi import Project, StackEngine
from coder_stack.operate.fleet import Verdict, each_stack, jobs_by_default, verdict
from coder_stack.operate.reconcile import Limits
from coder_stack.operate.reconcile import reconcile as repair
from coder_stack.operate.report import html, markdown, metrics, text
from coder_stack.operate.report.model import Report
from coder_stack.operate.status import status as recorded_status

__all__ = ["register"]

Stacks = Annotated[list[str] | None, typer.Option("--stack", help="Name of a stack (repeatable).")]
All = Annotated[bool, typer.Option("--all", help="All stacks of the project.")]
Folder = Annotated[Path, typer.Option("--cwd", help="Folder of the Pulumi project.")]
Jobs = Annotated[int, typer.Option(min=1, help="How many stacks to process in parallel.")]
AsJson = Annotated[str, typer.Option("--json", metavar="FILE", help="JSON report; - is stdout.")]
AsMarkdown = Annotated[str, typer.Option("--markdown", metavar="FILE", help="Markdown report.")]
AsHtml = Annotated[str, typer.Option("--html", metavar="FILE", help="HTML report.")]
AsMetrics = Annotated[str, typer.Option("--metrics", metavar="FILE", help="Prometheus metrics.")]
_JOBS = jobs_by_default()


def register(root: typer.Typer) -> None:
    """Hang the three commands into `coder-stack`."""
    for command in (drift, reconcile, status):
        root.command()(command)


def drift(
    stack: Stacks = None,
    every: All = False,
    cwd: Folder = Path(),
    jobs: Jobs = _JOBS,
    as_json: AsJson = "",
    as_markdown: AsMarkdown = "",
    as_html: AsHtml = "",
    as_metrics: AsMetrics = "",
) -> None:
    """Report drift and its causes. Never writes the state. Exit 0: clean, 2: drift, 1: error."""
    run = _Run(stack or [], every, cwd, jobs, as_json, as_markdown, as_html, as_metrics)
    run.end(lambda engine: looking.check_drift(engine).report)


def reconcile(
    stack: Stacks = None,
    every: All = False,
    cwd: Folder = Path(),
    jobs: Jobs = _JOBS,
    max_deletes: Annotated[
        int | None, typer.Option(min=0, help="Allowed deletes. Default: from the config.")
    ] = None,
    max_replaces: Annotated[
        int | None, typer.Option(min=0, help="Allowed replacements. Default: from the config.")
    ] = None,
    wait: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Wait for another running update.")
    ] = 0,
    as_json: AsJson = "",
    as_markdown: AsMarkdown = "",
    as_html: AsHtml = "",
    as_metrics: AsMetrics = "",
) -> None:
    """Repair drift within limits. Exit 0: clean, 2: drift was not repaired, 1: error."""
    run = _Run(stack or [], every, cwd, jobs, as_json, as_markdown, as_html, as_metrics)
    limits = Limits(max_deletes, max_replaces, wait)
    run.end(lambda engine: repair(engine, limits))


def status(
    stack: Stacks = None,
    every: All = False,
    cwd: Folder = Path(),
    jobs: Jobs = _JOBS,
    as_json: AsJson = "",
    as_markdown: AsMarkdown = "",
    as_html: AsHtml = "",
    as_metrics: AsMetrics = "",
) -> None:
    """Show the conditions of the last update. Exit 0: Ready, 2: not Ready, 1: error."""
    run = _Run(stack or [], every, cwd, jobs, as_json, as_markdown, as_html, as_metrics)
    run.end(recorded_status, details=True)


class _Run:
    """One command on its stacks, from options to exit code."""

    def __init__(
        self,
        stacks: list[str],
        every: bool,
        folder: Path,
        jobs: int,
        as_json: str,
        as_markdown: str,
        as_html: str,
        as_metrics: str,
    ) -> None:
        if every == bool(stacks):
            _fail("give either --stack (repeatable) or --all")
        self._stacks, self._every, self._folder, self._jobs = stacks, every, folder, jobs
        self._files = {
            file: render
            for file, render in (
                (as_json, self._json),
                (as_markdown, markdown.render),
                (as_html, html.render),
                (as_metrics, metrics.render),
            )
            if file
        }
        given = [file for file in (as_json, as_markdown, as_html, as_metrics) if file]
        if len(given) != len(self._files):
            _fail("two reports cannot be written to the same file")

    def end(self, work: Callable[[StackEngine], Report], *, details: bool = False) -> NoReturn:
        """Do it, write the reports, exit."""
        try:
            project = Project.at(self._folder)
            names = project.stacks() if self._every else list(dict.fromkeys(self._stacks))
            reports = each_stack(project, names, work, self._jobs, _progress)
        except OperationError as error:
            _fail(str(error))
        if "-" not in self._files:
            text.show(reports, Console(), details=details)
        for file, render in self._files.items():
            _write(file, render(reports))
        raise typer.Exit(verdict(reports))

    def _json(self, reports: list[Report]) -> str:
        """An object for one stack, a list of them for several."""
        documents = [each.model_dump(mode="json", by_alias=True) for each in reports]
        one = len(self._stacks) == 1
        return json.dumps(documents[0] if one else documents, indent=2, ensure_ascii=False) + "\n"


def _write(file: str, content: str) -> None:
    path = Path(file)
    try:
        if file == "-":
            typer.echo(content, nl=False)
        elif path.exists() and not path.is_file():
            path.write_text(content, encoding="utf-8")
        else:
            # In one piece: a collector of metrics may read at any moment.
            part = path.with_name(f".{path.name}.part")
            part.write_text(content, encoding="utf-8")
            part.replace(path)
    except OSError as error:
        _fail(f"cannot write {file}: {error.strerror}.")


def _progress(line: str) -> None:
    typer.echo(f"==> {line}", err=True)


def _fail(sentence: str) -> NoReturn:
    typer.echo(f"error: {sentence}", err=True)
    raise typer.Exit(Verdict.ERROR)
