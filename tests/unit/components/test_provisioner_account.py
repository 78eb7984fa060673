"""An account that several provisioners share: its objects, and who uses it (P1, B1)."""

from typing import Any

import pytest

from coder_stack.settings import ProvisionerSettings
from coder_stack.settings.objects import claims
from tests.unit.components.rendering import Recorder
from tests.unit.components.test_existing_control_plane import BESIDE, built, settings
from tests.unit.config_problems import problems

SHARED: dict[str, Any] = {"account": "builders", "workspaceNamespaces": ["dev"]}
EU, US = {"name": "eu", **SHARED}, {"name": "us", **SHARED}
OWN: dict[str, Any] = {"name": "own"}


def accounts_of_pods(recorder: Recorder) -> dict[str, str]:
    return {
        each["metadata"]["name"]: each["spec"]["template"]["spec"]["serviceAccountName"]
        for each in recorder.objects("Deployment")
    }


def names(recorder: Recorder, kind: str) -> list[tuple[str, str]]:
    found = [each["metadata"] for each in recorder.objects(kind)]
    return sorted((each["namespace"], each["name"]) for each in found)


def test_P1_provisioners_that_name_an_account_share_one_and_its_permissions(
    recorder: Recorder,
) -> None:
    built(recorder, settings(BESIDE, provisioners=[EU, US, OWN]))
    assert accounts_of_pods(recorder) == {
        "eu-provisioner": "builders",
        "us-provisioner": "builders",
        "own-provisioner": "own-provisioner",
    }
    assert names(recorder, "ServiceAccount") == [
        ("coder", "builders"),
        ("coder", "own-provisioner"),
    ]
    for kind in ("Role", "RoleBinding"):
        assert names(recorder, kind) == [
            ("coder", "builders"),
            ("coder", "own-provisioner"),
            ("dev", "builders"),
        ]
    (binding, _, _) = sorted(recorder.objects("RoleBinding"), key=lambda it: str(it["subjects"]))
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": "builders", "namespace": "coder"}
    ]


def test_P1_an_account_is_a_component_that_outlives_each_provisioner(recorder: Recorder) -> None:
    built(recorder, settings(BESIDE, provisioners=[EU, US]))
    first = {each.name for each in recorder.resources if "account" in each.name}
    recorder.resources.clear()
    built(recorder, settings(BESIDE, provisioners=[US]))
    assert first == {each.name for each in recorder.resources if "account" in each.name}


def test_M1_an_account_of_one_name_is_another_one_in_each_cluster(recorder: Recorder) -> None:
    far = {"cluster": "sydney", "url": "https://coder.example.com"}
    parts = [EU, {**US, **far}]
    built(
        recorder, settings(BESIDE, provisioners=parts, clusters={"sydney": {"context": "sydney"}})
    )
    made = {each.name for each in recorder.resources if each.typ.endswith(":ServiceAccount")}
    assert made == {"coder-account-builders-account", "coder-account-builders@sydney-account"}


def test_B1_an_account_has_the_names_that_are_compared() -> None:
    own, shared = ProvisionerSettings(name="eu"), ProvisionerSettings(name="eu", account="builders")
    assert {each.name for each in claims(own, "coder") if each.kind == "RoleBinding"} == {
        "eu-provisioner"
    }
    assert {
        (each.name, each.field) for each in claims(shared, "coder") if each.kind == "RoleBinding"
    } == {("builders", "account")}


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("workspaceNamespaces", {"workspaceNamespaces": []}),
        ("workspaceDeployments", {"workspaceDeployments": False}),
        ("serviceAccountAnnotations", {"serviceAccountAnnotations": {"cloud/identity": "a"}}),
        ("namespace", {"namespace": "elsewhere"}),
    ],
)
def test_B1_provisioners_that_want_another_account_cannot_share_it(
    field: str, other: dict[str, Any]
) -> None:
    why = "must be as in provisioners[0]: both use account builders"
    found = problems({"provisioners": [EU, {**US, **other}]})
    assert found == [f"provisioners[1].{field}: {why}"]


@pytest.mark.parametrize(
    ("account", "owner"), [("coder", "controlPlane"), ("own-provisioner", "provisioners[0]")]
)
def test_B1_an_account_of_another_part_cannot_be_shared(account: str, owner: str) -> None:
    found = problems({"provisioners": [OWN, {"name": "eu", "account": account}]})
    taken = f"ServiceAccount {account} in namespace coder already belongs to {owner}"
    assert found == [f"provisioners[1].account: {taken}"]


def test_B1_an_account_is_a_new_one() -> None:
    """Else the engine would make what exists, or delete what it has just made."""
    own = {"name": "eu", "account": "eu-provisioner"}
    given = [own, {**own, "name": "us"}, {"name": "ap", "account": "default"}]
    taken = "is what provisioners[0] has without this field: use another name"
    assert problems({"provisioners": given}) == [
        f"provisioners[0].account: {taken}",
        f"provisioners[1].account: {taken}",
        "provisioners[2].account: every namespace has one of this name: use another",
    ]


@pytest.mark.parametrize(
    "same",
    [{}, {"namespace": "coder"}, {"workspaceNamespaces": ["test", "dev"]}],
    ids=["as it is", "default namespace", "other order"],
)
def test_B1_provisioners_that_agree_share_an_account_without_a_mistake(
    same: dict[str, Any],
) -> None:
    both = {"workspaceNamespaces": ["dev", "test"]}
    assert problems({"provisioners": [{**EU, **both}, {**US, **both, **same}, OWN]}) == []
