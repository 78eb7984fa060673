"""Every call of the client agrees with Coder's own document of every tried version (V1)."""

import inspect

import pytest

from coder_stack.coderd.client import Coderd
from tests.reports import keep_for_the_summary
from tests.specification import matrix
from tests.specification.answers import Answer
from tests.specification.calls import MAKE_NO_CALL, Call, endpoint_methods
from tests.specification.comparison import differences, unreadable
from tests.specification.exceptions import CLIENT, PLACEHOLDERS, corrected, explained
from tests.specification.swagger import Document

pytestmark = pytest.mark.specification


def test_V1_no_method_of_the_client_is_left_out(calls: list[Call]) -> None:
    public = {name for name, _ in inspect.getmembers(Coderd, inspect.isfunction) if name[0] != "_"}
    assert {call.name for call in calls} == public - MAKE_NO_CALL


def test_V1_every_argument_of_every_method_is_given_once(calls: list[Call]) -> None:
    """Text arguments show where they went: into the path, the query or the body."""
    for name, method in endpoint_methods().items():
        sent = [f"{call.path} {call.query} {call.body}" for call in calls if call.name == name]
        for argument, each in inspect.signature(method).parameters.items():
            if str(each.annotation) in ("<class 'str'>", "str | None"):
                assert f"the-{argument}" in sent[0], f"{argument} of {name}"


def test_V1_the_client_agrees_with_the_document(calls: list[Call], document: Document) -> None:
    checked, known = corrected(document), {*explained(CLIENT, document.version)}
    found = {each for call in calls for each in differences(call, checked)} - known
    found |= {each for call in calls for each in unreadable(call, checked)}
    assert sorted(map(str, found)) == []


def test_V1_every_exception_is_needed(calls: list[Call], document: Document) -> None:
    """A document that is corrected by now needs its exception no more."""
    found = {each for call in calls for each in differences(call, document)}
    assert sorted({*explained(CLIENT, document.version)} - found) == []


def test_V1_every_placeholder_is_needed(calls: list[Call]) -> None:
    sent = {segment for call in calls for segment in call.path.split("/")}
    assert set(PLACEHOLDERS) <= sent - {value for call in calls for value in call.values}


def test_V1_the_matrix_of_versions_and_calls(
    calls: list[Call], answers: list[Answer], documents: dict[str, Document]
) -> None:
    table = matrix.of(calls, answers, list(documents.values()))
    keep_for_the_summary("calls of the client in each version of Coder", matrix.text(table))
    assert set(table) == {*endpoint_methods(), matrix.SIMULATION_ROW}
    bad = {row: cells for row, cells in table.items() if not {*cells} <= {"ok", "ok*"}}
    assert bad == {}
