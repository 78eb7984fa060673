"""`coder-stack sandbox …`: start, inspect and stop a local test environment.

Each command calls one function of the package and shows SandboxError as one sentence.
"""

import json
import shlex
import shutil
import sys
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from coder_stack.operate.engine.process import Interrupted
from sandbox import cluster, two_clusters
from sandbox.breakage import BREAKAGES, NEEDS_SECOND, break_it, possible
from sandbox.coderd import cli as coderd
from sandbox.deploy import deploy as run_up
from sandbox.deploy import destroy
from sandbox.deploy import execute as become
from sandbox.engine import Engine, for_people
from sandbox.errors import SandboxError
from sandbox.paths import SECOND, SandboxPaths
from sandbox.toolchain import CLUSTER, ENGINE, doctor, ensure
from sandbox.watcher import measure as measuring
from sandbox.watcher import soak as enduring

app = typer.Typer(help="A local test environment: Kubernetes API server, Pulumi engine and state.")
coderd.register(app)
_console = Console()
_errors = Console(stderr=True)
Command = TypeVar("Command", bound=Callable[..., Any])


def register(root: typer.Typer) -> None:
    """Add the sandbox's commands to the `coder-stack` command."""
    root.add_typer(app, name="sandbox", no_args_is_help=True)
    doctor.register(root)


def one_sentence(command: Command) -> Command:
    """Turn an error into `error: …` on stderr and exit code 1, or 130 after Ctrl-C."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except SandboxError as error:
            _fail(str(error))
        except Interrupted as error:
            _fail(str(error), error.exit_code)
        except KeyboardInterrupt:
            _fail("interrupted; run the same command again to continue", 130)

    return wrapped  # pyright: ignore[reportReturnType]  # the signature is the command's own


def _fail(sentence: str, code: int = 1) -> NoReturn:
    _errors.print(f"[bold red]error:[/] {sentence}", highlight=False, soft_wrap=True)
    raise typer.Exit(code)


def _say(text: str) -> None:
    _console.print(f"==> {text}", highlight=False, soft_wrap=True)


@app.command()
@one_sentence
def up(
    port: Annotated[
        int | None,
        typer.Option(help="Port of the API server. Default: the last one used, or a free one."),
    ] = None,
    # Text: a number out of range and a word get the same sentence.
    clusters: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help=f"1, or 2: a second cluster for the proxy {SECOND}. Default: as before, or 1.",
        ),
    ] = None,
) -> None:
    """Install the tools and start the cluster, unless it is running."""
    paths = SandboxPaths.of_checkout()
    count = two_clusters.wanted(paths, clusters)
    if cluster.external_kubeconfig():
        cluster.up(paths, {}, port, _say)
        return
    # Includes the tools for `deploy`, so that users wait for builds only once.
    programs = {name: tool.path for name, tool in ensure((*ENGINE, *CLUSTER)).items()}
    two_clusters.up(paths, programs, port, count, _say)


@app.command()
@one_sentence
def deploy() -> None:
    """Run `pulumi up` for the stack `sandbox` and show its outputs."""
    paths = SandboxPaths.of_checkout()
    if not cluster.status(paths).ready:
        _fail("the sandbox's cluster is not up; start it with: coder-stack sandbox up")
    engine = Engine.ready()
    _say(f"kubernetes plugin: {engine.plugin.source} {engine.plugin.version}")
    run_up(engine, paths, _console)
    two_clusters.moved(paths, _say)
    _console.print(
        "\nTry next:\n"
        '  eval "$(.venv/bin/coder-stack sandbox env)"   # pulumi and kubectl use the sandbox\n'
        "  .venv/bin/coder-stack sandbox break key       # or another of:\n"
        f"      {', '.join(possible(paths))}\n"
        "  make drift                                    # reports what has changed\n"
        "  make reconcile                                # repairs it\n"
        "  make down",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


@app.command()
@one_sentence
def down(
    keep: Annotated[bool, typer.Option(help="Keep the data for the next `up`.")] = False,
) -> None:
    """Stop every process and delete the cluster's data and the stack's state."""
    paths = SandboxPaths.of_checkout()
    if cluster.external_kubeconfig() and paths.state.exists():
        # That cluster stays: delete our objects before the state that lists them.
        destroy(Engine.ready(), paths, _console)
    stopped = two_clusters.down(paths, keep=keep)
    if not keep:
        shutil.rmtree(paths.folder, ignore_errors=True)
    _say(f"stopped {', '.join(stopped)}" if stopped else "nothing was running")


@app.command()
@one_sentence
def status(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show each cluster's processes, kubeconfig and logs. Exit 0: all ready, 1: not ready."""
    paths = SandboxPaths.of_checkout()
    first, second = cluster.status(paths), two_clusters.status_of_second(paths)
    if as_json:
        facts = {**_facts(first), "second": second and _facts(second)}
        sys.stdout.write(json.dumps(facts) + "\n")
    else:
        table = Table(show_header=False, box=None)
        _add_rows(table, "cluster", first)
        if second:
            table.add_row()
            _add_rows(table, f"cluster {SECOND}", second)
        _console.print(table, soft_wrap=True)
    if not (first.ready and (second is None or second.ready)):
        raise typer.Exit(1)


