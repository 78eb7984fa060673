"""The answers of the simulated coderd agree with Coder's own documents (V1).

The contract suite compares it with real servers as far as those work without a license; this tier
compares everything that it answers, in every tried version.
"""

import pytest

from sandbox.coderd import routes_table
from tests.specification.answers import Answer
from tests.specification.calls import Call
from tests.specification.comparison import problems_of_answer
from tests.specification.exceptions import SIMULATION, corrected, explained
from tests.specification.swagger import Document

pytestmark = pytest.mark.specification
WITHOUT_ANSWER = {
    "/api/v2",  # a greeting
    "/api/v2/",
    "/api/v2/organizations/{organization}/provisionerdaemons/serve",  # websockets
    "/api/v2/workspaceproxies/me/coordinate",
}


def test_V1_every_route_of_the_simulation_has_answered(answers: list[Answer]) -> None:
    """A route that is added to the simulation needs a request in answers.py."""
    answered = {(answer.method, answer.path) for answer in answers}
    missing = [
        f"{each.method} {each.pattern}"
        for each in routes_table.build(enterprise=True).endpoints
        if each.pattern not in WITHOUT_ANSWER
        and not any(m == each.method and each.expression.fullmatch(p) for m, p in answered)
    ]
    assert missing == []


def test_V1_every_call_of_the_client_has_an_answer(
    calls: list[Call], answers: list[Answer], documents: dict[str, Document]
) -> None:
    newest = list(documents.values())[-1]
    asked = [newest.operation(call.method, call.path) for call in calls]
    given = [newest.operation(answer.method, answer.path) for answer in answers]
    assert {each.name for each in asked if each} <= {each.name for each in given if each}


def test_V1_the_simulation_agrees_with_the_document(
    answers: list[Answer], document: Document
) -> None:
    checked = corrected(document)
    found = {each for answer in answers for each in problems_of_answer(answer, checked)}
    assert sorted(map(str, found - {*explained(SIMULATION, document.version)})) == []


def test_V1_every_exception_of_the_simulation_is_needed(
    answers: list[Answer], document: Document
) -> None:
    checked = corrected(document)
    found = {each for answer in answers for each in problems_of_answer(answer, checked)}
    assert sorted({*explained(SIMULATION, document.version)} - found) == []
