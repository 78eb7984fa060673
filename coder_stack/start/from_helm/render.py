"""The texts of a translation: the stack's file, and the list of what became of each value. Pure."""

from collections.abc import Iterator

import yaml

from coder_stack.config_keys import CONFIG
from coder_stack.counting import counted
from coder_stack.start.from_helm.outcomes import Kind
from coder_stack.start.from_helm.translation import Translation

_SCHEMA = "# yaml-language-server: $schema=docs/configuration.schema.json"
_BESIDE = "# Config of a stack beside the Coder that Helm deploys; docs/beside-helm.md explains it."
_REPLACE = "# Config of a stack in place of a Helm release; docs/beside-helm.md has the steps."


def stack_file(translation: Translation, project: str = CONFIG) -> str:
    """Return the text of Pulumi.<stack>.yaml, with what is left to do in comments."""
    beside = translation.config["controlPlane"].get("deploy") is False
    # The schema is for the keys of the project `coder-stack`.
    lines = [_SCHEMA] if project == CONFIG else []
    lines += [
        _BESIDE if beside else _REPLACE,
        "# Pulumi encrypts secrets into this file, e.g. an owner's token:",
        "#   pulumi config set --secret token",
        "#   pulumi config set --secret licenseJwt < license.jwt",
    ]
    for title, listed in _to_do(translation):
        lines += ["#", f"# {title}:", *(f"#   - {each}" for each in listed)]
    config = {f"{project}:{key}": part for key, part in translation.config.items()}
    dumped = yaml.safe_dump(config, sort_keys=False, width=10_000)
    lines += ["config:", *(f"  {line}" if line else "" for line in dumped.splitlines())]
    return "".join(f"{line}\n" for line in lines)


def report(translation: Translation) -> str:
    """Return the list: every value with its end, what to do, and a line that counts."""
    lines: list[str] = []
    for kind in (Kind.TRANSLATED, Kind.UNNEEDED):
        found = _lines(translation, kind)
        lines += [f"{kind}:", *(f"  {each}" for each in found)] if found else []
    for title, listed in _to_do(translation):
        lines += [f"{title}:", *(f"  {each}" for each in listed)]
    lines.append(count(translation))
    return "".join(f"{line}\n" for line in lines)


def count(translation: Translation) -> str:
    """Count the outcomes of each kind."""
    numbers = {kind: len(translation.of(kind)) for kind in Kind}
    without = "without a counterpart"
    return (
        f"{counted(sum(numbers.values()), 'value')}: {numbers[Kind.TRANSLATED]} translated, "
        f"{numbers[Kind.UNNEEDED]} not needed, {numbers[Kind.UNMATCHED]} {without}"
    )


def _to_do(translation: Translation) -> Iterator[tuple[str, list[str]]]:
    if unmatched := _lines(translation, Kind.UNMATCHED):
        yield "no counterpart", unmatched
    if translation.notes:
        yield "check", list(translation.notes)


def _lines(translation: Translation, kind: Kind) -> list[str]:
    """Return a line for each outcome, with its file if there are several."""
    several = len({each.file for each in translation.outcomes}) > 1
    found = translation.of(kind)
    return [f"{each.file}: {each.line}" if several else each.line for each in found]
