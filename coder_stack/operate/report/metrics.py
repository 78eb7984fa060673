"""Reports as a Prometheus text file, for node-exporter's textfile collector or a push gateway (D3).

Drift is written for every stack that was compared, also if it is 0: a series that vanished means
that no check ran. What `status` read without a comparison has metrics of its own
(`coder_stack_recorded_…`), so that it cannot hide an old check. A file that is no longer written
shows in `coder_stack_checked_at_timestamp_seconds`.
"""

from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from coder_stack.operate.report.model import Report
from coder_stack.operate.report.sentences import as_utc
from coder_stack.operate.report.summary import KINDS, drifted, ignored

_RESULTS = ("clean", "drift", "error")
_READINESS = ("ready", "not ready", "unknown")
_STATUSES = ("True", "False", "Unknown")
_HELP = {
    "coder_stack_checked_at_timestamp_seconds": "When this stack was last compared with reality.",
    "coder_stack_drift_result": "1 for what the last comparison came to, else 0.",
    "coder_stack_drift_resources": "Resources that are not as they should be, by kind.",
    "coder_stack_drift_ignored_resources": "Resources that an ignore rule covers.",
    "coder_stack_drift_expired_rules": "Ignore rules whose last day is over.",
    "coder_stack_repaired": "1 if a reconcile changed something before this comparison.",
    "coder_stack_repaired_resources": "Resources that this run found different and repaired.",
    "coder_stack_refused": "1 if a reconcile did not repair because of its limits.",
    "coder_stack_readiness": "1 for whether the stack is ready, by this comparison, else 0.",
    "coder_stack_condition": "1 for the status that a condition has, else 0.",
    "coder_stack_recorded_at_timestamp_seconds": "When the last update or refresh ended.",
    "coder_stack_recorded_update_succeeded": "1 if that update or refresh succeeded.",
    "coder_stack_recorded_readiness": "1 for whether the stack was ready then, else 0.",
    "coder_stack_recorded_condition": "1 for the status that a condition had then, else 0.",
    "coder_stack_license_applied": "1 if the license of this stack is in coderd.",
    "coder_stack_license_seconds_left": (
        "Until grace begins (license_expires) and until features end (exp)."
    ),
    "coder_stack_license_warn_days": "Days before the grace period from which reports warn.",
    "coder_stack_key_age_days": "Age of a provisioner's key.",
    "coder_stack_key_rotate_after_days": "Age at which it is rotated.",
    "coder_stack_daemons": "Daemons that coderd has seen with this key.",
    "coder_stack_proxy_health": "1 for the health of a workspace proxy that coderd reports.",
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
    compared = report.result != "recorded"
    yield from _comparison(report) if compared else _recorded(report)
    prefix = "coder_stack" if compared else "coder_stack_recorded"
    if report.conditions:
        for word in _READINESS:
            yield f"{prefix}_readiness", {"readiness": word}, report.readiness == word
    for condition in report.conditions:
        labels = {"component": condition.component, "type": condition.type}
        for status in _STATUSES:
            value = condition.status == status
            yield f"{prefix}_condition", {**labels, "status": status}, value
    yield from _license(report)
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
    for proxy in report.proxies:
        yield "coder_stack_proxy_health", {"proxy": proxy.name, "health": proxy.health}, 1


def _comparison(report: Report) -> Iterator[Sample]:
    if report.checked_at is not None:
        moment = as_utc(report.checked_at).timestamp()
        yield "coder_stack_checked_at_timestamp_seconds", {}, moment
    for result in _RESULTS:
        yield "coder_stack_drift_result", {"result": result}, report.result == result
    for kind in KINDS:
        count = sum(resource.kind == kind for resource in drifted(report))
        yield "coder_stack_drift_resources", {"kind": kind}, count
    yield "coder_stack_drift_ignored_resources", {}, len(ignored(report))
    yield "coder_stack_drift_expired_rules", {}, len(report.expired_rules)
    yield "coder_stack_repaired", {}, report.repaired
    yield "coder_stack_repaired_resources", {}, len(report.repairs)
    yield "coder_stack_refused", {}, report.refused is not None


def _recorded(report: Report) -> Iterator[Sample]:
    if last := report.last_update:
        yield "coder_stack_recorded_at_timestamp_seconds", {}, as_utc(last.at).timestamp()
        yield "coder_stack_recorded_update_succeeded", {}, last.succeeded


def _license(report: Report) -> Iterator[Sample]:
    if report.license is None:
        return
    yield "coder_stack_license_applied", {}, report.license.applied
    if report.license.warn_days is not None:
        yield "coder_stack_license_warn_days", {}, report.license.warn_days
    dates = {"license_expires": report.license.license_expires, "exp": report.license.exp}
    for name, date in dates.items():
        if date is not None:
            left = (as_utc(date) - as_utc(report.written_at)).total_seconds()
            yield "coder_stack_license_seconds_left", {"date": name}, left
