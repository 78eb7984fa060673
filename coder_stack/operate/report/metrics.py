"""Reports as a Prometheus text file, for node-exporter's textfile collector or a push gateway (D3).

Every family is present for every stack, also with zero, so that an alert on a vanished series means
that nobody looked. Seconds left are counted from `checked_at`: a file that is no longer written
shows in `coder_stack_checked_at_timestamp_seconds`, not in a license that seems to stand still.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from coder_stack.operate.report.model import KeyAge, Report
from coder_stack.operate.report.wording import KINDS, drifted, ignored, in_utc

__all__ = ["render"]

_RESULTS = ("clean", "drift", "error")
_STATUSES = ("True", "False", "Unknown")


def render(reports: Sequence[Report]) -> str:
    """The text exposition format, version 0.0.4."""
    page = _Page()
    for report in reports:
        _stack(page, report)
        _conditions(page, report)
        _license(page, report)
        for key in report.keys:
            _key(page, report.stack, key)
    return page.text()


@dataclass(frozen=True)
class _Page:
    """Families in the order of their first sample; a series said twice keeps the last value."""

    families: dict[str, tuple[str, dict[str, float]]] = field(
        default_factory=dict[str, tuple[str, dict[str, float]]]
    )

    def gauge(self, name: str, meaning: str, labels: Mapping[str, str], value: float) -> None:
        _, samples = self.families.setdefault(name, (meaning, {}))
        inside = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
        samples[f"{name}{{{inside}}}"] = value

    def text(self) -> str:
        lines: list[str] = []
        for name, (meaning, samples) in self.families.items():
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} gauge"]
            lines += [f"{series} {_number(value)}" for series, value in samples.items()]
        return "".join(f"{line}\n" for line in lines)


def _stack(page: _Page, report: Report) -> None:
    stack = {"stack": report.stack}
    page.gauge(
        "coder_stack_checked_at_timestamp_seconds", "When this stack was last looked at.",
        stack, in_utc(report.checked_at).timestamp(),
    )  # fmt: skip
    for result in _RESULTS:
        page.gauge(
            "coder_stack_drift_result", "1 for what the last look came to, else 0.",
            stack | {"result": result}, report.result == result,
        )  # fmt: skip
    for kind in KINDS:
        count = sum(resource.kind == kind for resource in drifted(report))
        page.gauge(
            "coder_stack_drift_resources", "Resources that are not as recorded, by kind.",
            stack | {"kind": kind}, count,
        )  # fmt: skip
    page.gauge(
        "coder_stack_drift_ignored_resources", "Resources that an ignore rule covers.",
        stack, len(ignored(report)),
    )  # fmt: skip
    page.gauge(
        "coder_stack_drift_expired_rules", "Ignore rules whose last day is over.",
        stack, len(report.expired_rules),
    )  # fmt: skip
    page.gauge(
        "coder_stack_repaired", "1 if a reconcile changed something before this look.",
        stack, report.repaired,
    )  # fmt: skip


def _conditions(page: _Page, report: Report) -> None:
    for condition in report.conditions:
        about = {
            "stack": report.stack, "component": condition.component, "type": condition.type,
        }  # fmt: skip
        for status in _STATUSES:
            page.gauge(
                "coder_stack_condition", "1 for the status that a condition has, else 0.",
                about | {"status": status}, condition.status == status,
            )  # fmt: skip


def _license(page: _Page, report: Report) -> None:
    if report.license is None:
        return
    page.gauge(
        "coder_stack_license_applied", "1 if the license of this stack is in coderd.",
        {"stack": report.stack}, report.license.applied,
    )  # fmt: skip
    dates: dict[str, datetime | None] = {
        "license_expires": report.license.license_expires,
        "exp": report.license.exp,
    }
    for name, moment in dates.items():
        if moment is not None:
            left = in_utc(moment) - in_utc(report.checked_at)
            page.gauge(
                "coder_stack_license_seconds_left",
                "Until grace begins (license_expires) and until features end (exp).",
                {"stack": report.stack, "date": name}, left.total_seconds(),
            )  # fmt: skip


def _key(page: _Page, stack: str, key: KeyAge) -> None:
    # Without the key's name: a rotation would end one series and begin another.
    about = {"stack": stack, "provisioner": key.provisioner, "organization": key.organization}
    figures = {
        "coder_stack_key_age_days": ("Age of a provisioner's key.", key.age_days),
        "coder_stack_key_rotate_after_days": ("Age at which it is rotated.", key.rotate_after_days),
        "coder_stack_daemons": ("Daemons that coderd has seen with this key.", key.daemons),
    }
    for name, (meaning, value) in figures.items():
        if value is not None:
            page.gauge(name, meaning, about, value)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
