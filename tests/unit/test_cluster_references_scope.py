"""Which references are looked for, and that no answer is not an absence (F2, U1)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.referring_config import (
    DATABASE,
    THEIRS,
    Api,
    serving,
)


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with serving(tmp_path) as api:
        yield api


# What is not looked for --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plane",
    [
        {"envFrom": [{"secretRef": {"name": "more", "optional": True}}]},
        {"volumes": [{"name": "v", "secret": {"secretName": "more", "optional": True}}]},
        {"volumes": [{"name": "v", "secret": {"secretName": "eu-provisioner-key"}}]},
        {"volumes": [{"name": "v", "configMap": {"name": "coder-reconcile"}}]},
        {"volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "secret": "nonsense"}]},
        {
            "accessUrl": "https://coder.test",
            "ingress": {
                "tlsSecretName": "cert",
                "annotations": {"cert-manager.io/cluster-issuer": "letsencrypt"},
            },
        },
    ],
)
def test_F2_optional_objects_own_objects_and_certificates_to_come_are_left_alone(
    api: Api, plane: dict[str, Any]
) -> None:
    api.namespace("coder")
    assert api.missing({**THEIRS, **plane}, provisioners=[{"name": "eu"}]) == []


@pytest.mark.parametrize(
    ("plane", "named"),
    [
        ({"envFrom": [{"secretRef": {"name": "x"}}]}, "envFrom[0]: Secret coder/x"),
        ({"envFrom": [{"configMapRef": {"name": "x"}}]}, "envFrom[0]: ConfigMap coder/x"),
        (
            {"volumes": [{"name": "v", "secret": {"secretName": "x"}}]},
            "volumes[0]: Secret coder/x",
        ),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "x"}}]}}]},
            "volumes[0].projected.sources[0]: Secret coder/x",
        ),
    ],
)
def test_F2_what_kubernetes_own_words_name_is_looked_for(
    api: Api, plane: dict[str, Any], named: str
) -> None:
    api.namespace("coder")
    (line,) = api.missing({**THEIRS, **plane})
    assert line.startswith(f"controlPlane.{named} does not exist; create it: kubectl ")


def test_F2_the_secrets_of_the_reconcile_job_are_looked_for(api: Api) -> None:
    api.namespace("coder")
    job = {
        "image": "registry.example.com/coder-stack:1",
        "backend": {"name": "pulumi", "key": "url"},
        "passphrase": {"name": "pulumi", "key": "passphrase"},
    }
    (line,) = api.missing(THEIRS, reconcileJob=job)
    assert line.startswith("reconcileJob.backend, reconcileJob.passphrase: Secret coder/pulumi ")
    assert line.endswith("--from-literal=passphrase=… --from-literal=url=…")


# Unknown is not missing --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "refusal",
    [
        (403, b'{"kind": "Status", "reason": "Forbidden"}'),
        (500, b'{"kind": "Status", "reason": "InternalError"}'),
        (404, b"<html>no such page</html>"),
        (404, b'{"kind": "Status", "reason": "NotFound", "details": {"kind": "namespaces"}}'),
        (200, b"[]"),
    ],
)
def test_F2_U1_an_answer_that_is_no_answer_about_the_object_stops_nothing(
    api: Api, refusal: tuple[int, bytes]
) -> None:
    api.namespace("coder")
    api.refusals["coder/secrets/db"] = refusal
    assert api.missing({**THEIRS, **DATABASE}) == []


def test_F2_who_may_not_ask_for_namespaces_is_still_told_about_secrets(api: Api) -> None:
    api.refusals["coder"] = (403, b'{"kind": "Status", "reason": "Forbidden"}')
    (line,) = api.missing({**THEIRS, **DATABASE})
    assert line.startswith("controlPlane.database.secretName: Secret coder/db does not exist")


def test_F2_U1_a_cluster_that_stops_answering_is_left_to_the_engine(tmp_path: Path) -> None:
    with serving(tmp_path) as api:
        pass
    assert api.missing({**THEIRS, **DATABASE}) == []
