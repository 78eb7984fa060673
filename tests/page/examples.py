"""Reports for the tests of the HTML page: one for each thing that a page must make clear."""

from datetime import date, timedelta
from typing import Any

from coder_stack.operate.report.model import (
    Difference,
    ExpiredRule,
    LicenseDates,
    Report,
)
from coder_stack.operate.report.outputs import readiness
from tests.page.example_parts import (
    CONFIG_CHANGE,
    DEPLOYMENT,
    DOUBTS,
    FACTS,
    IGNORED,
    KEY_GONE,
    KEY_SECRET,
    KEYS,
    NOT_CREATED,
    NOT_DECLARED,
    NOW,
    UPDATED,
    conditions,
    resource,
    step,
)


def report(result: Any, **fields: Any) -> Report:
    known = fields.get("conditions", ())
    given: dict[str, Any] = {
        "stack": "production", "written_at": NOW, "last_update": UPDATED,
        "checked_at": None if result == "recorded" else NOW, "readiness": readiness(known),
    }  # fmt: skip
    return Report(result=result, **(given | fields))


def clean(stack: str = "production") -> Report:
    return report("clean", stack=stack, conditions=conditions(), **FACTS)


def drifted(stack: str = "production", not_created: int = 36) -> Report:
    """Return a report with several causes, and a secret where a mistake could put one."""
    return report(
        "drift", stack=stack,
        resources=(
            DEPLOYMENT, KEY_GONE, KEY_SECRET, CONFIG_CHANGE, *NOT_CREATED[:not_created],
            NOT_DECLARED, IGNORED,
        ),
        expired_rules=(
            ExpiredRule(
                resource="*::coder-hpa", reason="Load test in spring.", until=date(2027, 2, 1)
            ),
        ),
        conditions=conditions(DOUBTS),
        **FACTS,
    )  # fmt: skip


def failed(stack: str = "production") -> Report:
    """Coderd is out of reach, because its Deployment is scaled to zero."""
    return report(
        "error", stack=stack,
        error="Unavailable: coderd at `https://coder.example.com` did not answer: Service "
        "`coder/coder` has no ready endpoint.",
        error_next_step=step("Repair what was found, then check again.", "coder-stack reconcile"),
        resources=(
            resource(
                "coder", cause="Deployment `coder` is scaled to 0.",
                properties=(
                    Difference(path="spec.replicas", wanted="3", recorded="3", actual="0"),
                ),
            ),
        ),
    )  # fmt: skip


def unchecked(stack: str = "lab") -> Report:
    """Nothing could be compared."""
    return report(
        "error", stack=stack, checked_at=None, last_update=None,
        error="The passphrase does not match the stack.",
        error_next_step=step("Set PULUMI_CONFIG_PASSPHRASE.", "coder-stack drift", stack),
    )  # fmt: skip


def refused(stack: str = "production") -> Report:
    left = "The repair exceeds the limits."
    return report(
        "drift", stack=stack,
        refused="Not repaired: the update would delete 3 resources (allowed: 0; see "
        "--max-deletes).",
        refused_next_step=step(
            "Look at the plan (`pulumi preview --refresh --run-program --diff`), then allow it.",
            "coder-stack reconcile --max-deletes 3",
        ),
        resources=(
            KEY_GONE.model_copy(update={"left_because": left}),
            *(
                NOT_DECLARED.model_copy(
                    update={"left_because": left, "urn": f"{NOT_DECLARED.urn}-{n}", "name": n}
                )
                for n in ("old-eu", "old-us", "old-ap")
            ),
        ),
        conditions=conditions({("provisioner/gpu-eu", "ProvisionerKeyReady"): ("gpu-eu-key",)}),
        **FACTS,
    )  # fmt: skip


def repaired(stack: str = "production") -> Report:
    """Two are repaired, one is left, one is ignored."""
    return report(
        "drift", stack=stack, repaired=True,
        repairs=tuple(
            each.model_copy(update={"next_step": None}) for each in (DEPLOYMENT, KEY_GONE)
        ),
        resources=(
            KEY_SECRET.model_copy(
                update={"left_because": "It still differs after the repair."}
            ),
            IGNORED,
        ),
        conditions=conditions(
            {("provisioner/gpu-eu", "ProvisionerKeySecretReady"): ("gpu-eu-key-secret",)}
        ),
        **FACTS,
    )  # fmt: skip


def not_ready(stack: str = "production") -> Report:
    """Nothing differs, but there is no license: nine conditions for one reason."""
    missing = dict.fromkeys(
        ("LicenseApplied", "ProvisionersEntitled", "ProvisionerKeyReady", "ProxiesEntitled"),
        "NotEntitled",
    ) | {"ProxyRegistered": "NotEntitled", "ProxyHealthy": "NotSeen"}
    return report("clean", stack=stack, conditions=conditions(**missing), keys=KEYS)


def recorded(stack: str = "production") -> Report:
    return report("recorded", stack=stack, conditions=conditions(), **FACTS)


def recorded_not_ready(stack: str = "production") -> Report:
    return report(
        "recorded", stack=stack, conditions=conditions(DaemonsConnected="TooFew"), **FACTS
    )


def recorded_after_failure(stack: str = "production") -> Report:
    last = UPDATED.model_copy(update={"succeeded": False})
    return recorded_not_ready(stack).model_copy(update={"last_update": last})


def license_ends(stack: str = "production") -> Report:
    """Grace begins within `warn_days`."""
    dates = LicenseDates(
        applied=True, license_expires=NOW + timedelta(days=24),
        exp=NOW + timedelta(days=38, hours=5), warn_days=30,
    )  # fmt: skip
    return clean(stack).model_copy(update={"license": dates})


def five() -> tuple[Report, ...]:
    return (
        clean("staging"), drifted("production"), unchecked("lab"), recorded("demo"),
        not_ready("training"),
    )  # fmt: skip


EVERY: dict[str, tuple[Report, ...]] = {
    "clean": (clean(),),
    "drifted": (drifted(),),
    "failed": (failed(),),
    "refused": (refused(),),
    "repaired": (repaired(),),
    "not-ready": (not_ready(),),
    "recorded": (recorded(),),
    "recorded-not-ready": (recorded_not_ready(),),
    "recorded-after-failure": (recorded_after_failure(),),
    "license-ends": (license_ends(),),
    "five": five(),
}
