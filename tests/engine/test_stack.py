"""The whole stack on a real engine: what it exports, licenses, proxies, entering, and its end."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.simulation import license_text, simulated
from tests.unit.test_outputs import documented_outputs

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("impatient")]
SYDNEY: dict[str, Any] = {"name": "sydney", "accessUrl": "https://sydney.example.com"}
FLEET: list[dict[str, Any]] = [
    {"name": "eu", "key": {"tags": {"region": "eu"}}},
    {"name": "ml", "organization": "research", "replicas": 2, "key": {"tags": {"gpu": "yes"}}},
]


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    """Configured with all there is, not yet up."""
    with (
        simulated(licensed=True) as coderd,
        deployed(engine, cluster, coderd, tmp_path, provisioners=FLEET, proxies=[SYDNEY]) as stack,
    ):
        coderd.act("POST", "/api/v2/organizations", {"name": "research"})
        stack.give("token", coderd.token)
        stack.give("licenseJwt", license_text())
        yield stack


def test_S1_CP2_E1_L8_the_outputs_say_how_the_stack_is(stack: Deployed) -> None:
    stack.up()
    outputs, details = stack.project.outputs(), stack.project.details()
    state = stack.coderd.state
    assert (outputs["phase"], outputs["ready"], outputs["tier"]) == ("Ready", "True", "premium")
    assert outputs["deploymentId"] == state.records.deployment_id
    assert outputs["version"] == state.flags.version
    assert outputs["license"]["applied"] is True
    assert outputs["license"]["licenseExpires"] < outputs["license"]["exp"]
    assert details["entitlements"]["workspace_proxy"]["entitlement"] == "entitled"
    assert all(need["entitled"] for need in details["needs"])
    assert {need["feature"] for need in details["needs"]} == {
        "external_provisioner_daemons",
        "multiple_organizations",
        "workspace_proxy",
    }
    by_name = {each["name"]: each for each in details["provisioners"]}
    (eu,) = stack.key_records("coder")
    assert (by_name["eu"]["keyId"], by_name["eu"]["keyName"]) == (eu.id, eu.name)
    assert (by_name["eu"]["keyAgeDays"], by_name["ml"]["daemons"]) == (0, 2)
    assert details["proxies"][0]["health"] == "ok"
    ready = {
        "component": "stack",
        "type": "Ready",
        "status": "True",
        "reason": "AllReady",
        "message": "Every condition holds.",
    }
    assert outputs["conditions"] == [], "only what is not True"
    assert details["conditions"][-1] == ready
    assert len(details["conditions"]) > 10
    assert {*documented_outputs("| of the parts |")} <= {*details}
    assert stack.preview(refresh=True).changes == []


def test_S1_an_update_without_changes_prints_little_and_no_more_for_more_provisioners(
    stack: Deployed,
) -> None:
    stack.up()
    said: list[str] = stack.project.pulumi("up", "--yes").stdout.splitlines()
    assert len(said) <= 60
    assert not any(each["name"] in line for line in said for each in FLEET)


def test_the_state_records_where_a_resource_was_made_and_not_the_way_there(stack: Deployed) -> None:
    """Every step of an update writes the whole state: call stacks were a fifth of it."""
    stack.configure(provisioners=FLEET[:1], proxies=[])
    stack.up()
    made = [
        each
        for each in stack.project.state()["resources"]
        if "stackTrace" in each and each["type"] != "pulumi:pulumi:Stack"
    ]
    assert len(made) > 10
    for each in made:
        assert 1 <= len(each["stackTrace"]) <= 4, each["urn"]


def test_L4_licenses_A_B_A(stack: Deployed) -> None:
    stack.configure(provisioners=[], proxies=[])
    (foreign,) = stack.coderd.license_ids()
    first, second = license_text(days=100), license_text(days=200)
    for text in (first, second, first):
        stack.give("licenseJwt", text)
        stack.up()
        ours = [id_ for id_ in stack.coderd.license_ids() if id_ != foreign]
        assert len(ours) == 1, "the superseded one is gone, somebody else's is not"
        assert stack.coderd.state.records.licenses[ours[0]].jwt == text
    calls = [call.split(" ")[0] for call in stack.coderd.requests(path="/licenses")]
    assert [call for call in calls if call != "GET"] == ["POST", "POST", "DELETE", "POST", "DELETE"]


def test_W1_a_proxy_runs_is_changed_in_place_and_gets_another_token_on_demand(
    stack: Deployed,
) -> None:
    stack.configure(provisioners=[])
    stack.up()
    assert stack.unmet() == []
    before = stack.secret("sydney-proxy-token")
    (proxy,) = stack.coderd.state.records.proxies.values()

    stack.configure(proxies=[{**SYDNEY, "displayName": "Sydney, Australia", "rotation": "2"}])
    stack.up()
    (now,) = stack.coderd.state.records.proxies.values()
    assert (now.id, now.display_name) == (proxy.id, "Sydney, Australia")
    after = stack.secret("sydney-proxy-token")
    assert before is not None
    assert after is not None
    assert before["data"] != after["data"]
    assert stack.preview(refresh=True).changes == []
    stack.refresh()
    assert stack.condition("proxy/sydney", "ProxyHealthy") == ("True", "Healthy")


def test_CP6_a_token_in_a_secret_is_used_and_its_absence_is_named(stack: Deployed) -> None:
    stack.project.stack.remove_config("coder-stack:token")
    stack.configure(access={"url": stack.coderd.url, "tokenSecret": {"name": "operator"}},
                    provisioners=[], proxies=[])  # fmt: skip
    said = stack.failure(stack.up)
    assert "SecretMissing" in said
    assert f"{stack.project.namespace}/operator" in said
    assert stack.coderd.requests("POST", "/licenses") == []

    token = base64.b64encode(stack.coderd.token.encode()).decode()
    secret = {"metadata": {"name": "operator"}, "data": {"token": token}}
    stack.project.cluster.create(stack.project.path("secrets"), secret)
    stack.up()
    assert stack.condition("operator", "BootstrapSecretReady") == ("True", "Found")
    assert stack.unmet() == []


def test_D1_destroy_leaves_nothing_in_the_cluster_and_nothing_of_ours_in_coderd(
    stack: Deployed,
) -> None:
    (foreign,) = stack.coderd.license_ids()
    stack.up()
    stack.destroy()
    assert stack.project.cluster.get(f"/api/v1/namespaces/{stack.project.namespace}") is None
    assert stack.key_records() == []
    assert stack.coderd.license_ids() == [foreign]
    assert [p for p in stack.coderd.state.records.proxies.values() if not p.deleted] == []
    assert stack.project.state().get("resources", []) == []


def test_K6_destroy_goes_through_when_coderd_is_gone_and_lists_what_stayed(
    stack: Deployed,
) -> None:
    stack.up()
    keys = [key.name for key in stack.key_records()]
    stack.coderd.fault("drop_before", count=-1)
    outcome = stack.destroy()
    assert stack.project.cluster.get(f"/api/v1/namespaces/{stack.project.namespace}") is None
    assert stack.project.state().get("resources", []) == []
    for name in (*keys, "sydney"):
        assert f'"{name}"' in outcome.text
    assert "remove it by hand" in outcome.text
