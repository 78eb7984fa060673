"""The conditions of a provisioner (S1, S2, K4)."""

import pytest

from tests.unit.components.provisioner.fleet import fleet, render
from tests.unit.components.rendering import Recorder


def test_S1_all_is_well(licensed: Recorder) -> None:
    seen = render(fleet())["conditions"]
    assert licensed.resources
    assert [(each["type"], each["status"]) for each in seen] == [
        ("ExternalProvisionersEntitled", "True"),
        ("ProvisionerKeyReady", "True"),
        ("ProvisionerKeySecretReady", "True"),
        ("DeploymentReady", "True"),
        ("DaemonsConnected", "True"),
    ]
    assert {each["component"] for each in seen} == {"provisioner/fleet"}


def test_S1_E4_not_entitled(unlicensed: Recorder) -> None:
    seen = render(fleet(), features=())["conditions"]
    assert unlicensed.resources
    assert {(each["status"], each["reason"]) for each in seen} == {("False", "NotEntitled")}


def test_S1_pods_that_are_not_ready_yet(licensed: Recorder) -> None:
    licensed.ready = 1
    by_type = {each["type"]: each for each in render(fleet(replicas=3))["conditions"]}
    pods = by_type["DeploymentReady"]
    assert (pods["status"], pods["reason"]) == ("False", "Pending")
    assert pods["message"] == "1 of 3 pods are ready."


@pytest.mark.parametrize(
    ("data", "reason"),
    [({"key": "b3RoZXI="}, "SecretChanged"), ({"other": "b3RoZXI="}, "SecretMissing")],
)
def test_K4_S2_a_secret_with_something_else_is_not_called_written(
    licensed: Recorder, data: dict[str, str], reason: str
) -> None:
    licensed.answers = {**licensed.answers, "Secret": {"data": data}}
    by_type = {each["type"]: each for each in render(fleet())["conditions"]}
    secret = by_type["ProvisionerKeySecretReady"]
    assert (secret["status"], secret["reason"]) == ("False", reason)


def test_S2_the_verdict_on_a_secret_is_itself_no_secret(licensed: Recorder) -> None:
    """Else nobody could read the stack's conditions."""
    assert render(fleet())["secret"] is False
    assert licensed.resources
