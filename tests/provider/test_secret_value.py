"""A value in somebody else's Kubernetes Secret, through the real provider process."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from coder_stack.dynamic.secret_value import SecretValueProvider
from tests.provider.api_server import ApiServer, api_server, write_kubeconfig
from tests.provider.driver import UNKNOWN, Driven, Failure, ProviderProcess, Said, provider_process

VALUE = "the-license-is-hunter2"
OTHER = "another-license-hunter3"
LABEL = "Secret coder/license"

Change = Callable[[ApiServer], Any]
"""Something that happens to the cluster behind Pulumi's back."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ApiServer]:
    with api_server(tmp_path) as server:
        server.put("coder/license", license=VALUE)
        yield server


@pytest.fixture
def driven(shared_process: ProviderProcess) -> Driven:
    return shared_process.of(SecretValueProvider())


def inputs(cluster: ApiServer, **more: Any) -> dict[str, Any]:
    """As the resource class sends them: with the placeholder that makes `value` a secret."""
    place = {"namespace": "coder", "name": "license", "key": "license"}
    return {"kubeconfig": cluster.kubeconfig, **place, "value": "", **more}


def test_L1_check_finds_the_trimmed_value_and_its_fingerprint(
    cluster: ApiServer, driven: Driven
) -> None:
    plain = driven.check(inputs(cluster)).inputs
    cluster.put("coder/license", license=f"  {VALUE}\n")
    assert driven.check(inputs(cluster)).inputs == plain
    assert (plain["value"], plain["reason"]) == (VALUE, "")
    assert len(plain["fingerprint"]) == 12

    held = driven.create(inputs(cluster))
    assert held.outputs == plain
    assert held.id == "coder/license/license"
    assert {method for method, _ in cluster.asked} == {"GET"}


def test_D1_reading_what_is_there_is_no_drift_and_check_is_idempotent(
    cluster: ApiServer, driven: Driven
) -> None:
    held = driven.create(inputs(cluster))
    seen = driven.read(held)
    assert seen is not None
    assert (seen.id, seen.inputs, seen.outputs) == (held.id, held.inputs, held.outputs)
    assert driven.check(inputs(cluster), held.inputs).inputs == held.inputs
    assert driven.diff(held, held.inputs).changes == "unknown"


def test_L4_another_value_is_a_changed_input_in_check_and_in_read(
    cluster: ApiServer, driven: Driven
) -> None:
    held = driven.create(inputs(cluster))
    cluster.put("coder/license", license=OTHER)
    checked = driven.check(inputs(cluster), held.inputs).inputs
    assert checked["value"] == OTHER
    assert checked["fingerprint"] != held.inputs["fingerprint"]
    assert driven.diff(held, checked).replaces == []
    seen = driven.read(held)
    assert seen is not None
    assert seen.inputs == seen.outputs == checked
    assert driven.update(held, inputs(cluster)).outputs == checked


MISSING: list[tuple[Change, str]] = [
    (lambda cluster: cluster.secrets.clear(), "it does not exist; create it."),
    (lambda cluster: cluster.put("coder/license", other=VALUE), 'it has no key "license"; add it.'),
    (
        lambda cluster: cluster.put("coder/license", license=" \n"),
        'the value under "license" is empty; fill it in.',
    ),
    (
        lambda cluster: cluster.put("coder/license", license=b"\xff\xfe"),
        'the value under "license" is no text; correct it.',
    ),
]
every_way_to_be_missing = pytest.mark.parametrize(
    ("lose", "why"), MISSING, ids=["Secret", "key", "value", "text"]
)


@every_way_to_be_missing
def test_L1_missing_from_the_start_fails_the_create_and_is_unknown_to_dependants(
    cluster: ApiServer, said: Said, driven: Driven, lose: Change, why: str
) -> None:
    lose(cluster)
    checked = driven.check(inputs(cluster))
    assert checked.failures == []
    assert checked.inputs["reason"] == "SecretMissing"
    assert "value" not in checked.inputs, "an absent output is an unknown one in a preview"
    assert f"warning: SecretMissing: {LABEL}: {why}" in said()
    with pytest.raises(Failure) as failed:
        driven.create_checked(checked.inputs)
    assert failed.value.last == f"Failed: SecretMissing: {LABEL}, create: {why}"

    cluster.put("coder/license", license=VALUE)
    assert driven.create(inputs(cluster)).outputs["value"] == VALUE


@every_way_to_be_missing
def test_L1_missing_later_keeps_the_last_value_and_fails_every_update(
    cluster: ApiServer, said: Said, driven: Driven, lose: Change, why: str
) -> None:
    held = driven.create(inputs(cluster))
    lose(cluster)
    lost = {**held.inputs, "reason": "SecretMissing", "message": why}
    checked = driven.check(inputs(cluster), held.inputs).inputs
    assert checked == lost
    with pytest.raises(Failure) as failed:
        driven.update(held, inputs(cluster))
    assert failed.value.last == f"Failed: SecretMissing: {LABEL}, update: {why}"

    seen = driven.read(held)
    assert seen is not None
    assert seen.outputs == seen.inputs == lost
    assert said().count(f"warning: SecretMissing: {LABEL}: {why}") == 3
    # What a refresh has stored is no change any more, and yet the next update is to fail.
    assert driven.check(inputs(cluster), seen.inputs).inputs == lost
    assert driven.diff(seen, lost).changes == "some"

    cluster.put("coder/license", license=VALUE)
    assert driven.update(seen, inputs(cluster)).outputs == held.outputs


