"""Organizations through the real provider process, against the simulated coderd."""

from typing import Any
from uuid import uuid4

import pytest

from coder_stack.dynamic.organization import OrganizationProvider
from coder_stack.dynamic.runtime.licensed import NOT_PROVISIONED
from tests.provider.driver import (
    UNKNOWN,
    Driven,
    Failure,
    Held,
    ProviderProcess,
    Said,
    provider_process,
)
from tests.simulation import Simulation

PATH = "/api/v2/organizations"
TEXTS = ("name", "display_name", "description", "icon")


@pytest.fixture
def organizations(shared_process: ProviderProcess) -> Driven:
    return shared_process.of(OrganizationProvider())


def inputs(coderd: Simulation, **more: Any) -> dict[str, Any]:
    given = {
        "connection": coderd.connection,
        "name": "research",
        "description": "Where models are trained.",
        "deployment_id": coderd.state.records.deployment_id,
    }
    return {**given, **more}


def living(coderd: Simulation) -> dict[str, str]:
    """Name and id of every organization but the default one."""
    every = coderd.act("GET", PATH)
    return {each["name"]: each["id"] for each in every if not each["is_default"]}


def made_in_another_run(coderd: Simulation, **more: Any) -> Held:
    with provider_process() as process:
        return process.of(OrganizationProvider()).create(inputs(coderd, **more))


def destroy(held: Held) -> str:
    """Delete it in a run without the program, and return what that run printed."""
    with provider_process() as process:
        process.of(OrganizationProvider()).delete(held)
        return process.stderr


def writes(coderd: Simulation) -> list[str]:
    return [each for each in coderd.requests() if not each.startswith("GET")]


def test_O1_one_request_creates_it_and_reading_it_is_no_drift(
    licensed: Simulation, organizations: Driven
) -> None:
    held = organizations.create(inputs(licensed))
    assert writes(licensed) == [f"POST {PATH}"]
    assert living(licensed) == {"research": held.id}
    assert held.outputs["display_name"] == "research", "as coderd fills it in"
    seen = organizations.read(held)
    assert seen is not None
    assert (seen.id, seen.inputs) == (held.id, held.inputs)
    assert organizations.check(inputs(licensed), held.inputs).inputs == held.inputs


def test_O1_a_rename_in_coderd_is_drift_and_is_repaired_by_uuid(
    licensed: Simulation, organizations: Driven
) -> None:
    held = organizations.create(inputs(licensed))
    licensed.act("PATCH", f"{PATH}/{held.id}", {"name": "labs", "description": "Other."})
    seen = organizations.read(held)
    assert seen is not None
    changed = {name for name in seen.inputs if seen.inputs[name] != held.inputs[name]}
    assert changed == {"name", "description"}
    news = organizations.check(inputs(licensed), seen.inputs)
    assert (news.failures, organizations.diff(seen, news.inputs).replaces) == ([], [])
    organizations.update(seen, news.inputs)
    assert living(licensed) == {"research": held.id}


def test_O1_one_that_is_deleted_in_coderd_is_gone_though_its_uuid_still_answers(
    licensed: Simulation, organizations: Driven
) -> None:
    held = organizations.create(inputs(licensed))
    licensed.act("DELETE", f"{PATH}/{held.id}")
    assert licensed.act("GET", f"{PATH}/{held.id}")["name"] == "research"
    assert organizations.read(held) is None
    with pytest.raises(Failure, match="run `pulumi refresh`"):
        organizations.update(held, inputs(licensed, description="Other."))
    destroy(held)


def test_U1_a_user_who_does_not_see_all_organizations_calls_none_of_them_gone(
    licensed: Simulation, organizations: Driven
) -> None:
    held = organizations.create(inputs(licensed))
    for user in licensed.state.records.users.values():
        user.roles, user.organizations = [], {}
    with pytest.raises(Failure, match="Forbidden: organization"):
        organizations.read(held)


class TestAdoption:
    def test_O1_an_existing_one_is_refused_in_the_preview_and_adopted_if_told_to(
        self, licensed: Simulation, organizations: Driven
    ) -> None:
        theirs = licensed.act("POST", PATH, {"name": "Research", "description": "Theirs."})
        ((path, message),) = organizations.check(inputs(licensed)).failures
        assert path == "name"
        assert "set adopt" in message
        licensed.fault("status", PATH, method="GET", status=500)  # the preview cannot look
        with pytest.raises(Failure, match="Conflict"):
            organizations.create(inputs(licensed))
        assert organizations.check(inputs(licensed, adopt=True)).failures == []
        held = organizations.create(inputs(licensed, adopt=True))
        assert held.id == theirs["id"]
        assert living(licensed) == {"research": theirs["id"]}
        assert held.outputs["description"] == "Where models are trained."

    def test_U3_what_a_lost_run_left_is_adopted(
        self, licensed: Simulation, organizations: Driven
    ) -> None:
        licensed.fault("drop_after", PATH, method="POST", count=1)
        held = organizations.create(inputs(licensed))
        assert living(licensed) == {"research": held.id}
        assert organizations.check(inputs(licensed)).failures == []
        assert organizations.create(inputs(licensed)).id == held.id

    def test_O1_one_with_somebodys_workspace_is_not_taken_for_what_a_lost_run_left(
        self, licensed: Simulation, organizations: Driven
    ) -> None:
        held = organizations.create(inputs(licensed))
        licensed.act("POST", "/_sim/workspaces", {"organization": held.id})
        assert [path for path, _ in organizations.check(inputs(licensed)).failures] == ["name"]