def _facts(now: cluster.ClusterStatus) -> dict[str, Any]:
    facts = {"kind": now.kind, "ready": now.ready, "parts": now.parts, "coderd": now.coderd}
    return {**facts, "kubeconfig": str(now.kubeconfig), "logs": str(now.logs)}


def _add_rows(table: Table, title: str, now: cluster.ClusterStatus) -> None:
    table.add_row(title, f"{now.kind}, {'ready' if now.ready else 'not ready'}")
    table.add_row("kubeconfig", str(now.kubeconfig))
    for part, pid in reversed(now.parts.items()):
        table.add_row(part, f"running, pid {pid}" if pid else "not running")
    if now.coderd:
        table.add_row("coderd (simulated)", now.coderd)
    table.add_row("logs", str(now.logs))


@app.command()
@one_sentence
def kubeconfig() -> None:
    """Print the path of the sandbox's kubeconfig, for `kubectl --kubeconfig "$(…)"`."""
    path = cluster.status(SandboxPaths.of_checkout()).kubeconfig
    if not path.exists():
        _fail("there is no cluster yet; start it with: coder-stack sandbox up")
    sys.stdout.write(f"{path}\n")


@app.command()
@one_sentence
def env() -> None:
    """Print shell exports that make pulumi and kubectl use the sandbox."""
    paths = SandboxPaths.of_checkout()
    variables = Engine.ready().variables(paths, "$PATH") | for_people(paths)
    path = variables.pop("PATH").removesuffix("$PATH")
    sys.stdout.write(f'export PATH={shlex.quote(path)}"$PATH"\n')
    for name, value in variables.items():
        sys.stdout.write(f"export {name}={shlex.quote(value)}\n")


@app.command(name="break")
@one_sentence
def break_(
    what: Annotated[
        str,
        typer.Argument(
            help=f"One of: {', '.join(BREAKAGES)} ({NEEDS_SECOND}: after `make up CLUSTERS=2`)."
        ),
    ],
) -> None:
    """Change one thing outside of Pulumi, for `make drift` to find."""
    _say(break_it(SandboxPaths.of_checkout(), what))


@app.command()
@one_sentence
def measure(
    interval: Annotated[int, typer.Option(min=5, help="Interval of the watcher in seconds.")] = 30,
) -> None:
    """Measure how fast `coder-stack watch` reacts to each breakage. Exit 1: too slow."""
    reactions = measuring.measure(_running(), Engine.ready(), interval, _say)
    _console.print(measuring.table(reactions, interval))
    if late := measuring.late(reactions, interval):
        _fail(f"noticed late: {', '.join(late)}")


@app.command()
@one_sentence
def soak(
    minutes: Annotated[float, typer.Option(min=1, help="How long.")] = 60,
    seed: Annotated[int, typer.Option(help="Decides the order; the same again for the same.")] = 1,
) -> None:
    """Break something again and again, and let `coder-stack watch` repair it."""
    _say(enduring.soak(_running(), Engine.ready(), minutes, seed, _say).summary())


def _running() -> SandboxPaths:
    paths = SandboxPaths.of_checkout()
    if not cluster.status(paths).ready:
        _fail("the sandbox is not up; start it with: make up")
    return paths


@app.command(name="exec", context_settings={"ignore_unknown_options": True})
@one_sentence
def execute(
    command: Annotated[list[str], typer.Argument(help="A command and its arguments.")],
) -> None:
    """Run one command in the sandbox's environment, e.g. `exec -- pulumi preview --refresh`."""
    paths = _running()  # before the tools: installing them would take minutes, for nothing
    become(Engine.ready(), paths, command)