CANNOT_ASK: list[tuple[Change, str]] = [
    (lambda cluster: cluster.refuse(401, "Unauthorized"), "ApiServerRefused"),
    (lambda cluster: cluster.refuse(403, "Forbidden"), "ApiServerRefused"),
    (lambda cluster: cluster.refuse(404, "NotFound"), "ApiServerRefused"),
    (lambda cluster: cluster.refuse(503, "ServiceUnavailable"), "Unavailable"),
    (lambda cluster: setattr(cluster, "trouble", (404, b"<html>")), "ProtocolError"),
    (lambda cluster: setattr(cluster, "trouble", (200, b"{")), "ProtocolError"),
    (lambda cluster: setattr(cluster, "url", "http://127.0.0.1:1"), "Unavailable"),
    (lambda cluster: setattr(cluster, "url", cluster.url.replace("http", "https")), "Unavailable"),
    (lambda cluster: setattr(cluster, "url", "http://192.0.2.1"), "InsecureConnection"),
]
every_way_to_be_mute = pytest.mark.parametrize(
    ("trouble", "reason"),
    CANNOT_ASK,
    ids=["401", "403", "404-elsewhere", "503", "html", "garbage", "nobody", "no-tls", "insecure"],
)


@every_way_to_be_mute
def test_U1_an_api_server_that_cannot_be_asked_is_not_a_missing_secret(
    cluster: ApiServer, said: Said, driven: Driven, trouble: Change, reason: str
) -> None:
    held = driven.create(inputs(cluster))
    trouble(cluster)
    cluster.kubeconfig  # noqa: B018  # written anew: the path stays
    assert driven.check(inputs(cluster), held.inputs).inputs == held.inputs
    seen = driven.read(held)
    assert seen is not None
    assert (seen.inputs, seen.outputs) == (held.inputs, held.outputs)
    assert f": {LABEL}, check: Cannot read {LABEL}: " in said()
    assert f": {LABEL}, read: Cannot read {LABEL}: " in said()

    with pytest.raises(Failure) as failed:
        driven.create(inputs(cluster))
    shown = f"Failed: {reason}: {LABEL}, create: Cannot read {LABEL}: "
    assert failed.value.last.startswith(shown)


def test_CP8_a_cluster_without_verification_is_refused(
    cluster: ApiServer, driven: Driven, tmp_path: Path
) -> None:
    given = inputs(cluster)
    write_kubeconfig(tmp_path, "https://127.0.0.1:1", **{"insecure-skip-tls-verify": True})
    assert driven.check(given).inputs["reason"] == "InsecureConnection"


def test_without_a_kubeconfig_the_stacks_own_cluster_is_asked(cluster: ApiServer) -> None:
    kubernetes = json.dumps({"kubeconfig": cluster.kubeconfig})
    with provider_process(config={"kubernetes": kubernetes}) as process:
        given = {k: v for k, v in inputs(cluster).items() if k != "kubeconfig"}
        assert process.of(SecretValueProvider()).check(given).inputs["value"] == VALUE


@pytest.mark.parametrize("name", ["namespace", "name", "key"])
def test_another_place_is_another_resource_and_keeps_nothing_of_the_last(
    cluster: ApiServer, driven: Driven, name: str
) -> None:
    held = driven.create(inputs(cluster))
    elsewhere = driven.check(inputs(cluster, **{name: "elsewhere"}), held.inputs).inputs
    assert "value" not in elsewhere
    assert driven.diff(held, elsewhere).replaces == [name]


def test_an_unknown_place_is_an_unknown_value(cluster: ApiServer, driven: Driven) -> None:
    checked = driven.check(inputs(cluster, namespace=UNKNOWN))
    assert checked.failures == []
    assert {checked.inputs[name] for name in ("value", "fingerprint", "reason")} == {UNKNOWN}
    assert cluster.asked == []


def test_delete_leaves_the_secret_alone(cluster: ApiServer, driven: Driven) -> None:
    held = driven.create(inputs(cluster))
    cluster.asked.clear()
    driven.delete(held)
    assert cluster.asked == []


def test_L9_neither_the_value_nor_the_clusters_credential_is_ever_said(
    cluster: ApiServer, said: Said, driven: Driven
) -> None:
    held = driven.create(inputs(cluster))
    cluster.put("coder/license", other=VALUE)
    driven.read(held)
    with pytest.raises(Failure) as failed:
        driven.update(held, inputs(cluster))
    cluster.trouble = (500, VALUE.encode())
    driven.read(held)
    for text in (said(), str(failed.value)):
        assert "hunter" not in text
        assert "hush-hush" not in text


def test_secret_outputs_are_declared_by_the_model() -> None:
    assert SecretValueProvider.state_model.secret_fields() == ["value"]
