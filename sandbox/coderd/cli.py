"""`coder-stack sandbox coderd` and `coder-stack sandbox license`.

The server's modules are imported only by these commands, so that others start faster.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from sandbox.errors import SandboxError

EDITIONS = ("enterprise", "agpl")


def register(app: typer.Typer) -> None:
    """Add both commands to a group."""
    app.command("coderd")(coderd)
    app.command("license")(license_)


def coderd(
    port: Annotated[int, typer.Option(help="Port to listen on; 0 selects a free one.")],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    edition: Annotated[str, typer.Option(help="enterprise or agpl.")] = "enterprise",
    unlicensed: Annotated[
        bool, typer.Option("--unlicensed", help="Start without a license.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start without a first user.")] = False,
    faults: Annotated[Path | None, typer.Option(help="JSON file with faults to inject.")] = None,
    state: Annotated[Path | None, typer.Option(help="JSON file to keep the state in.")] = None,
    version: Annotated[str, typer.Option(help="Version to report, and to answer as.")] = "",
    api_rate_limit: Annotated[int, typer.Option(help="Per minute; negative: no limit.")] = 512,
) -> None:
    """Run the simulated coderd. The first line on stdout is {"url": …, "token": …}."""
    from sandbox.coderd import server  # noqa: PLC0415
    from sandbox.coderd.rules.state import ServerFlags  # noqa: PLC0415

    if edition not in EDITIONS:
        raise typer.BadParameter(f"must be one of {', '.join(EDITIONS)}", param_hint="--edition")
    flags = ServerFlags(enterprise=edition == "enterprise", api_rate_limit=api_rate_limit)
    flags.version = version or flags.version
    options = server.Options(
        host=host,
        port=port,
        flags=flags,
        licensed=not unlicensed,
        fresh=fresh,
        faults=faults,
        state=state,
    )
    try:
        server.run(options)
    except SandboxError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from error


def license_(
    days: Annotated[
        float, typer.Option(help="Days until it expires; negative: it has expired.")
    ] = 365,
    grace: Annotated[float, typer.Option(help="Days of the grace period.")] = 30,
    features: Annotated[str, typer.Option(help="Features: name or name=limit, with commas.")] = "",
    feature_set: Annotated[
        str, typer.Option("--set", help="premium, enterprise or none.")
    ] = "premium",
    jti: Annotated[str, typer.Option(help="UUID of the license.")] = "",
    deployment_id: Annotated[
        list[str] | None, typer.Option(help="Bind it to this deployment id (repeatable).")
    ] = None,
    trial: Annotated[bool, typer.Option("--trial", help="Make a trial license.")] = False,
    nbf_days: Annotated[float, typer.Option(help="Days until it starts.")] = 0,
    require_telemetry: Annotated[bool, typer.Option("--require-telemetry")] = False,
) -> None:
    """Print a license signed with the public test key. Only the simulated coderd accepts it."""
    from sandbox.coderd.rules.license_key import LicenseTerms, issue  # noqa: PLC0415

    terms = LicenseTerms(
        days=days,
        grace_days=grace,
        nbf_days=nbf_days,
        feature_set="" if feature_set == "none" else feature_set,
        features=_features(features),
        jti=jti,
        deployment_ids=tuple(deployment_id or ()),
        trial=trial,
        require_telemetry=require_telemetry,
    )
    typer.echo(issue(terms, datetime.now(UTC)))


def _features(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, separator, value = item.partition("=")
        if separator and not value.isdigit():
            raise typer.BadParameter(f"{item}: the limit must be a number", param_hint="--features")
        found[name] = int(value) if separator else 1
    return found
