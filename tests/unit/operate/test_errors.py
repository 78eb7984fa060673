"""The message of a failed command is one sentence with the next step, never a traceback (D2)."""

import pytest

from coder_stack.operate.engine.errors import LockedError, operation_error

SET_VARIABLE = "set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE"
LOCKED = """error: the stack is currently locked by 1 lock(s). Either wait for the other process(es)
  s3://bucket/.pulumi/locks/x.json: created by ann@laptop (pid 42) at 2026"""


@pytest.mark.parametrize(
    ("output", "diagnostics", "sentence"),
    [
        (
            "error: getting stack configuration: get stack secrets manager: incorrect passphrase",
            [],
            f"The passphrase does not match the stack; {SET_VARIABLE}.",
        ),
        ("error: no stack named 'dev' found", [], "There is no stack `dev` in this backend."),
        (
            "",
            [
                "Preview failed: Failed: Unavailable: license, read: Cannot list licenses: down.\n",
                "preview failed",
            ],
            "Unavailable: license, read: Cannot list licenses: down.",
        ),
        (
            "",
            [
                "2 mistakes in the stack's config:\n  - a: is wrong\n  - b: too\n",
            ],
            "2 mistakes in the stack's config: a: is wrong; b: too.",
        ),
        (
            "",
            [
                "Program failed:\nTraceback (most):\n  File\nKeyError: 'x'",
            ],
            "The program ended with an exception: KeyError: 'x'.",
        ),
        ("code: 1\n stderr: error: something new", [], "something new."),
        ("", [], "Pulumi failed and did not say why."),
    ],
)
def test_a_failure_is_one_sentence(output: str, diagnostics: list[str], sentence: str) -> None:
    assert str(operation_error(output, diagnostics)) == sentence


def test_D3_a_lock_names_its_holder() -> None:
    error = operation_error(LOCKED)
    assert isinstance(error, LockedError)
    assert "held by ann@laptop (pid 42) since 2026;" in str(error)
