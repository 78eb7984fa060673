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
from coder_stack.coderd.preflight import LicenseProblem, judge

__all__ = ["app"]

Fact = str | int | bool | list[str] | dict[str, int] | None
app = typer.Typer(help="Inspect a Coder license.", no_args_is_help=True)


class Verdict(IntEnum):
    """Exit codes."""

    USABLE = 0
    UNUSABLE = 1
    WARNING = 2


@app.callback()
def _license() -> None:  # pyright: ignore[reportUnusedFunction]  # typer calls it; with it, one command stays a command
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
    findings = judge(claims, datetime.now(UTC), deployment_id, needs or (), warn_days)
    verdict = _verdict(findings)
    if as_json:
        typer.echo(json.dumps(_document(claims, findings, verdict), indent=2))
    else:
        _print(claims, findings, verdict)
    raise typer.Exit(verdict)


def _claims_or_exit(file: str) -> LicenseClaims:
    try:
        return read_license(_text(file))
    except NotALicense as error:
        message = f"the license {error}; give the file that Coder sent."
    except (OSError, ValueError) as error:
        cause = error.strerror if isinstance(error, OSError) else "not a file name"
        message = f"cannot read {file}: {cause}."
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(Verdict.UNUSABLE)


def _text(file: str) -> str:
    raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    # What is not UTF-8 is no license either; the reader says so.
    return raw.decode("utf-8", "replace")


def _verdict(findings: list[LicenseProblem]) -> Verdict:
    if any(finding.severity == "error" for finding in findings):
        return Verdict.UNUSABLE
    return Verdict.WARNING if findings else Verdict.USABLE


def _time(moment: datetime | None) -> str | None:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def _facts(claims: LicenseClaims) -> dict[str, Fact]:
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
    claims: LicenseClaims, findings: list[LicenseProblem], verdict: Verdict
) -> dict[str, object]:
    return {
        "schema": 1,
        "result": verdict.name.lower(),
        "license": _facts(claims),
        "findings": [
            {"severity": each.severity, "reason": each.reason, "message": each.message}
            for each in findings
        ],
    }


def _print(claims: LicenseClaims, findings: list[LicenseProblem], verdict: Verdict) -> None:
    console = Console()
    rows = {"result": verdict.name.lower()}
    rows |= {name: _shown(value) for name, value in _facts(claims).items()}
    if not console.is_terminal:
        for name, value in rows.items():
            typer.echo(f"{name}: {value}")
        for each in findings:
            typer.echo(f"{each.severity}: {each.reason}: {each.message}")
        return
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in rows.items():
        table.add_row(Text(name, style="bold"), Text(value, overflow="fold"))
    console.print(table)
    for each in findings:
        colour = "red" if each.severity == "error" else "yellow"
        console.print(Text.assemble((f"{each.severity}: {each.reason}: ", colour), each.message))


def _shown(value: Fact) -> str:
    if isinstance(value, dict):
        text = ", ".join(f"{name}={number}" for name, number in value.items())
    elif isinstance(value, list):
        text = ", ".join(value)
    elif isinstance(value, bool):
        text = "yes" if value else "no"
    else:
        text = "" if value is None else str(value)
    # Claims are somebody else's text: no control sequence of theirs reaches the terminal.
    return "".join(c if c.isprintable() else "?" for c in text) or "-"
