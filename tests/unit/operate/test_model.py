"""The JSON report matches the committed schema field by field."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from coder_stack.operate.drift import build_report
from coder_stack.operate.report.model import Report, schema_text
from coder_stack.settings import DriftSettings
from sandbox.paths import CHECKOUT
from tests.unit.operate.engine_events import recorded
from tests.unit.operate.reports import NOW, clean, drifted

SCHEMA = CHECKOUT / "docs" / "drift-report.schema.json"
DOCUMENTED = {"schema", "stack", "checked_at", "result", "resources", "conditions"}


def as_json(report: Report) -> dict[str, Any]:
    return json.loads(report.model_dump_json(by_alias=True))


def test_the_committed_schema_is_current() -> None:
    assert SCHEMA.read_text() == schema_text(), "run: make docs"


@pytest.mark.parametrize(
    "report",
    [clean(), drifted(), build_report("dev", recorded("license-lost"), DriftSettings(), NOW)],
    ids=["clean", "everything", "recorded"],
)
def test_a_written_report_has_every_field_of_the_schema_and_reads_back(report: Report) -> None:
    document = as_json(report)
    schema = json.loads(SCHEMA.read_text())["$defs"]
    assert set(document) == set(schema["Report"]["properties"]) >= DOCUMENTED
    for resource in document["resources"]:
        assert set(resource) == set(schema["ResourceReport"]["properties"])
        for difference in resource["properties"]:
            assert set(difference) == {"path", "wanted", "recorded", "actual", "secret"}
    assert Report.model_validate(document) == report


def test_a_report_with_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError):
        Report.model_validate({**as_json(clean()), "more": 1})
