"""`coder-stack init`: ask for what a first stack needs, write its config, create it, check it.

On a terminal it asks for what no option gives; elsewhere it names the missing options. start/ does
the work.
"""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer
from pydantic import SecretStr

from coder_stack.cli.questions import DATABASE_OPTIONS, Questions, fail
from coder_stack.coderd.license import NotALicense, read_license
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.pulumi import Project
from coder_stack.settings import AccessSettings, ConfigError
from coder_stack.start import password as passwords
from coder_stack.start.first_stack import StackFile
from coder_stack.start.template import BUILT_IN, CLOUD_NATIVE_PG, SECRET, FirstStack

_EMAIL = AccessSettings().email


def register(root: typer.Typer) -> None:
    """Add the command to `coder-stack`."""
    root.command()(init)


def init(
    stack: Annotated[str | None, typer.Option("--stack", "-s", help="Name of the stack.")] = None,
    context: Annotated[str | None, typer.Option(help="Context in the kubeconfig.")] = None,
    kubeconfig: Annotated[
        str | None,
        typer.Option(help="Kubeconfig, relative to the project. Default: as for kubectl."),
    ] = None,
    namespace: Annotated[str, typer.Option(help="Namespace of coderd.")] = "coder",
    access_url: Annotated[
        str | None, typer.Option(help="URL that people open. Default: none, for a trial.")
    ] = None,
    ingress_class: Annotated[
        str | None, typer.Option(help="Class of an Ingress. Default: no Ingress.")
    ] = None,
    tls_secret: Annotated[
        str | None, typer.Option(help="Secret with the Ingress's certificate.")
    ] = None,
    database_secret: Annotated[
        str | None, typer.Option(help="Secret with PostgreSQL's URL under `url`.")
    ] = None,
    cloud_native_pg: Annotated[
        bool,
        typer.Option("--cloud-native-pg", help="PostgreSQL by the operator CloudNativePG."),
    ] = False,
    built_in_database: Annotated[
        bool, typer.Option("--built-in-database", help="coderd's own database, for a trial.")
    ] = False,
    license_file: Annotated[
        Path | None, typer.Option("--license", metavar="FILE", help="File with the license.")
    ] = None,
    license_secret: Annotated[
        str | None, typer.Option(help="Secret with the license under `license`.")
    ] = None,
    username: Annotated[str, typer.Option(help="Name of coderd's first user.")] = "admin",
    email: Annotated[str | None, typer.Option(help="E-mail address of the first user.")] = None,
    generate_password: Annotated[
        bool, typer.Option("--generate-password", help="Do not ask for the first user's password.")
    ] = False,
    secrets_provider: Annotated[
        str | None, typer.Option(help="Pulumi's secrets provider. Default: the backend's.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write the file anew; its secrets stay.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
    cwd: Annotated[Path, typer.Option("--cwd", help="Folder of the Pulumi project.")] = Path(),
) -> None:
    """Create a stack: write Pulumi.<stack>.yaml, set its secrets, check config and cluster."""
    ask = Questions(interactive=not yes and sys.stdin.isatty())
    try:
        license_text = None if license_file is None else _license(license_file)
        chosen = {
            SECRET: database_secret is not None,
            CLOUD_NATIVE_PG: cloud_native_pg,
            BUILT_IN: built_in_database,
        }
        _check_options(chosen, access_url, ingress_class, tls_secret, license_file, license_secret)
        project = _project(cwd)
        name = ask.text("--stack", "Name of the stack", stack, default="dev")
        ask.stop_if_missing()
        file = StackFile(project, name)
        first, written = None, file.has_settings
        if force or not written:
            chosen_context = ask.context(context, kubeconfig, project.folder)
            url = ask.optional("URL that people open (empty: none yet)", access_url)
            if url and ingress_class is None:
                ingress_class = ask.optional("Class of its Ingress (empty: no Ingress)", None)
            if license_text is None and license_secret is None:
                path = ask.optional("File with the license (empty: none)", None)
                license_text = _license(Path(path)) if path else None
            first = FirstStack(
                project=project.name,
                stack=file.short_name,
                kubeconfig=kubeconfig,
                context=chosen_context,
                namespace=namespace,
                access_url=url,
                ingress_class=ingress_class,
                tls_secret=tls_secret,
                license_secret=license_secret,
                username=username,
                email=ask.optional("E-mail address of the first user", email, _EMAIL) or _EMAIL,
                **ask.database(chosen, database_secret),
            )
            ask.stop_if_missing()
            file.check_text(first)
        new = file.create_stack(secrets_provider)
        _say(f"{'created' if new else 'selected'} stack {name} in {project.backend}")
        _write(file, first)
        _set_secrets(file, license_text, ask, generate=generate_password)
        _check(file)
    except (OperationError, ConfigError) as error:
        fail(error.told() if isinstance(error, OperationError) else str(error))
    folder = "" if project.folder == Path.cwd() else f" --cwd {shlex.quote(str(cwd))}"
    typer.echo(f"\nNext:\n  pulumi up --stack {name}{folder}")
    typer.echo(f"  coder-stack admin --stack {name}{folder}")


def _project(cwd: Path) -> Project:
    project = Project.at(cwd.absolute())
    if not project.name:
        raise OperationError(f"There is no Pulumi.yaml in {cwd.absolute()}; give --cwd.")
    if not project.backend:  # also fails here without a login
        raise OperationError("Pulumi is not logged in to a backend; see `pulumi login`.")
    return project


def _check_options(
    chosen: dict[str, bool],
    access_url: str | None,
    ingress_class: str | None,
    tls_secret: str | None,
    license_file: Path | None,
    license_secret: str | None,
) -> None:
    databases_given = [DATABASE_OPTIONS[kind] for kind, wanted in chosen.items() if wanted]
    if len(databases_given) > 1:
        fail(f"give only one of {', '.join(databases_given)}.")
    if ingress_class and not access_url:
        fail("--ingress-class needs --access-url, which names the host.")
    if tls_secret and not ingress_class:
        fail("--tls-secret needs --ingress-class.")
    if license_file and license_secret:
        fail("give only one of --license, --license-secret.")


def _license(file: Path) -> SecretStr:
    try:
        text = file.read_text().strip()
        read_license(text)
    except OSError as error:
        fail(f"cannot read {file}: {error.strerror}.")
    except (NotALicense, ValueError) as error:
        why = str(error) if isinstance(error, NotALicense) else "is not text"
        fail(f"{file}: the license {why}; give the file that Coder sent.")
    return SecretStr(text)


def _write(file: StackFile, first: FirstStack | None) -> None:
    if first is None:
        _say(f"{file.path.name} is kept as it is; --force writes it anew")
        return
    file.write(first)
    _say(f"wrote {file.path.name}")


def _set_secrets(
    file: StackFile, license_text: SecretStr | None, ask: Questions, *, generate: bool
) -> None:
    if file.needs_password():
        given = ask.password(generate=generate)
        file.set_password(given or passwords.generate())
        how = "set" if given else "generated"
        show = f"coder-stack admin password --stack {file.stack}"
        _say(f"{how} the first user's password; `{show}` shows it")
    if license_text is not None and file.set_license(license_text):
        _say("set the license")


def _check(file: StackFile) -> None:
    try:
        for hint in file.check():
            typer.echo(f"warning: {file.path.name}: {hint}", err=True)
    except ConfigError as error:
        problems = "".join(f"\n  - {each}" for each in error.problems)
        fail(f"the stack is not ready to deploy; correct this and run it again:{problems}")
    _say("the config is valid, and the cluster answers")


def _say(line: str) -> None:
    typer.echo(f"==> {line}")
