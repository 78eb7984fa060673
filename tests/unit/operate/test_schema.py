"""The JSON report keeps its promise: the committed schema is that of the model, field by field."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from coder_stack.operate.drift import report_of
from coder_stack.operate.report.model import Report, schema_text
from coder_stack.settings import DriftSettings
from sandbox.home import CHECKOUT
from tests.unit.operate.reports import NOW, clean, drifted
from tests.unit.operate.told import recorded

SCHEMA = CHECKOUT / "docs" / "drift-report.schema.json"
PROMISED = {"schema", "stack", "checked_at", "result", "resources", "conditions"}


def written(report: Report) -> dict[str, Any]:
    return json.loads(report.model_dump_json(by_alias=True))


def test_the_committed_schema_is_current() -> None:
    assert SCHEMA.read_text() == schema_text(), "write it anew: make docs"


@pytest.mark.parametrize(
    "report",
    [clean(), drifted(), report_of("dev", recorded("license-lost"), DriftSettings(), NOW)],
    ids=["clean", "everything", "recorded"],
)
def test_a_written_report_has_every_field_of_the_schema_and_reads_back(report: Report) -> None:
    document = written(report)
    schema = json.loads(SCHEMA.read_text())["$defs"]
    assert set(document) == set(schema["Report"]["properties"]) >= PROMISED
    for resource in document["resources"]:
        assert set(resource) == set(schema["ResourceReport"]["properties"])
        for difference in resource["properties"]:
            assert set(difference) == {"path", "recorded", "actual", "secret"}
    assert Report.model_validate(document) == report


def test_nothing_but_what_the_schema_names_is_a_report() -> None:
    with pytest.raises(ValidationError):
        Report.model_validate({**written(clean()), "more": 1})
