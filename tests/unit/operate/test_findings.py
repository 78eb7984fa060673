"""Which differences are findings, of which kind, and which are consequences of others (D2)."""

import pytest

from coder_stack.operate.diagnosis.findings import Finding, findings
from coder_stack.operate.diagnosis.values import find, keys_of, shown
from coder_stack.operate.engine.events import read_events
from tests.unit.operate.engine_events import CODER, MASKED, UNKNOWN, recorded, step

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
SECRET = "kubernetes:core/v1:Secret"
KEY = f"{CODER}ProvisionerKey"
INSIDE = "coder-stack:index:Provisioner$"


def by_name(found: list[Finding]) -> dict[str, tuple[str, str]]:
    return {each.name: (each.origin, each.kind) for each in found}


def test_D2_a_deleted_key_and_a_swapped_license_in_events_of_a_real_engine() -> None:
    found = findings(recorded("license-swapped"))
    assert by_name(found) == {"key-a": ("refresh", "missing"), "license": ("refresh", "missing")}


def test_E2_a_lost_license_changes_features_one_by_one() -> None:
    found = {each.name: each for each in findings(recorded("license-lost"))}
    assert by_name(list(found.values()))["entitlements"] == ("refresh", "changed")
    differences = {each.path: each for each in found["entitlements"].properties}
    proxy = differences["features.workspace_proxy.entitlement"]
    assert (proxy.recorded, proxy.actual) == ("entitled", "not_entitled")


def test_U1_entitlements_that_could_not_be_read_are_unknown() -> None:
    found = by_name(findings(recorded("entitlements-unread")))
    assert found["entitlements"] == ("refresh", "unknown")


def test_the_stack_itself_and_default_providers_do_not_count() -> None:
    run = read_events(
        [
            step("update", "pulumi:pulumi:Stack", {"a": 1}, {"a": 2}, "a"),
            step(
                "update", "pulumi:providers:pulumi-python", {"a": 1}, {"a": 2}, "a", name="default"
            ),
        ]
    )
    assert findings(run) == []


def test_a_change_to_an_unknown_value_is_a_consequence() -> None:
    old, new = {"spec": {"hash": "1"}}, {"spec": {"hash": UNKNOWN}}
    planned = step("update", DEPLOYMENT, old, new, "spec.hash")
    assert findings(read_events([planned])) == []
    # Some providers report the difference in outputs, which a planned resource has not yet.
    event = planned.resource_pre_event
    assert event is not None
    assert event.metadata.new is not None
    assert event.metadata.detailed_diff is not None
    event.metadata.new.outputs = {}
    event.metadata.detailed_diff["spec.hash"].input_diff = False
    assert findings(read_events([planned])) == []


def test_a_secret_that_changes_with_its_key_is_no_finding_but_one_by_itself_is() -> None:
    data = {"stringData": MASKED}
    secret = step("update", SECRET, data, data, "stringData.key", name="secret", parents=INSIDE)
    key = step("refresh", KEY, {"name": "eu-1"}, None, name="key", parents=INSIDE)
    assert by_name(findings(read_events([key, secret]))) == {"key": ("refresh", "missing")}
    assert by_name(findings(read_events([secret]))) == {"secret": ("plan", "changed")}


@pytest.mark.parametrize(
    ("op", "kind"),
    [
        ("create", "missing"),
        ("delete", "unexpected"),
        ("update", "changed"),
        ("replace", "replaced"),
    ],
)
def test_a_plan_without_drift_is_what_the_program_asks_for(op: str, kind: str) -> None:
    old, new = {"spec": {"replicas": 1}}, {"spec": {"replicas": 2}}
    sides = (None if op == "create" else old, None if op == "delete" else new)
    (found,) = findings(read_events([step(op, DEPLOYMENT, *sides, "spec.replicas")]))
    assert (found.origin, found.kind) == ("plan", kind)
    if found.properties:
        (each,) = found.properties
        assert (each.wanted, each.recorded, each.actual) == ("2", "1", "1")


def test_drift_that_needs_a_new_object_is_replaced() -> None:
    found, planned = {"tags": {"region": "us"}}, {"tags": {"region": "eu"}}
    run = read_events(
        [
            step("refresh", KEY, planned, found, "tags.region"),
            step("create-replacement", KEY, found, planned, "tags.region"),
            step("replace", KEY, found, planned, "tags.region"),
            step("delete-replaced", KEY, found, None),
        ]
    )
    (only,) = findings(run)
    assert (only.origin, only.kind, only.paths) == ("refresh", "replaced", ("tags.region",))
    assert (run.replaces, run.deletes) == (1, 0)


def test_a_refused_token_is_a_finding_and_a_renewed_one_is_not() -> None:
    access = f"{CODER}OperatorAccess"
    (found,) = findings(
        read_events([step("refresh", access, {"accepted": True}, {"accepted": False})])
    )
    assert found.paths == ("accepted",)
    assert (
        findings(read_events([step("refresh", access, {"token_id": "a"}, {"token_id": "b"})])) == []
    )


@pytest.mark.parametrize(
    ("type_", "path", "value"),
    [
        (SECRET, "data.key", "c2VjcmV0"),
        (SECRET, 'stringData["a.b"]', "in the clear"),
        (KEY, "material", "in the clear"),
        (f"{CODER}License", "jwt", "in the clear"),
        (DEPLOYMENT, "spec.env", [{"value": MASKED}]),
    ],
)
def test_L9_a_secret_is_masked_by_its_field_or_by_its_mark(
    type_: str, path: str, value: object
) -> None:
    top = path.partition(".")[0].partition("[")[0]
    old = {top: {str(keys_of(path)[-1]): "before"} if path != top else "before"}
    new = {top: {str(keys_of(path)[-1]): value} if path != top else value}
    (found,) = findings(read_events([step("refresh", type_, old, new, path)]))
    (difference,) = found.properties
    assert (difference.secret, difference.recorded, difference.actual) == (True, None, None)


def test_paths_may_have_list_indices_and_quoted_names() -> None:
    properties = {"metadata": {"labels": {"a.b/c": "x"}}, "items": [{"n": 1}]}
    assert find(properties, 'metadata.labels["a.b/c"]') == "x"
    assert find(properties, "items[0].n") == 1
    assert shown(find(properties, "items[3].n")) is None
