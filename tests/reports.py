"""What a test has measured or tried, to be read after the run beside its result.

Tests run in workers whose output nobody sees. They leave texts in the folder that the whole run
shares; the summary of the run prints them (tests/conftest.py).
"""

import os
from pathlib import Path

RUN_FOLDER = "CODER_STACK_TEST_RUN"


def keep_for_the_summary(title: str, text: str) -> None:
    """Print it under that title when all tests are done."""
    folder = _folder()
    folder.mkdir(exist_ok=True)
    (folder / title).write_text(text)


def kept() -> dict[str, str]:
    """All of it, by title."""
    return {path.name: path.read_text() for path in sorted(_folder().glob("*"))}


def _folder() -> Path:
    return Path(os.environ[RUN_FOLDER]) / "reports"
