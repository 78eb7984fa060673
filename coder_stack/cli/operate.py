"""`coder-stack drift`, `reconcile` and `status`: options, files for reports, exit codes.

operate/fleet.py does the work on every stack, and operate/report/ renders the reports.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from coder_stack.operate.drift import check_drift
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.process import Interrupted, interruptible
from coder_stack.operate.engine.pulumi import Project, StackEngine
from coder_stack.operate.fleet import ExitCode, default_jobs, exit_code, for_each_stack
from coder_stack.operate.progress import progress_on
from coder_stack.operate.reconcile import Limits, reconcile_stack
from coder_stack.operate.report import html, markdown, metrics, text
from coder_stack.operate.report.model import Report
from coder_stack.operate.status import live_status, read_status


def _stack_files(incomplete: str) -> list[str]:
    """Complete a stack's name from the config files beside Pulumi.yaml; asks no backend."""
    names = (
        path.name.split(".", 1)[1].removesuffix(".yaml") for path in Path().glob("Pulumi.*.yaml")
    )
    return sorted(name for name in names if name.startswith(incomplete))


Stacks = Annotated[
    list[str] | None,
    typer.Option(
        "--stack",
        "-s",
        help="Name of a stack (repeatable). Default: the selected stack, as in Pulumi.",
        autocompletion=_stack_files,
    ),
]
All = Annotated[bool, typer.Option("--all", help="All stacks of the project.")]
Folder = Annotated[Path, typer.Option("--cwd", help="Folder of the Pulumi project.")]
Jobs = Annotated[int, typer.Option(min=1, help="How many stacks to process in parallel.")]
AsJson = Annotated[str, typer.Option("--json", metavar="FILE", help="JSON report; - is stdout.")]
AsMarkdown = Annotated[str, typer.Option("--markdown", metavar="FILE", help="Markdown report.")]
AsHtml = Annotated[str, typer.Option("--html", metavar="FILE", help="HTML report.")]
AsMetrics = Annotated[str, typer.Option("--metrics", metavar="FILE", help="Prometheus metrics.")]
Notify = Annotated[
    bool, typer.Option("--notify", help="Tell the webhook of the config what was found.")
]
_JOBS = default_jobs()


def register(root: typer.Typer) -> None:
    """Add the three commands to `coder-stack`."""
    for command in (drift, reconcile, status):
        root.command()(command)


def drift(
    stack: Stacks = None,
    all_stacks: All = False,
    cwd: Folder = Path(),
    jobs: Jobs = _JOBS,
    as_json: AsJson = "",
    as_markdown: AsMarkdown = "",
    as_html: AsHtml = "",
    as_metrics: AsMetrics = "",
    notify: Notify = False,
) -> None:
    """Report drift and its causes. Never writes the state. Exit 0: clean, 2: drift, 1: error."""
    run = _Run(stack or [], all_stacks, cwd, jobs, as_json, as_markdown, as_html, as_metrics)
    run.execute(lambda engine: check_drift(engine).report, notify=notify)


def reconcile(
    stack: Stacks = None,
    all_stacks: All = False,
    cwd: Folder = Path(),
    jobs: Jobs = _JOBS,
    max_deletes: Annotated[
        int | None, typer.Option(min=0, help="Allowed deletes. Default: from the config.")
    ] = None,
    max_replaces: Annotated[
        int | None, typer.Option(min=0, help="Allowed replacements. Default: from the config.")
    ] = None,
    max_creates: Annotated[
        int | None,
        typer.Option(min=0, help="Allowed creates, not counting what was deleted."),
    ] = None,
    wait: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Wait for another running update.")
    ] = 0,
    as_json: AsJson = "",
    as_markdown: AsMarkdown = "",
    as_html: AsHtml = "",
    as_metrics: AsMetrics = "",
    notify: Notify = False,
) -> None:
    """Repair drift within limits. Exit 0: clean, 2: drift was not repaired, 1: error."""
    run = _Run(stack or [], all_stacks, cwd, jobs, as_json, as_markdown, as_html, as_metrics)
    limits = Limits(max_deletes, max_replaces, max_creates, wait)
    run.execute(lambda engine: reconcile_stack(engine, limits), notify=notify)


