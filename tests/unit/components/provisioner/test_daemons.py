"""Which daemons a provisioner waits for, and when it checks them again (P3, P4)."""

from typing import Any

import pytest

from coder_stack.settings import Image, KeySettings, SecretRef
from tests.unit.components.provisioner.fleet import ISSUED, fleet, render
from tests.unit.components.rendering import Recorder


def checks_again(
    recorder: Recorder, before: dict[str, Any], after: dict[str, Any], coderd: str = "v2.30.0"
) -> bool:
    """Return whether the second of two runs of the program checks the daemons again."""
    render(fleet(**before))
    render(fleet(**after), coderd=coderd)
    first, second = recorder.objects("DaemonsConnected")[-2:]
    return first["revision"] != second["revision"]


def test_P3_the_daemons_are_waited_for_with_this_key_and_after_these_pods(
    licensed: Recorder,
) -> None:
    render(fleet(replicas=2, connect_timeout_seconds=20))
    asked = licensed.one("DaemonsConnected")
    wanted = {
        "key_id": "k-1",
        "minimum": 2,
        "timeout_seconds": 20,
        "enabled": True,
        "rollout": {
            "namespace": "coder",
            "name": "fleet-provisioner",
            "selector": "app.kubernetes.io/name=coder-provisioner,app.kubernetes.io/instance=fleet",
        },
    }
    assert wanted.items() <= asked.items()
    assert "expected_version" not in asked, "coderd is asked for its own version at every check"


@pytest.mark.parametrize(
    "change",
    [
        {"url": "https://elsewhere.test"},
        {"args": ("--verbose",)},
        {"env": {"CODER_VERBOSE": "true"}},
        {"secret_env": {"HTTPS_PROXY": SecretRef(name="net", key="proxy")}},
        {"image": Image(tag="v2.31.0")},
        {"ca_bundles": (SecretRef(name="corp-ca", key="ca.pem"),)},
        {"pod_annotations": {"note": "c"}},
        {"replicas": 2},
    ],
    ids=lambda change: next(iter(change)),
)
def test_P4_a_change_that_replaces_pods_checks_the_daemons_again(
    licensed: Recorder, change: dict[str, Any]
) -> None:
    assert checks_again(licensed, {}, change)


def test_P4_another_key_checks_the_daemons_again(licensed: Recorder) -> None:
    render(fleet())
    rotated = {**ISSUED, "material_sha256": "cd" * 32}
    licensed.answers = {**licensed.answers, "ProvisionerKey": rotated}
    render(fleet())
    first, second = licensed.objects("DaemonsConnected")
    assert first["revision"] != second["revision"]


def test_P4_P3_another_version_of_coderd_checks_the_same_daemons_again(licensed: Recorder) -> None:
    """The daemons' version may differ from coderd's from now on."""
    pinned = {"image": Image(tag="v2.30.0")}
    assert checks_again(licensed, pinned, pinned, coderd="v2.31.0")


def test_P4_a_change_that_replaces_no_pods_checks_nothing_again(licensed: Recorder) -> None:
    assert not checks_again(licensed, {}, {})
    assert not checks_again(licensed, {}, {"annotations": {"note": "a"}})
    assert not checks_again(licensed, {}, {"key": KeySettings(rotate_after_days=90)})


@pytest.mark.parametrize(
    "named",
    [
        {"env": {"CODER_PROVISIONER_DAEMON_NAME": "builder"}},
        {"secret_env": {"CODER_PROVISIONER_DAEMON_NAME": SecretRef(name="s", key="k")}},
        {"args": ("--name=builder",)},
        {"args": ("--name", "builder")},
    ],
    ids=str,
)
def test_P4_daemons_that_the_config_names_are_not_told_apart_by_their_pods(
    licensed: Recorder, named: dict[str, Any]
) -> None:
    render(fleet(**named))
    assert "rollout" not in licensed.one("DaemonsConnected")
