"""The Prometheus text file, read by the parser of Prometheus's client library (D3)."""

from hypothesis import given
from prometheus_client.parser import text_string_to_metric_families

from coder_stack.operate.report import metrics
from coder_stack.operate.report.model import Report
from tests.unit.operate.reports import (
    NOW,
    SECRET,
    any_report,
    clean,
    drifted,
    holds,
    recorded_only,
    resource,
)

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]
DAY = 86_400


def read(text: str) -> Series:
    found: Series = {}
    for family in text_string_to_metric_families(text):
        assert family.type == "gauge"
        assert family.documentation
        for sample in family.samples:
            series = (sample.name, frozenset(sample.labels.items()))
            assert series not in found, "a series may occur only once"
            found[series] = sample.value
    return found


def value(series: Series, name: str, **labels: str) -> float:
    return series[name, frozenset(labels.items())]


def test_D3_drift_is_counted_by_kind_without_what_is_ignored() -> None:
    series = read(metrics.render([drifted()]))
    stack = {"stack": "production"}
    for kind in ("changed", "missing", "replaced", "unexpected", "unknown"):
        assert value(series, "coder_stack_drift_resources", kind=kind, **stack) == 1
    assert value(series, "coder_stack_drift_ignored_resources", **stack) == 1
    assert value(series, "coder_stack_drift_expired_rules", **stack) == 1
    assert value(series, "coder_stack_drift_result", result="drift", **stack) == 1
    assert value(series, "coder_stack_drift_result", result="clean", **stack) == 0


def test_D3_license_keys_and_conditions_have_metrics() -> None:
    series = read(metrics.render([drifted()]))
    stack = {"stack": "production"}
    left = "coder_stack_license_seconds_left"
    assert value(series, left, date="license_expires", **stack) == 24 * DAY
    assert value(series, left, date="exp", **stack) == 38 * DAY + 5 * 3600
    key = {"provisioner": "gpu-eu", "organization": "research", **stack}
    assert value(series, "coder_stack_key_age_days", **key) == 81
    assert value(series, "coder_stack_key_rotate_after_days", **key) == 90
    assert value(series, "coder_stack_daemons", **key) == 0
    about = {"component": "proxy/sydney", "type": "ProxyHealthy", **stack}
    assert value(series, "coder_stack_condition", status="Unknown", **about) == 1
    assert value(series, "coder_stack_condition", status="True", **about) == 0
    assert value(series, "coder_stack_checked_at_timestamp_seconds", **stack) == NOW.timestamp()


def test_D3_a_clean_stack_has_metrics_with_the_value_0() -> None:
    series = read(metrics.render([clean()]))
    assert value(series, "coder_stack_drift_resources", stack="staging", kind="changed") == 0
    assert not [name for name, _ in series if name.startswith("coder_stack_license")]


def test_R1_a_status_that_was_not_compared_writes_metrics_of_its_own() -> None:
    """Else a status every hour would hide that the drift check no longer runs."""
    report = recorded_only(readiness="ready", conditions=(holds("stack", "Ready"),))
    series = read(metrics.render([report]))
    stack = {"stack": "lab"}
    assert value(series, "coder_stack_recorded_readiness", readiness="ready", **stack) == 1
    last = NOW.timestamp() - 5 * 3600
    assert value(series, "coder_stack_recorded_at_timestamp_seconds", **stack) == last
    assert {name for name, _ in series if not name.startswith("coder_stack_recorded_")} == set()


def test_R2_repairs_and_refusals_have_metrics() -> None:
    report = clean(repaired=True, repairs=(resource("a"), resource("b")), refused="Too many.")
    series = read(metrics.render([report]))
    assert value(series, "coder_stack_repaired_resources", stack="staging") == 2
    assert value(series, "coder_stack_refused", stack="staging") == 1


def test_the_file_has_no_values_of_properties() -> None:
    assert SECRET not in metrics.render([drifted()])


@given(any_report())
def test_any_text_stays_inside_its_label(report: Report) -> None:
    series = read(metrics.render([report]))
    prefix = "coder_stack_recorded" if report.result == "recorded" else "coder_stack"
    for condition in report.conditions:
        labels = {"component": condition.component, "type": condition.type, "stack": report.stack}
        values = [
            value(series, f"{prefix}_condition", status=status, **labels)
            for status in ("True", "False", "Unknown")
        ]
        assert sorted(values) == [0, 0, 1]
