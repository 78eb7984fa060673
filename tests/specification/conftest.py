"""Coder's documents, and what is held to them: the client's calls and the simulation's answers."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from coder_stack.coderd.versions import TRIED
from sandbox.errors import SandboxError
from sandbox.toolchain import api_documents
from tests.specification.answers import Answer, every_answer
from tests.specification.calls import Call, every_call
from tests.specification.swagger import Document


@pytest.fixture(scope="session")
def documents() -> dict[str, Document]:
    """By version; downloaded if `coder-stack doctor --install-all` has not done so."""
    files = _files()
    if isinstance(files, SandboxError):
        pytest.fail(str(files), pytrace=False)
    return {version: Document(version, json.loads(files[version].read_text())) for version in files}


def _files() -> Mapping[str, Path] | SandboxError:
    try:
        return api_documents()
    except SandboxError as error:
        return error


@pytest.fixture(params=TRIED)
def document(request: pytest.FixtureRequest, documents: dict[str, Document]) -> Document:
    """Each version in turn."""
    return documents[request.param]


@pytest.fixture(scope="session")
def calls() -> list[Call]:
    return every_call()


@pytest.fixture(scope="session")
def answers() -> list[Answer]:
    return every_answer()
