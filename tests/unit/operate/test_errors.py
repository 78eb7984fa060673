"""The message of a failed command is one sentence with the next step, never a traceback (D2)."""

import pytest

from coder_stack.operate.engine.errors import LockedError, UnknownStackError, operation_error

LOCKED = """error: the stack is currently locked by 1 lock(s). Either wait for the other process(es)
  s3://bucket/.pulumi/locks/x.json: created by ann@laptop (pid 42) at 2026"""


@pytest.mark.parametrize(
    ("output", "diagnostics", "sentence"),
    [
        (
            "error: getting stack configuration: get stack secrets manager: incorrect passphrase",
            [],
            "The passphrase does not match the stack.",
        ),
        ("error: no stack named 'dev' found", [], "There is no stack `dev` in this backend."),
        (
            "",
            ["Failed: Conflict: key eu.", "Failed: Conflict: key us.", "Failed: Conflict: key eu."],
            "Conflict: key eu. Conflict: key us.",
        ),
        (
            "",
            [
                "2 mistakes in the stack's config:\n  - a\n",
                "an unhandled error occurred: Program exited with non-zero exit code: 1",
            ],
            "2 mistakes in the stack's config: a.",
        ),
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
    assert "held by ann@laptop (pid 42) since 2026." in str(error)
    assert error.next_step("dev").command == "pulumi cancel --stack dev"


@pytest.mark.parametrize(
    ("output", "diagnostics", "command"),
    [
        ("error: incorrect passphrase", [], "export PULUMI_CONFIG_PASSPHRASE_FILE=FILE"),
        ("error: no stack named 'dev' found", [], "pulumi stack ls"),
        ("error: PULUMI_ACCESS_TOKEN must be set", [], "pulumi login"),
        ("error: unable to open bucket file:///s: stat /s", [], "pulumi whoami --verbose"),
        (
            "",
            ["2 mistakes in the stack's config:\n  - a: is wrong\n"],
            "coder-stack config check Pulumi.dev.yaml",
        ),
        (
            "",
            ["Unavailable: license, read: Cannot list licenses: down."],
            "kubectl get pods --all-namespaces --selector app.kubernetes.io/part-of=coder",
        ),
        ("", ["Forbidden: operator access, read: no."], "pulumi up --stack dev"),
        ("", ["Something new"], "coder-stack drift --stack dev"),
    ],
)
def test_R2_every_error_has_a_next_step_with_a_command(
    output: str, diagnostics: list[str], command: str
) -> None:
    step = operation_error(output, diagnostics).next_step("dev")
    assert step.command == command
    assert step.text.endswith(".")


def test_F6_every_mistake_in_the_config_is_in_the_message_however_long_it_gets() -> None:
    mistakes = [f"provisioners[{number}].name: {'x' * 90}" for number in range(20)]
    lines = "".join(f"\n  - {mistake}" for mistake in mistakes)
    message = str(operation_error("", [f"20 mistakes in the stack's config:{lines}\n"]))
    assert all(mistake in message for mistake in mistakes)


def test_F6_many_errors_are_counted_after_the_first_ten() -> None:
    message = str(operation_error("", [f"Unavailable: key {number}: down" for number in range(12)]))
    assert "Unavailable: key 9: down. And 2 more errors; see `pulumi preview`." in message
    assert "key 10" not in message


def test_F6_an_unknown_stack_lists_those_that_exist_the_likely_one_first() -> None:
    assert str(UnknownStackError("prodution", ["dev", "production", "staging"])) == (
        "There is no stack `prodution` in this backend. Did you mean `production`? "
        "Stacks of this project: `production`, `dev`, `staging`."
    )
