"""Organizations on the whole stack: created before what is in them, repaired, renamed, guarded."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pulumi.automation.errors import CommandError

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.engine.drifting import report_of
from tests.simulation import license_text, simulated

pytestmark = pytest.mark.engine
RESEARCH: dict[str, Any] = {"name": "research", "displayName": "Research"}
ML: dict[str, Any] = {"name": "ml", "organization": "research"}
PATH = "/api/v2/organizations"


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    """An organization with a provisioner in it, up."""
    with (
        simulated(licensed=True) as coderd,
        deployed(
            engine, cluster, coderd, tmp_path, organizations=[RESEARCH], provisioners=[ML]
        ) as stack,
    ):
        stack.give("token", coderd.token)
        stack.up()
        yield stack


def living(stack: Deployed) -> dict[str, str]:
    every = stack.coderd.act("GET", PATH)
    return {each["name"]: each["id"] for each in every if not each["is_default"]}


def test_O1_D2_it_is_created_first_and_its_drift_is_named_and_repaired_by_uuid(
    stack: Deployed,
) -> None:
    assert stack.unmet() == []
    assert stack.condition("organization/research", "OrganizationReady") == ("True", "Created")
    before = living(stack)
    assert stack.project.details()["organizations"] == [
        {"name": "research", "id": before["research"]}
    ]
    (key,) = stack.key_records("research")
    assert stack.preview(refresh=True).changes == []

    stack.coderd.act("PATCH", f"{PATH}/research", {"name": "labs", "display_name": "Labs"})
    code, report = report_of(stack, "drift")
    causes = {each["name"]: each["cause"] for each in report["resources"]}
    assert code == 2
    said = "Organization `research` was renamed in coderd to `labs`."
    assert causes["coder-organization-research"] == said
    code, report = report_of(stack, "reconcile")
    assert (code, report["result"]) == (0, "clean")
    assert living(stack) == before
    assert [each.id for each in stack.key_records("research")] == [key.id], "nothing was rotated"


def test_O1_a_rename_in_the_config_keeps_it_and_its_keys(stack: Deployed) -> None:
    before = living(stack)
    (key,) = stack.key_records()
    labs = {**RESEARCH, "name": "labs", "formerName": "research"}
    stack.configure(organizations=[labs], provisioners=[{**ML, "organization": "labs"}])
    outcome = stack.up()
    assert outcome.ops("Organization") == ["update"]
    assert living(stack) == {"labs": before["research"]}
    assert [each.id for each in stack.key_records()] == [key.id]
    stack.configure(
        organizations=[{**RESEARCH, "name": "labs"}],
        provisioners=[{**ML, "organization": "labs"}],
    )
    assert stack.preview(refresh=True).of_kind("Organization") == [], "the former name may go"


def test_O1_somebodys_key_keeps_it_from_being_deleted_until_the_config_says_so(
    stack: Deployed,
) -> None:
    stack.coderd.act("POST", f"{PATH}/research/provisionerkeys", {"name": "theirs"})
    with pytest.raises(CommandError, match=r"NotEmpty: organization .* holds 1 provisioner key"):
        stack.destroy()
    assert list(living(stack)) == ["research"]
    stack.configure(organizations=[{**RESEARCH, "deletion": "withKeys"}])
    stack.up()
    stack.destroy()
    assert living(stack) == {}
    assert stack.key_records() == []


def test_E4_O1_it_waits_for_the_license_and_so_does_what_is_in_it(
    engine: Engine, cluster: Cluster, tmp_path: Path
) -> None:
    with (
        simulated() as coderd,
        deployed(
            engine, cluster, coderd, tmp_path, organizations=[RESEARCH], provisioners=[ML]
        ) as stack,
    ):
        stack.give("token", coderd.token)
        stack.up()
        assert living(stack) == {}
        assert stack.key_records() == []
        waits = ("False", "NotEntitled")
        assert stack.condition("organization/research", "OrganizationReady") == waits
        assert stack.condition("provisioner/ml", "ProvisionerKeyReady")[0] == "False"

        stack.give("licenseJwt", license_text())
        stack.up()
        stack.up()  # what opens with the license is known to the next run
        assert list(living(stack)) == ["research"]
        assert stack.unmet() == []
