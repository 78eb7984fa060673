"""`coder-stack watch`: notice drift of one stack in seconds, and repair it if asked to."""

import sys
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from coder_stack.cli.questions import fail
from coder_stack.naming import stack_hash
from coder_stack.operate.engine import process
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.pulumi import Project
from coder_stack.operate.progress import PlainProgress
from coder_stack.operate.stack_config import StackConfig
from coder_stack.operate.watch.announcements import Announcements
from coder_stack.operate.watch.coderd_lists import CoderdLists
from coder_stack.operate.watch.coderd_session import session_opener
from coder_stack.operate.watch.facts import Facts
from coder_stack.operate.watch.kubernetes_watch import KubernetesWatch
from coder_stack.operate.watch.lease import Lease
from coder_stack.operate.watch.metrics import WatchMetrics
from coder_stack.operate.watch.notifier import Notifier
from coder_stack.operate.watch.recorded_state import RecordedState
from coder_stack.operate.watch.server import serve
from coder_stack.operate.watch.watcher import Options, Watcher
from coder_stack.operate.watch.webhook import Webhook
from coder_stack.settings import ConfigError, WatchSettings
from coder_stack.settings.notify import SHORTEST_INTERVAL, seconds

_LAST_NOTICES_SECONDS = 5.0


def register(root: typer.Typer) -> None:
    """Add the command to `coder-stack`."""
    root.command()(watch)


def watch(
    stack: Annotated[
        str | None, typer.Option("--stack", "-s", help="Name of the stack. Default: as in Pulumi.")
    ] = None,
    cwd: Annotated[Path, typer.Option("--cwd", help="Folder of the Pulumi project.")] = Path(),
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair within the limits of `drift` in the config.")
    ] = False,
    interval: Annotated[
        int | None,
        typer.Option(help="Seconds between two looks at coderd. Default: from the config, or 30."),
    ] = None,
    full_look_every: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="How often to compare everything, e.g. 30m. Default: from the config, or 6h.",
        ),
    ] = None,
    listen: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Serve /healthz, /readyz and /metrics there."),
    ] = "",
) -> None:
    """Watch one stack until it is interrupted: notice drift in seconds, and say what it is.

    Every object of the stack is watched in Kubernetes, and coderd is asked
    for a few lists. What looks different is compared by `coder-stack drift`,
    and with --repair repaired by `coder-stack reconcile`. The webhook of the
    config is told once of each change.
    """
    progress = PlainProgress(sys.stderr)
    try:
        with process.interruptible(progress.say):
            project = Project.at(cwd.absolute())
            name = stack or project.selected_stack()
            pages = _Pages(WatchMetrics(name))
            if listen:  # before the backend is asked for config and state, which may take long
                progress.say(f"serving on port {serve(listen, pages)}")
            settings = _settings(project, name, interval, full_look_every)
            state = RecordedState(project, name)
            _watch(state, settings, Path(cwd).absolute(), progress, pages, repair=repair)
    except OperationError as error:
        fail(error.told(stack or "STACK").removesuffix("\n"))
    except ConfigError as error:
        fail(str(error))
    except process.Interrupted as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(error.exit_code) from None


@dataclass
class _Pages:
    """What is served; until there is a watcher, it is starting: healthy, but not ready."""

    metrics: WatchMetrics
    watcher: Watcher | None = None

    @property
    def why_not_healthy(self) -> str:
        return self.watcher.why_not_healthy if self.watcher else ""

    @property
    def why_not_ready(self) -> str:
        return self.watcher.why_not_ready if self.watcher else "The watcher is starting."

    def metrics_text(self) -> bytes:
        return self.metrics.text(datetime.now(UTC))


def _settings(
    project: Project, stack: str, interval: int | None, full_look_every: str | None
) -> tuple[StackConfig, WatchSettings]:
    """Return the config with the options over it; an option is checked as the field is."""
    if interval is not None and interval < SHORTEST_INTERVAL:
        raise OperationError(
            f"--interval is {interval}; it must be at least {SHORTEST_INTERVAL} seconds."
        )
    config = StackConfig(project, stack)
    given = {"interval": interval, "full_look_every": full_look_every}
    changes = {key: value for key, value in given.items() if value is not None}
    known = config.watching().watch.model_dump()
    try:
        return config, WatchSettings.model_validate({**known, **changes})
    except ValueError:
        raise OperationError(
            f"--interval or --full-look-every is wrong ({interval or ''} {full_look_every or ''}): "
            "give seconds up to 3600, and minutes or hours as 30m or 6h."
        ) from None


def _watch(
    state: RecordedState,
    found: tuple[StackConfig, WatchSettings],
    folder: Path,
    progress: PlainProgress,
    pages: _Pages,
    *,
    repair: bool,
) -> None:
    config, settings = found
    metrics = pages.metrics
    facts = state.read()
    webhook = Webhook.of(config)
    wake = threading.Event()

    def counted(delivered: bool) -> None:
        (metrics.notices if delivered else metrics.failed_notices).inc()

    notifier = Notifier(webhook, progress.say, counted) if webhook else None
    kubernetes = KubernetesWatch(folder, wake.set, progress.say)
    lease = _lease(state, facts, kubernetes)
    try:
        if lease is None:
            progress.say("no Lease, as the stack has no Kubernetes objects: start one watcher only")
        elif not lease.acquire(process.raise_if_interrupted, progress.say):
            progress.say("no Lease could be written: another watcher may not be noticed")
        watcher = Watcher(
            state=state,
            kubernetes=kubernetes,
            coderd=CoderdLists(
                wake.set, session_opener(state.project, state.stack), settings.interval
            ),
            metrics=metrics,
            options=Options(repair, seconds(settings.full_look_every)),
            say=progress.say,
            wake=wake,
            announcements=Announcements(state.stack, progress.say, metrics, notifier),
            still_alone=lease.raise_if_lost if lease is not None else lambda: None,
        )
        pages.watcher = watcher
        if notifier:
            notifier.start()
        watcher.start(facts)
        watcher.run()
    finally:
        kubernetes.stop()
        if lease is not None:
            lease.release()
        if notifier:
            notifier.flush(_LAST_NOTICES_SECONDS)


def _lease(state: RecordedState, facts: Facts, kubernetes: KubernetesWatch) -> Lease | None:
    """Return the stack's Lease; None for a stack without objects in any cluster."""
    if not facts.lease_cluster:
        return None
    cluster = kubernetes.clusters(facts)[facts.lease_cluster]
    name = f"coder-stack-watch-{stack_hash(state.project.name, state.stack)}"
    return Lease(cluster, facts.namespace, name, state.stack)
