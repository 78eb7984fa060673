"""Several stacks in one run: side by side, one report, one exit code (D2); and `status` on them."""

import json
from pathlib import Path
from typing import Any

import pytest

from coder_stack.operate.report.model import Report
from sandbox.engine import Engine
from tests.engine.drifting import coder_stack, lock
from tests.engine_project import Project

pytestmark = pytest.mark.engine
PROGRAM = """
import pulumi
pulumi.ComponentResource("coder-stack:index:Part", "part")
pulumi.export("conditions", [{
    "component": "stack", "type": "Ready", "status": "True", "reason": "AllReady", "message": "",
}])
"""


def command(project: Project, *words: str) -> tuple[int, Any, str]:
    """Exit code, JSON, and what went to stderr."""
    done = coder_stack(project, *words, "--json", "-")
    return done.returncode, json.loads(done.stdout), done.stderr


def test_D2_S1_several_stacks_give_one_report_and_the_worst_exit_code(
    engine: Engine, tmp_path: Path
) -> None:
    project = Project.create(engine, None, tmp_path, PROGRAM)
    first = project.stack.name
    project.up()
    project.stack.workspace.create_stack("second")
    both = ("--stack", first, "--stack", "second")

    code, reports, progress = command(project, "drift", *both)
    assert (code, [each["result"] for each in reports]) == (2, ["clean", "drift"])
    assert [each["stack"] for each in reports] == [first, "second"]
    assert (
        reports[1]["resources"][0]["cause"] == "Part `part` is declared, but was not created yet."
    )
    assert progress.count("started") == 2

    code, reports, _ = command(project, "drift", *both, "--stack", "nobody")
    existing = ", ".join(f"`{name}`" for name in sorted([first, "second"]))
    unknown = f"There is no stack `nobody` in this backend. Stacks of this project: {existing}."
    assert (code, reports[2]["error"]) == (1, unknown)

    code, reports, _ = command(project, "status", "--all")
    assert (code, sorted(each["result"] for each in reports)) == (1, ["error", "recorded"])
    assert [Report.model_validate(each).stack for each in reports] == sorted([first, "second"])


def test_D3_where_locks_are_no_files_the_backend_is_asked_who_holds_the_stack(
    engine: Engine, tmp_path: Path
) -> None:
    """From a folder inside the project, nothing is known of the backend's layout."""
    project = Project.create(engine, None, tmp_path, PROGRAM)
    project.up()
    (project.folder / "inside").mkdir()
    inside = ("--stack", project.stack.name, "--cwd", "inside")
    assert command(project, "drift", *inside)[0] == 0
    held = lock(project)
    code, report, _ = command(project, "drift", *inside)
    held.unlink()
    assert code == 1
    assert "held by ann@laptop (pid 4242) since 2026-01-01T00:00:00Z" in report["error"]
