"""`coder-stack license …`: inspect a license offline. Never print its text."""

import json
import sys
from datetime import UTC, datetime
from enum import IntEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from coder_stack.coderd.license import LicenseClaims, NotALicense, read_license
from coder_stack.coderd.license_problems import LicenseProblem, claims_problems

ClaimValue = str | int | bool | list[str] | dict[str, int] | None
app = typer.Typer(help="Inspect a Coder license.", no_args_is_help=True)


def register(root: typer.Typer) -> None:
    """Add the commands to `coder-stack`."""
    root.add_typer(app, name="license")


class InspectResult(IntEnum):
    """The result of `license inspect`, with its exit code."""

    USABLE = 0
    UNUSABLE = 1
    WARNING = 2


@app.callback()
def _license() -> None:  # pyright: ignore[reportUnusedFunction]  # typer calls it; without it, `inspect` would be no subcommand
    """Inspect a Coder license."""


@app.command()
def inspect(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="The license; - reads stdin.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    warn_days: Annotated[int, typer.Option(min=0, help="Days before expiry to warn.")] = 30,
    deployment_id: Annotated[
        str | None, typer.Option(help="Check that the license allows this deployment.")
    ] = None,
    needs: Annotated[
        list[str] | None, typer.Option(metavar="FEATURE", help="Required feature (repeatable).")
    ] = None,
) -> None:
    """Print claims and dates. Exit 0: usable, 2: expires soon or in grace, 1: unusable."""
    claims = _claims_or_exit(file)
    problems = claims_problems(claims, datetime.now(UTC), deployment_id, needs or (), warn_days)
    result = _result(problems)
    if as_json:
        typer.echo(json.dumps(_document(claims, problems, result), indent=2))
    else:
        _print(claims, problems, result)
    raise typer.Exit(result)


def _claims_or_exit(file: str) -> LicenseClaims:
    try:
        return read_license(_text(file))
    except NotALicense as error:
        message = f"the license {error}; give the file that Coder sent."
    except (OSError, ValueError) as error:
        cause = error.strerror if isinstance(error, OSError) else "not a file name"
        message = f"cannot read {file}: {cause}."
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(InspectResult.UNUSABLE)


def _text(file: str) -> str:
    raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    # read_license refuses what is not UTF-8.
    return raw.decode("utf-8", "replace")


def _result(problems: list[LicenseProblem]) -> InspectResult:
    if any(problem.severity == "error" for problem in problems):
        return InspectResult.UNUSABLE
    return InspectResult.WARNING if problems else InspectResult.USABLE


def _time(moment: datetime | None) -> str | None:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def _claims(claims: LicenseClaims) -> dict[str, ClaimValue]:
    return {
        "sha256": claims.sha256,
        "id": str(claims.identity) if claims.identity else None,
        "version": claims.version,
        "account_type": claims.account_type,
        "account_id": claims.account_id,
        "subject": claims.subject,
        "issued_at": _time(claims.issued_at),
        "not_before": _time(claims.not_before),
        "license_expires": _time(claims.license_expires),
        "exp": _time(claims.expires),
        "trial": claims.trial,
        "require_telemetry": claims.require_telemetry,
        "deployment_ids": list(claims.deployment_ids),
        "feature_set": claims.feature_set,
        "all_features": claims.all_features,
        "features": dict(claims.features),
        "addons": list(claims.addons),
        "granted": sorted(claims.granted),
    }


def _document(
    claims: LicenseClaims, problems: list[LicenseProblem], result: InspectResult
) -> dict[str, object]:
    return {
        "schema": 1,
        "result": result.name.lower(),
        "license": _claims(claims),
        "findings": [
            {"severity": each.severity, "reason": each.reason, "message": each.message}
            for each in problems
        ],
    }


def _print(claims: LicenseClaims, problems: list[LicenseProblem], result: InspectResult) -> None:
    console = Console()
    rows = {"result": result.name.lower()}
    rows |= {name: _shown(value) for name, value in _claims(claims).items()}
    if not console.is_terminal:
        for name, value in rows.items():
            typer.echo(f"{name}: {value}")
        for each in problems:
            typer.echo(f"{each.severity}: {each.reason}: {each.message}")
        return
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in rows.items():
        table.add_row(Text(name, style="bold"), Text(value, overflow="fold"))
    console.print(table)
    for each in problems:
        colour = "red" if each.severity == "error" else "yellow"
        console.print(Text.assemble((f"{each.severity}: {each.reason}: ", colour), each.message))


def _shown(value: ClaimValue) -> str:
    if isinstance(value, dict):
        text = ", ".join(f"{name}={number}" for name, number in value.items())
    elif isinstance(value, list):
        text = ", ".join(value)
    elif isinstance(value, bool):
        text = "yes" if value else "no"
    else:
        text = "" if value is None else str(value)
    # Claims are foreign text: keep its control characters from the terminal.
    return "".join(c if c.isprintable() else "?" for c in text) or "-"