def status(
    stack: Stacks = None,
    all_stacks: All = False,
    cwd: Folder = Path(),
    jobs: Jobs = _JOBS,
    live: Annotated[
        bool, typer.Option("--live", help="Compare with the cluster and coderd first, as `drift`.")
    ] = False,
    as_json: AsJson = "",
    as_markdown: AsMarkdown = "",
    as_html: AsHtml = "",
    as_metrics: AsMetrics = "",
) -> None:
    """Show conditions, license, keys and proxies as of the last update, or now with --live.

    Exit 0: Ready, 2: not Ready (with --live also drift), 1: error.
    """
    run = _Run(stack or [], all_stacks, cwd, jobs, as_json, as_markdown, as_html, as_metrics)
    run.execute(live_status if live else read_status, status=True)


class _Run:
    """One command on its stacks, from options to exit code."""

    def __init__(
        self,
        stacks: list[str],
        all_stacks: bool,
        folder: Path,
        jobs: int,
        as_json: str,
        as_markdown: str,
        as_html: str,
        as_metrics: str,
    ) -> None:
        if all_stacks and stacks:
            _fail("give either --stack (repeatable) or --all")
        self._stacks, self._all, self._folder, self._jobs = stacks, all_stacks, folder, jobs
        formats = (
            (as_json, self._json),
            (as_markdown, markdown.render),
            (as_html, html.render),
            (as_metrics, metrics.render),
        )
        self._files = {file: render for file, render in formats if file}
        if len(self._files) < sum(bool(file) for file, _ in formats):
            _fail("two reports cannot be written to the same file")

    def execute(
        self,
        work: Callable[[StackEngine], Report],
        *,
        status: bool = False,
        notify: bool = False,
    ) -> NoReturn:
        """Do the work on every stack, write the reports, and exit.

        A status has all details, and its exit code says whether the stacks are ready. A webhook
        that fails does not change the exit code.
        """
        try:
            with progress_on(sys.stderr) as progress, interruptible(progress.say):
                project = Project.at(self._folder)
                reports = for_each_stack(project, self._names(project), work, self._jobs, progress)
                if notify:
                    _notify(project, reports)
        except OperationError as error:
            _fail(error.told())
        except Interrupted as error:
            _fail(str(error), error.exit_code)
        if "-" not in self._files:
            text.print_reports(reports, Console(), details=status)
        for file, render in self._files.items():
            _write(file, render(reports))
        code = exit_code(reports, readiness=status)
        if project.note and code == ExitCode.ERROR:
            typer.echo(f"note: {project.note}", err=True)
        raise typer.Exit(code)

    def _names(self, project: Project) -> list[str]:
        if self._all:
            return project.stack_names()
        return list(dict.fromkeys(self._stacks)) or [project.selected_stack()]

    def _json(self, reports: list[Report]) -> str:
        """Return an object for one stack, a list for --all and for several."""
        documents = [each.model_dump(mode="json", by_alias=True) for each in reports]
        content = documents if self._all or len(self._stacks) > 1 else documents[0]
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _notify(project: Project, reports: list[Report]) -> None:
    """Tell the webhook of each stack what its report says."""
    # Imported here: most runs tell nobody.
    from coder_stack.operate.watch.single_run import tell  # noqa: PLC0415

    for report in reports:
        for problem in tell(project, report):
            typer.echo(f"warning: {problem}", err=True)


def _write(file: str, content: str) -> None:
    path = Path(file)
    try:
        if file == "-":
            typer.echo(content, nl=False)
        elif path.exists() and not path.is_file():
            path.write_text(content, encoding="utf-8")
        else:
            # Replace the file at once: a collector of metrics may read it at any moment.
            new = path.with_name(f".{path.name}.part")
            new.write_text(content, encoding="utf-8")
            new.replace(path)
    except OSError as error:
        _fail(f"cannot write {file}: {error.strerror}.")


def _fail(message: str, code: int = ExitCode.ERROR) -> NoReturn:
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(code)
