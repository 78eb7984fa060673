"""Reports for the tests of the renderers: one with everything in it, and random ones."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from coder_stack.operate.report.model import (
    Difference,
    ExpiredRule,
    KeyAge,
    LastUpdate,
    LicenseDates,
    NextStep,
    ProxySummary,
    Report,
    ReportedCondition,
    ResourceReport,
)

NOW = datetime(2027, 3, 1, 6, 30, tzinfo=UTC)
LONG_MESSAGE = "A sentence that is long enough to need several lines on the screen of a phone."
SECRET = "never-to-be-seen-7f3a"
REPAIR = NextStep(text="Repair it.", command="coder-stack reconcile --stack production")


def urn(kind: str, name: str) -> str:
    return f"urn:pulumi:production::coder-stack::{kind}::{name}"


def resource(name: str, **fields: Any) -> ResourceReport:
    given = {
        "type": "kubernetes:apps/v1:Deployment",
        "kind": "changed",
        "origin": "refresh",
        "cause": "It was edited.",
        "next_step": REPAIR,
    }
    every = given | fields
    return ResourceReport(urn=urn(every["type"], name), name=name, **every)


def condition(component: str, kind: str, status: Any, reason: str, message: str) -> Any:
    return ReportedCondition(
        component=component, type=kind, status=status, reason=reason, message=message
    )


def holds(component: str, kind: str, message: str = "") -> ReportedCondition:
    return condition(component, kind, "True", "Ready", message)


def fails(component: str, kind: str, reason: str, message: str = LONG_MESSAGE) -> ReportedCondition:
    return condition(component, kind, "False", reason, message)


def report_of(stack: str, **fields: Any) -> Report:
    return Report(**{"stack": stack, "written_at": NOW, "checked_at": NOW, **fields})


def clean(stack: str = "staging", **fields: Any) -> Report:
    return report_of(stack, **{"result": "clean", **fields})


def broken(stack: str = "lab", error: str = "Coderd did not answer (Unavailable).") -> Report:
    step = NextStep(text="Check coderd's pods.", command="kubectl get pods")
    return report_of(stack, result="error", error=error, error_next_step=step)


def recorded_only(stack: str = "lab", **fields: Any) -> Report:
    """Return what `status` says without a comparison."""
    last = LastUpdate(at=NOW - timedelta(hours=5), kind="update", succeeded=True)
    given = {"result": "recorded", "checked_at": None, "last_update": last, **fields}
    return report_of(stack, **given)


def drifted(stack: str = "production") -> Report:
    """Return a report with everything in it, and a secret where a mistake could put one."""
    return report_of(
        stack,
        result="drift",
        readiness="not ready",
        resources=(
            resource(
                "coder",
                cause="Deployment `coder` was changed outside of Pulumi.",
                properties=(
                    Difference(
                        path="spec.template.spec.containers[0].image",
                        wanted="ghcr.io/coder/coder:v2.26.0",
                        recorded="ghcr.io/coder/coder:v2.26.0",
                        actual="registry.example.com/mirror/of/coder/coder@sha256:" + "a1" * 32,
                    ),
                    Difference(path="spec.replicas", wanted="3", recorded="3", actual="1"),
                    Difference(path='metadata.labels["team"]', recorded=None, actual="platform"),
                ),
            ),
            resource(
                "gpu-eu-key",
                type="pulumi-python:dynamic/coder_stack.dynamic.provisioner_key:ProvisionerKey",
                kind="missing",
                cause="Key `gpu-eu-3f9a` was deleted in coderd.",
            ),
            resource(
                "gpu-eu-key-secret",
                type="kubernetes:core/v1:Secret",
                kind="replaced",
                cause="Secret `gpu-eu-provisioner-key` no longer holds the key that coderd knows.",
                properties=(
                    Difference(
                        path="data.key", wanted=SECRET, recorded=SECRET, actual=SECRET, secret=True
                    ),
                ),
            ),
            resource(
                "old-proxy",
                kind="unexpected",
                origin="plan",
                cause="It is not in the program any more.",
                next_step=NextStep(text="Delete it.", command="pulumi up --stack production"),
            ),
            resource("entitlements", kind="unknown", cause="Coderd answered 503."),
            resource(
                "coder-pdb",
                cause="Edited.",
                ignored_by="Under test by us.",
                ignored_until=date(2027, 6, 30),
                next_step=None,
            ),
        ),
        conditions=(
            fails("stack", "Ready", "SeveralReasons"),
            holds("controlPlane", "ControlPlaneReady", "3 of 3 pods are ready."),
            holds("operator", "LicenseApplied", "The license of this stack is in coderd."),
            holds("operator", "OperatorAccessReady", "As operator."),
            holds("provisioner/gpu-eu", "ProvisionerKeySecretReady", "Secret gpu-eu-key."),
            fails("provisioner/gpu-eu", "ProvisionerKeyReady", "KeyRejected"),
            fails("provisioner/gpu-eu", "DaemonsConnected", "TooFew"),
            holds("provisioner/cpu-us", "DaemonsConnected", "At least 2."),
            condition(
                "proxy/sydney", "ProxyHealthy", "Unknown", "NotSeen", "It has not reported yet."
            ),
        ),
        license=LicenseDates(
            applied=True,
            license_expires=NOW + timedelta(days=24),
            exp=NOW + timedelta(days=38, hours=5),
            warn_days=30,
        ),
        proxies=(ProxySummary(name="sydney", health="unregistered", version="v2.30.0"),),
        keys=(
            KeyAge(
                provisioner="gpu-eu", organization="research", key_name="gpu-eu-3f9a",
                age_days=81, rotate_after_days=90, daemons=0,
            ),
            KeyAge(
                provisioner="cpu-us", organization="default", key_name="cpu-us-77b0",
                age_days=12, rotate_after_days=90, daemons=4,
            ),
            KeyAge(
                provisioner="batch-jobs-of-the-analytics-department", organization="analytics",
                key_name="batch-jobs-of-the-analytics-department-01aa", age_days=203, daemons=2,
            ),
        ),
        expired_rules=(
            ExpiredRule(
                resource="*::coder-hpa", reason="Load test in spring.", until=date(2027, 2, 1)
            ),
        ),
    )  # fmt: skip


def any_text(**options: Any) -> st.SearchStrategy[str]:
    """Text with what could break out of each format more often than chance would have it."""
    nasty = st.sampled_from(
        ["|", "`", "```\n", "<script>alert(1)</script>", "</td>", "</details>", "<!--", '"', "'",
         "&lt;", "\n", "\r\n", "\\", "\\|", "*", "_", "[x](y)", "@name", "#1", "{{ 7*7 }}", "$x$",
         "{% raw %}", "\u2028"]
    )  # fmt: skip
    free = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    return st.lists(st.one_of(nasty, free), max_size=4, **options).map("".join)


def moments() -> st.SearchStrategy[datetime]:
    earliest, latest = datetime(2000, 1, 1), datetime(2100, 1, 1)
    zones = st.one_of(st.just(UTC), st.none())
    return st.datetimes(earliest, latest, timezones=zones)


def any_report() -> st.SearchStrategy[Report]:
    text, maybe = any_text(), st.one_of(st.none(), any_text())
    days = st.one_of(st.none(), st.integers(0, 4000))
    difference = st.builds(
        Difference, path=text, wanted=maybe, recorded=maybe, actual=maybe, secret=st.booleans()
    )
    step = st.one_of(st.none(), st.builds(NextStep, text=text, command=text))
    found = st.builds(
        ResourceReport, urn=text, type=text, name=text, cause=text, ignored_by=maybe,
        next_step=step, left_because=maybe, origin=st.sampled_from(["refresh", "plan"]),
        ignored_until=st.one_of(st.none(), st.dates()),
        kind=st.sampled_from(["changed", "missing", "replaced", "unexpected", "unknown"]),
        properties=st.lists(difference, max_size=2).map(tuple),
    )  # fmt: skip
    condition = st.builds(
        ReportedCondition, component=text, type=text, reason=text, message=text,
        doubted_by=st.lists(text, max_size=2).map(tuple), next_step=step,
        status=st.sampled_from(["True", "False", "Unknown"]),
    )  # fmt: skip
    key = st.builds(
        KeyAge, provisioner=text, organization=text, key_name=text,
        age_days=days, rotate_after_days=days, daemons=days,
    )  # fmt: skip
    rule = st.builds(ExpiredRule, resource=text, reason=text, until=st.dates())
    dates = st.builds(
        LicenseDates, applied=st.booleans(),
        license_expires=st.one_of(st.none(), moments()), exp=st.one_of(st.none(), moments()),
        warn_days=days,
    )  # fmt: skip
    return st.builds(
        Report, stack=text, written_at=moments(), checked_at=st.one_of(st.none(), moments()),
        error=maybe, error_next_step=step, refused=maybe, refused_next_step=step,
        repaired=st.booleans(),
        repairs=st.lists(found, max_size=2).map(tuple),
        last_update=st.one_of(
            st.none(), st.builds(LastUpdate, at=moments(), kind=text, succeeded=st.booleans())
        ),
        result=st.sampled_from(["clean", "drift", "error", "recorded"]),
        readiness=st.sampled_from(["ready", "not ready", "unknown"]),
        resources=st.lists(found, max_size=3).map(tuple),
        conditions=st.lists(condition, max_size=3).map(tuple),
        license=st.one_of(st.none(), dates),
        keys=st.lists(key, max_size=2).map(tuple),
        expired_rules=st.lists(rule, max_size=2).map(tuple),
    )  # fmt: skip
