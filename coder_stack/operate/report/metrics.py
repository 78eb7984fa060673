"""Reports as a Prometheus text file, for node-exporter's textfile collector or a push gateway (D3).

Drift is written for every stack, also if it is 0: a series that vanished means that no check ran.
Seconds left are counted from `checked_at`. A file that is no longer written shows in
`coder_stack_checked_at_timestamp_seconds`.
"""

from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from coder_stack.operate.report.model import Report
from coder_stack.operate.report.wording import KINDS, as_utc, drifted, ignored

_RESULTS = ("clean", "drift", "error")
_STATUSES = ("True", "False", "Unknown")
_HELP = {
    "coder_stack_checked_at_timestamp_seconds": "When this stack was last looked at.",
    "coder_stack_drift_result": "1 for what the last look came to, else 0.",
    "coder_stack_drift_resources": "Resources that are not as recorded, by kind.",
    "coder_stack_drift_ignored_resources": "Resources that an ignore rule covers.",
    "coder_stack_drift_expired_rules": "Ignore rules whose last day is over.",
    "coder_stack_repaired": "1 if a reconcile changed something before this look.",
    "coder_stack_condition": "1 for the status that a condition has, else 0.",
    "coder_stack_license_applied": "1 if the license of this stack is in coderd.",
    "coder_stack_license_seconds_left": (
        "Until grace begins (license_expires) and until features end (exp)."
    ),
    "coder_stack_key_age_days": "Age of a provisioner's key.",
    "coder_stack_key_rotate_after_days": "Age at which it is rotated.",
    "coder_stack_daemons": "Daemons that coderd has seen with this key.",
}
Sample = tuple[str, dict[str, str], float]
"""A metric's name, its labels besides `stack`, and its value."""


def render(reports: Sequence[Report]) -> str:
    """Return the text format, version 0.0.4. The last value of a repeated series counts."""
    registry = CollectorRegistry()
    gauges: dict[str, Gauge] = {}
    for report in reports:
        for name, others, value in _samples(report):
            labels = {"stack": report.stack, **others}
            if name not in gauges:
                gauges[name] = Gauge(name, _HELP[name], labels, registry=registry)
            gauges[name].labels(**labels).set(value)
    return generate_latest(registry).decode()


def _samples(report: Report) -> Iterator[Sample]:
    checked_at = as_utc(report.checked_at)
    yield "coder_stack_checked_at_timestamp_seconds", {}, checked_at.timestamp()
    for result in _RESULTS:
        yield "coder_stack_drift_result", {"result": result}, report.result == result
    for kind in KINDS:
        count = sum(resource.kind == kind for resource in drifted(report))
        yield "coder_stack_drift_resources", {"kind": kind}, count
    yield "coder_stack_drift_ignored_resources", {}, len(ignored(report))
    yield "coder_stack_drift_expired_rules", {}, len(report.expired_rules)
    yield "coder_stack_repaired", {}, report.repaired
    for condition in report.conditions:
        labels = {"component": condition.component, "type": condition.type}
        for status in _STATUSES:
            value = condition.status == status
            yield "coder_stack_condition", {**labels, "status": status}, value
    if report.license is not None:
        yield "coder_stack_license_applied", {}, report.license.applied
        dates = {"license_expires": report.license.license_expires, "exp": report.license.exp}
        for name, date in dates.items():
            if date is not None:
                left = (as_utc(date) - checked_at).total_seconds()
                yield "coder_stack_license_seconds_left", {"date": name}, left
    for key in report.keys:
        # The key's name is no label: each rotation would start another series.
        labels = {"provisioner": key.provisioner, "organization": key.organization}
        for name, number in (
            ("coder_stack_key_age_days", key.age_days),
            ("coder_stack_key_rotate_after_days", key.rotate_after_days),
            ("coder_stack_daemons", key.daemons),
        ):
            if number is not None:
                yield name, labels, number