class TestDeletion:
    def test_O1_an_empty_one_is_deleted_and_gone_is_fine(self, licensed: Simulation) -> None:
        held = made_in_another_run(licensed)
        destroy(held)
        assert living(licensed) == {}
        destroy(held)

    @pytest.mark.parametrize("contents", ["workspace", "key"])
    def test_O1_one_with_somebodys_work_in_it_is_not_deleted_and_not_forgotten(
        self, licensed: Simulation, contents: str
    ) -> None:
        held = made_in_another_run(licensed)
        if contents == "workspace":
            licensed.act("POST", "/_sim/workspaces", {"organization": held.id})
        else:
            licensed.act("POST", f"{PATH}/{held.id}/provisionerkeys", {"name": "theirs"})
        with pytest.raises(Failure) as refused:
            destroy(held)
        assert 'NotEmpty: organization "research", delete: ' in refused.value.last
        assert f"it holds 1 {'workspace' if contents == 'workspace' else 'provisioner key'}; " in (
            refused.value.last
        )
        assert "deletion: keep" in refused.value.last
        assert living(licensed) == {"research": held.id}

    def test_O1_keys_of_others_are_deleted_with_it_only_if_the_config_says_so(
        self, licensed: Simulation
    ) -> None:
        held = made_in_another_run(licensed, deletion="withKeys")
        licensed.act("POST", f"{PATH}/{held.id}/provisionerkeys", {"name": "theirs"})
        destroy(held)
        assert living(licensed) == {}
        assert licensed.state.records.provisioner_keys == {}

    def test_O1_one_that_is_to_be_kept_stays(self, licensed: Simulation) -> None:
        held = made_in_another_run(licensed, deletion="keep")
        destroy(held)
        assert living(licensed) == {"research": held.id}

    def test_O1_the_default_organization_is_left_with_a_warning(self, licensed: Simulation) -> None:
        held = made_in_another_run(licensed, name="coder", adopt=True)
        assert "default organization was left" in destroy(held)

    def test_X1_one_that_the_program_asks_for_again_survives_a_pending_delete(
        self, licensed: Simulation, organizations: Driven
    ) -> None:
        held = organizations.create(inputs(licensed))
        organizations.check(inputs(licensed), held.inputs)
        organizations.delete(held)
        assert living(licensed) == {"research": held.id}


class TestGate:
    def test_E4_without_entitlement_no_call_is_made_and_the_next_run_opens_it(
        self, coderd: Simulation, organizations: Driven
    ) -> None:
        held = organizations.create(inputs(coderd, enabled=False))
        assert (held.id, held.outputs["reason"]) == (NOT_PROVISIONED, "NotEntitled")
        assert organizations.read(held) == held
        news = organizations.check(inputs(coderd), held.inputs).inputs
        assert organizations.diff(held, news).replaces == ["enabled"]
        organizations.delete(held)
        assert writes(coderd) == []

    def test_E5_without_the_license_it_stays_as_it_is_and_changes_wait(
        self, licensed: Simulation, organizations: Driven, said: Said
    ) -> None:
        held = organizations.create(inputs(licensed))
        late = inputs(licensed, enabled=False, name="labs", description="Other.")
        news = organizations.check(late, held.inputs).inputs
        kept = {name: news.get(name) for name in TEXTS}
        assert kept == {name: held.inputs.get(name) for name in TEXTS}
        assert news["deferred"] == ["description", "display_name", "name"]
        assert "deferred until the license allows it again" in said()
        licensed.forget_requests()
        organizations.update(held, news)
        assert licensed.requests() == []


def test_another_deployment_makes_another_one(licensed: Simulation, organizations: Driven) -> None:
    held = organizations.create(inputs(licensed))
    news = organizations.check(inputs(licensed, deployment_id=str(uuid4())), held.inputs).inputs
    assert organizations.diff(held, news).replaces == ["deployment_id"]


def test_an_unknown_name_is_left_unknown(licensed: Simulation, organizations: Driven) -> None:
    checked = organizations.check(inputs(licensed, name=UNKNOWN))
    assert checked.failures == []
    assert checked.inputs["name"] == UNKNOWN
