"""Readiness by daemons through the real provider process, against the simulated coderd."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from coder_stack.dynamic.daemons_connected import DaemonsConnectedProvider
from tests.provider.api_server import ApiServer, api_server
from tests.provider.driver import UNKNOWN, Driven, Failure, ProviderProcess, Said
from tests.provider.keys import KEYS
from tests.simulation import Simulation


@pytest.fixture
def daemons(shared_process: ProviderProcess) -> Driven:
    return shared_process.of(DaemonsConnectedProvider())


class Key:
    """A key and the daemons that use it."""

    def __init__(self, coderd: Simulation, name: str) -> None:
        self._url = coderd.url
        self.material = coderd.act("POST", KEYS, {"name": name})["key"]
        listed = coderd.act("GET", KEYS)
        self.id = next(key["id"] for key in listed if key["name"] == name)

    def daemon(self, name: str, version: str = "v2.30.0+abc1234") -> None:
        httpx.post(
            f"{self._url}/_sim/daemons",
            json={"name": name, "version": version},
            headers={"Coder-Provisioner-Daemon-Key": self.material},
            trust_env=False,
        ).raise_for_status()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ApiServer]:
    with api_server(tmp_path) as server:
        yield server


def rolled(cluster: ApiServer, *, former: int = 0, **revisions: int) -> dict[str, Any]:
    """A Deployment whose ReplicaSets have these revisions, beside one of somebody else.

    `former` is the revision of a set whose Deployment of the same name is gone.
    """
    rows = [(f"eu-provisioner-{name}", number, "eu", "eu") for name, number in revisions.items()]
    rows += [("eu-provisioner-0", former, "eu", "former")] if former else []
    items = [
        {
            "metadata": {
                "name": name,
                "creationTimestamp": f"2026-01-01T00:00:0{0 if uid == 'former' else 1}Z",
                "annotations": {"deployment.kubernetes.io/revision": str(number)},
                "ownerReferences": [{"kind": "Deployment", "name": owner, "uid": uid}],
            }
        }
        for name, number, owner, uid in [*rows, ("us-provisioner-9", 99, "us", "us")]
    ]
    body = {"kind": "ReplicaSetList", "apiVersion": "apps/v1", "items": items}
    cluster.trouble = (200, json.dumps(body).encode())
    place = {"namespace": "coder", "name": "eu", "selector": "a=b"}
    return {"kubeconfig": cluster.kubeconfig, **place}


def inputs(coderd: Simulation, key_id: str, **more: Any) -> dict[str, Any]:
    given = {"connection": coderd.connection, "organization": "coder"}
    return {**given, "key_id": key_id, **more}


def test_P3_only_daemons_of_this_key_count_and_skew_is_reported(
    licensed: Simulation, daemons: Driven
) -> None:
    ours, theirs = Key(licensed, "ours"), Key(licensed, "theirs")
    ours.daemon("a")
    ours.daemon("b", "v2.29.1+fff")
    theirs.daemon("c", "v1.0.0")
    held = daemons.create(inputs(licensed, ours.id, minimum=2, expected_version="v2.30.0+zzz"))
    assert held.outputs["count"] == 2
    assert held.outputs["connected"] is True
    assert held.outputs["versions"] == ["v2.29.1", "v2.30.0"]
    assert held.outputs["skewed"] == ["v2.29.1"]


def test_P3_it_waits_until_enough_have_come(licensed: Simulation, daemons: Driven) -> None:
    key = Key(licensed, "fleet")
    with licensed.once_asked("/provisionerkeys/daemons", lambda: key.daemon("late")):
        held = daemons.create(inputs(licensed, key.id))
    assert held.outputs["count"] == 1
    assert len(licensed.requests("GET", "/daemons")) >= 2


def test_P3_the_wait_ends_with_a_reason_and_tells_how_far_it_came(
    licensed: Simulation, daemons: Driven, said: Said
) -> None:
    key = Key(licensed, "fleet")
    key.daemon("one")
    with pytest.raises(Failure) as failure:
        daemons.create(inputs(licensed, key.id, minimum=2, timeout_seconds=0.2))
    assert "Pending: provisioner daemons" in failure.value.last
    assert "1 of 2 have connected" in failure.value.last
    assert "1 of 2 connected, waiting" in said()
    assert licensed.token not in said()


def test_P3_a_permanent_refusal_is_not_waited_out(licensed: Simulation, daemons: Driven) -> None:
    licensed.lose_licenses()
    with pytest.raises(Failure, match="NotEntitled: provisioner daemons"):
        daemons.create(inputs(licensed, "b5cbc2ba-1f5c-4b4c-8f3a-2f1d9a3e4c51"))


def test_E4_behind_a_closed_gate_nobody_is_waited_for(
    licensed: Simulation, daemons: Driven
) -> None:
    held = daemons.create(inputs(licensed, "", enabled=False))
    assert (held.outputs["connected"], held.outputs["reason"]) == (False, "NotEntitled")
    assert daemons.read(held) is not None
    assert licensed.requests() == []


def test_P3_refresh_counts_again_and_fewer_daemons_are_no_drift(
    licensed: Simulation, daemons: Driven
) -> None:
    key = Key(licensed, "fleet")
    key.daemon("one")
    held = daemons.create(inputs(licensed, key.id))
    licensed.act("POST", "/_sim/clock", {"advance_seconds": 600})
    seen = daemons.read(held)
    assert seen is not None
    assert (seen.id, seen.inputs) == (held.id, held.inputs)
    assert (seen.outputs["count"], seen.outputs["connected"]) == (0, False)
    assert daemons.diff(held, seen.inputs).replaces == []
    daemons.delete(held)


def test_K10_an_organization_that_is_called_otherwise_now_fails_no_refresh(
    licensed: Simulation, daemons: Driven
) -> None:
    """The key knows it by uuid and names the new name; here it is only unknown who is there."""
    key = Key(licensed, "fleet")
    key.daemon("a")
    held = daemons.create(inputs(licensed, key.id))
    licensed.act("PATCH", "/api/v2/organizations/coder", {"name": "lab"})

    seen = daemons.read(held)

    assert seen is not None
    assert seen.inputs == held.inputs
    assert (seen.outputs["connected"], seen.outputs["reason"]) == (False, "NotFound")


def test_K5_a_rotated_key_is_waited_for_in_place(licensed: Simulation, daemons: Driven) -> None:
    old, new = Key(licensed, "old"), Key(licensed, "new")
    old.daemon("a")
    held = daemons.create(inputs(licensed, old.id))
    with pytest.raises(Failure, match="Pending"):
        daemons.update(held, inputs(licensed, new.id, timeout_seconds=0.2))
    new.daemon("a")
    assert daemons.update(held, inputs(licensed, new.id)).outputs["count"] == 1


def test_P4_daemons_of_earlier_pods_do_not_count(
    licensed: Simulation, daemons: Driven, cluster: ApiServer
) -> None:
    """Coderd lists them for three minutes more, whatever the new pods do."""
    key = Key(licensed, "fleet")
    key.daemon("eu-provisioner-1-aaaaa")
    held = daemons.create(inputs(licensed, key.id, rollout=rolled(cluster, **{"1": 1})))

    other_pods = {"revision": "other", "rollout": rolled(cluster, **{"1": 1, "2": 2})}
    with pytest.raises(Failure, match="0 of 1 have connected"):
        daemons.update(held, inputs(licensed, key.id, **other_pods, timeout_seconds=0.2))

    key.daemon("eu-provisioner-2-bbbbb")
    assert daemons.update(held, inputs(licensed, key.id, **other_pods)).outputs["count"] == 1


def test_P4_after_a_rollback_the_pods_of_the_older_set_are_the_newest(
    licensed: Simulation, daemons: Driven, cluster: ApiServer
) -> None:
    key = Key(licensed, "fleet")
    key.daemon("eu-provisioner-1-ccccc")
    back = rolled(cluster, **{"1": 3, "2": 2})
    assert daemons.create(inputs(licensed, key.id, rollout=back)).outputs["connected"] is True


def test_P4_pods_of_a_deployment_that_came_back_are_newer_than_those_of_the_former(
    licensed: Simulation, daemons: Driven, cluster: ApiServer
) -> None:
    """It counts its revisions from one again."""
    key = Key(licensed, "fleet")
    key.daemon("eu-provisioner-0-ddddd")
    back = rolled(cluster, former=7, **{"1": 1})
    with pytest.raises(Failure, match="0 of 1 have connected"):
        daemons.create(inputs(licensed, key.id, rollout=back, timeout_seconds=0.2))
    key.daemon("eu-provisioner-1-eeeee")
    assert daemons.create(inputs(licensed, key.id, rollout=back)).outputs["count"] == 1


@pytest.mark.parametrize("trouble", ["refused", "another cluster", "no answer", "not Kubernetes"])
def test_P4_without_an_answer_of_the_cluster_every_daemon_counts_and_it_is_said(
    licensed: Simulation, daemons: Driven, cluster: ApiServer, said: Said, trouble: str
) -> None:
    """A library user's cluster may be one that only Pulumi's own provider reaches."""
    key = Key(licensed, "fleet")
    key.daemon("any")
    rollout = rolled(cluster, **{"1": 1})
    match trouble:
        case "refused":
            cluster.refuse(403, "Forbidden")
        case "another cluster":
            rollout = {**rollout, "name": "nobody-knows"}
        case "no answer":
            rollout = {**rollout, "kubeconfig": "/nowhere"}
        case _:
            cluster.trouble = (200, b"<html>")
    held = daemons.create(inputs(licensed, key.id, rollout=rollout))
    assert held.outputs["connected"] is True
    assert "daemons of earlier pods count as well" in said()


def test_P3_P4_skew_is_judged_by_the_version_that_coderd_has_now(
    licensed: Simulation, daemons: Driven
) -> None:
    key = Key(licensed, "fleet")
    key.daemon("one", licensed.state.flags.version)
    held = daemons.create(inputs(licensed, key.id))
    assert held.outputs["skewed"] == []

    upgraded = replace(licensed.state.flags, version="v2.99.0+simulated")
    licensed.state.flags = upgraded
    seen = daemons.update(held, inputs(licensed, key.id, revision="coderd's pods are others"))
    assert seen.outputs["skewed"] == ["v2.30.0"]
    read = daemons.read(held)
    assert read is not None
    assert read.outputs["skewed"] == ["v2.30.0"]
    assert read.inputs == held.inputs


def test_unknown_values_pass_through_check(licensed: Simulation, daemons: Driven) -> None:
    checked = daemons.check(inputs(licensed, UNKNOWN))
    assert checked.failures == []
    assert checked.inputs["key_id"] == UNKNOWN
