"""Every command of ours that a page names exists, with the options that it gives."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from coder_stack.cli import command
from sandbox.paths import CHECKOUT
from tests.unit.snippets import pages, snippets_in

TARGETS = set(re.findall(r"^([a-z]+):", (CHECKOUT / "Makefile").read_text(), re.MULTILINE))
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
COMMAND = re.compile(r"(?:^|[\s\"(/])coder-stack((?:[ \t]+[^\s;&)#]+)+)")
MAKE = re.compile(r"(?:^|[\s(])make ([a-z]+)\b")


def tree() -> dict[str, set[str]]:
    """Every command as its words, with its options; a group as one without."""
    waiting = [("", get_command(command()))]
    found: dict[str, set[str]] = {}
    while waiting:
        words, node = waiting.pop()
        options = {name for each in node.params for name in each.opts}
        found[words] = found.get(words, set()) | options
        for name, below in getattr(node, "commands", {}).items():
            waiting.append((f"{words} {name}".strip(), below))
    return found


COMMANDS = tree()
GROUPS = {words.rpartition(" ")[0] for words in COMMANDS}


def code(page: Path) -> Iterator[str]:
    """Lines of code on a page: of its blocks, and of spans within its text."""
    text = page.read_text()
    for block in snippets_in(text, page.name):
        yield from block.text.splitlines()
        text = text.replace(block.text, "")
    yield from (span.replace("\n", " ") for span in SPAN.findall(text))


def unknown(line: str) -> Iterator[str]:
    """What a line says that the command line does not know."""
    for match in COMMAND.finditer(line):
        words = match[1].split(" -- ")[0].split()
        paths, rest = {""}, list(words)
        while rest:
            longer = {f"{path} {each}".strip() for path in paths for each in rest[0].split("|")}
            if not longer <= COMMANDS.keys():
                break
            paths, rest = longer, rest[1:]
        if paths & GROUPS and rest and rest[0] != "…" and not rest[0].startswith("-"):
            yield " ".join(["coder-stack", *words[: len(words) - len(rest) + 1]])
            continue
        options = {word.strip("[]").partition("=")[0] for word in rest}
        for option in sorted(each for each in options if re.match(r"--[a-z]", each)):
            if not all(option in COMMANDS[path] | {"--help"} for path in paths):
                yield f"coder-stack {' '.join(sorted(paths))} {option}"
    yield from (f"make {target}" for target in MAKE.findall(line) if target not in TARGETS)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_F5_commands_and_options_on_a_page_exist(page: Path) -> None:
    assert [each for line in code(page) for each in unknown(line)] == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("coder-stack drift --stack S --json -", []),
        (".venv/bin/coder-stack sandbox exec -- coder-stack drift --stack S", []),
        ('eval "$(coder-stack sandbox env)"', []),
        ("coder-stack sandbox up [--port N]", []),
        ("coder-stack config check|schema", []),
        ("make up  # starts", []),
        ("docker build -t registry.example.com/coder-stack:1 .", []),
        ("coder-stack drfit --stack S", ["coder-stack drfit"]),
        ("coder-stack config chekc x.yaml", ["coder-stack config chekc"]),
        ("coder-stack drift --stak S", ["coder-stack drift --stak"]),
        ("make upp", ["make upp"]),
    ],
)
def test_F5_a_command_that_does_not_exist_is_noticed(line: str, expected: list[str]) -> None:
    assert list(unknown(line)) == expected
