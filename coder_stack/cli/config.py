"""`coder-stack config …`: print the reference or the schema, check a file, translate Helm values.

All of it works offline.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from coder_stack.cli.questions import fail
from coder_stack.config_keys import CONFIG
from coder_stack.settings import ConfigError, hints, load
from coder_stack.settings.reference import reference_page
from coder_stack.settings.schema import stack_file_schema
from coder_stack.settings.stack_file import NotAStackFileError, project_beside, read_stack_file
from coder_stack.start import from_helm as helm
from coder_stack.start.template import kept

app = typer.Typer(
    help="Check a stack's config, print its reference or schema, or write it from Helm values."
)


def register(root: typer.Typer) -> None:
    """Add the commands to `coder-stack`."""
    root.add_typer(app, name="config")


@app.command()
def reference() -> None:
    """Print the reference page (docs/configuration.md)."""
    typer.echo(reference_page(), nl=False)


@app.command()
def schema() -> None:
    """Print the JSON schema of Pulumi.<stack>.yaml (docs/configuration.schema.json)."""
    typer.echo(json.dumps(stack_file_schema(), indent=2))


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="The config file, Pulumi.<stack>.yaml.")],
    project: Annotated[
        str, typer.Option(help="Name of the Pulumi project. Default: of the Pulumi.yaml beside it.")
    ] = "",
) -> None:
    """Print every mistake, or the settings with all defaults. Exit 0: valid, 1: mistakes."""
    project = project or project_beside(file) or CONFIG
    try:
        stack_file = read_stack_file(file, project)
        for warning in stack_file.warnings:
            typer.echo(f"warning: {file}: {warning}", err=True)
        settings = load(
            stack_file.texts, project, stack_file.secret_keys, found=stack_file.misplaced
        )
    except (NotAStackFileError, ConfigError) as error:
        typer.echo(f"error: {file}: {error}", err=True)
        raise typer.Exit(1) from None
    for hint in hints(settings):
        typer.echo(f"warning: {file}: {hint}", err=True)
    shown: dict[str, Any] = settings.model_dump(mode="json", by_alias=True, exclude_none=True)
    typer.echo(yaml.safe_dump(shown, sort_keys=False), nl=False)


@app.command(name="from-helm")
def from_helm(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="VALUES...",
            help="Values of the charts coder and coder-provisioner; `-` is stdin.",
            show_default=False,
        ),
    ],
    replace: Annotated[
        bool,
        typer.Option(
            "--replace/--beside",
            help="Deploy the control plane in place of Helm, or stand beside the one of Helm.",
        ),
    ] = False,
    name: Annotated[str, typer.Option(help="Name of coderd's Service.")] = "coder",
    namespace: Annotated[str, typer.Option(help="Namespace of the release.")] = "coder",
    provisioner_name: Annotated[
        str, typer.Option(help="Name of the provisioner, if no nameOverride gives one.")
    ] = "coder-provisioner",
    provisioner_namespace: Annotated[
        str | None, typer.Option(help="Namespace of provisioners. Default: that of the release.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write. Default: stdout.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write a file with settings anew; its secrets stay.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 2 if a value has no counterpart.")
    ] = False,
    project: Annotated[
        str, typer.Option(help="Name of the Pulumi project. Default: of the Pulumi.yaml there.")
    ] = "",
) -> None:
    """Write a stack's config from values of Coder's Helm charts.

    Every value is listed on stderr: translated to which field, not needed
    and why, or without a counterpart and what to do. Secrets in plain text
    are listed, but neither written nor shown.

    Files of the chart coder are merged as Helm does; each file of
    coder-provisioner is one provisioner. Exit 0: written, 1: not written,
    2: with --strict, written, but a value has no counterpart.

    Example:
      helm get values coder -n coder -o yaml > coder.yaml

      helm get values coder-provisioner -n coder -o yaml > builders.yaml

      coder-stack config from-helm coder.yaml builders.yaml --out FILE
    """
    target = helm.Target(
        replace=replace,
        name=name,
        namespace=namespace,
        provisioner_name=provisioner_name,
        provisioner_namespace=provisioner_namespace,
    )
    project = project or project_beside(out or Path("Pulumi.yaml")) or CONFIG
    try:
        translation = helm.translate([helm.read_values(file) for file in files], target)
    except (helm.NotValuesError, helm.RefusedError) as error:
        fail(f"{error}.")
    text = helm.stack_file(translation, project)
    if out is None:
        typer.echo(text, nl=False)
    else:
        _write(out, text, project, force=force)
    typer.echo(helm.report(translation), err=True, nl=False)
    if strict and translation.of(helm.Kind.UNMATCHED):
        raise typer.Exit(2)


def _write(file: Path, text: str, project: str, *, force: bool) -> None:
    """Write the file; what `pulumi stack init` and secrets have put into it stays."""
    try:
        if file.exists():
            if read_stack_file(file, project).texts and not force:
                fail(f"{file} has settings; give another --out, or --force to write it anew.")
            text = kept(text, file.read_text(), project)
        file.write_text(text)
    except NotAStackFileError as error:
        fail(f"{file} {error}.")
    except OSError as error:
        fail(f"cannot write {file}: {error.strerror}.")
