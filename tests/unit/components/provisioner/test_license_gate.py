"""A provisioner without a license, and one that loses it (E4, E5)."""

from tests.unit.components import rendering
from tests.unit.components.provisioner.fleet import fleet, render
from tests.unit.components.rendering import Recorder


def test_E4_without_entitlement_no_key_is_asked_for_and_no_pod_runs(unlicensed: Recorder) -> None:
    render(fleet(replicas=2), features=())
    assert unlicensed.one("ProvisionerKey")["enabled"] is False
    assert unlicensed.one("Deployment")["spec"]["replicas"] == 0
    assert unlicensed.one("DaemonsConnected")["minimum"] == 0
    rendering.check_snapshot("provisioner", "not-entitled", unlicensed.manifests().values())


def test_E4_the_secret_is_there_and_empty(unlicensed: Recorder) -> None:
    render(fleet(), features=())
    assert unlicensed.one("Secret")["data"] == {"key": ""}


def test_E5_a_license_that_is_lost_later_stops_no_pod(licensed: Recorder) -> None:
    render(fleet(replicas=2), features=())
    assert licensed.one("ProvisionerKey")["enabled"] is False
    assert licensed.one("Deployment")["spec"]["replicas"] == 2
    assert licensed.one("Secret")["data"]["key"]
