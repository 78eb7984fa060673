"""The matrix of versions and calls, for the summary of a test run."""

from collections.abc import Sequence

from coder_stack.coderd.versions import TRIED
from tests.specification.answers import Answer
from tests.specification.calls import Call
from tests.specification.comparison import differences, problems_of_answer, unreadable
from tests.specification.exceptions import (
    ALWAYS,
    CLIENT,
    SIMULATION,
    Problem,
    corrected,
    explained,
)
from tests.specification.swagger import Document

SIMULATION_ROW = "(simulated coderd)"
Table = dict[str, list[str]]


def of(calls: Sequence[Call], answers: Sequence[Answer], documents: Sequence[Document]) -> Table:
    """Return a row of results for each method, and one for the simulation."""
    names = list(dict.fromkeys(call.name for call in calls))
    table: Table = {name: [] for name in (*names, SIMULATION_ROW)}
    for document in documents:
        checked, known = corrected(document), {*explained(CLIENT, document.version)}
        for name in names:
            mine = [call for call in calls if call.name == name]
            raw = {each for call in mine for each in differences(call, document)}
            left = {each for call in mine for each in differences(call, checked)} - known
            left |= {each for call in mine for each in unreadable(call, checked)}
            table[name].append(_cell(left, {each for each in raw if each.what != ALWAYS}))
        known = {*explained(SIMULATION, document.version)}
        found = {each for answer in answers for each in problems_of_answer(answer, checked)}
        table[SIMULATION_ROW].append(_cell(found - known, found & known))
    return table


def text(table: Table) -> str:
    """Format the matrix as columns."""
    width = max(map(len, table))
    lines = ["  ".join(["call".ljust(width), *TRIED])]
    for name, cells in table.items():
        padded = (cell.ljust(len(version)) for cell, version in zip(cells, TRIED, strict=True))
        lines.append("  ".join([name.ljust(width), *padded]).rstrip())
    lines.append("* where the document is silent or wrong: tests/specification/exceptions.py")
    return "\n".join(lines)


def _cell(problems: set[Problem], exceptions: set[Problem]) -> str:
    if problems:
        return f"{len(problems)} bad"
    return "ok*" if exceptions else "ok"
