"""B1 beyond single fields: what must fit together, and how a mistake is told."""

import json
from typing import Any

import pytest

from coder_stack.settings import Settings, load
from tests.unit.config_problems import paths, problems

KEYS = [info.alias or name for name, info in Settings.model_fields.items()]
PROXY = {"name": "far", "accessUrl": "https://far.example.com"}


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (
            {"access": {"url": "https://x.example.com", "throughApiServer": True}},
            "access.throughApiServer: set this or url, not both",
        ),
        (
            {"controlPlane": {"ingress": {}}},
            "controlPlane.ingress: needs accessUrl, which names the host",
        ),
        (
            {"controlPlane": {"httpRoute": {"parentRefs": [{"name": "gate"}]}}},
            "controlPlane.httpRoute: needs accessUrl, which names the host",
        ),
        (
            {
                "controlPlane": {
                    "accessUrl": "https://x.example.com",
                    "ingress": {"wildcardTlsSecretName": "wild"},
                }
            },
            "controlPlane.ingress.wildcardTlsSecretName: needs wildcardAccessUrl",
        ),
        (
            {"controlPlane": {"tls": {"secretNames": ["t"]}, "service": {"port": 443}}},
            "controlPlane.service.tlsPort: must differ from port, which is 443",
        ),
        (
            {"controlPlane": {"podDisruptionBudget": {"minAvailable": 1, "maxUnavailable": "50%"}}},
            "controlPlane.podDisruptionBudget.maxUnavailable: set this or minAvailable, not both",
        ),
        (
            {"controlPlane": {"env": {"A": "1"}, "secretEnv": {"A": {"name": "s", "key": "k"}}}},
            "controlPlane.secretEnv.A: is also set in env: remove one of them",
        ),
        (
            {
                "controlPlane": {
                    "caBundles": [{"name": "ca", "key": "a"}, {"name": "ca", "key": "a"}]
                }
            },
            "controlPlane.caBundles[1]: is a duplicate: remove it",
        ),
        (
            {"controlPlane": {"workspaceNamespaces": ["dev", "coder", "dev"]}},
            "controlPlane.workspaceNamespaces[1]: coder is always included: remove it",
        ),
        (
            {"controlPlane": {"workspaceNamespaces": ["dev", "dev"]}},
            "controlPlane.workspaceNamespaces[1]: dev is a duplicate: remove it",
        ),
        (
            {"provisioners": [{"name": "a", "key": {"adoptSecret": "old"}}]},
            "provisioners[0].key.adoptSecret: needs exactName: true and the name of that key",
        ),
        (
            {"provisioners": [{"name": "psk"}]},
            (
                "provisioners[0].name: must not be a name that coderd reserves: built-in, psk, "
                "user-auth, or set key.name"
            ),
        ),
        (
            {"provisioners": [{"name": "a"}, {"name": "b"}, {"name": "a"}]},
            'provisioners[2].name: must be unique: provisioners[0].name already uses "a"',
        ),
        (
            {"proxies": [PROXY, PROXY]},
            'proxies[1].name: must be unique: proxies[0].name already uses "far"',
        ),
        (
            {"provisioners": [{"name": "a"}, {"name": "b", "key": {"name": "A"}}]},
            (
                "provisioners[1].key.name: must be unique in its organization: "
                'provisioners[0].name already uses "A"'
            ),
        ),
        (
            {"controlPlane": {"name": "eu-provisioner"}, "provisioners": [{"name": "eu"}]},
            (
                "provisioners[0].name: ServiceAccount eu-provisioner in namespace coder already "
                "belongs to controlPlane"
            ),
        ),
        (
            {
                "provisioners": [{"name": "a", "key": {"secretName": "s"}}],
                "proxies": [{**PROXY, "secretName": "s"}],
            },
            "proxies[0].secretName: Secret s in namespace coder already belongs to provisioners[0]",
        ),
        (
            {
                "controlPlane": {"database": {"secretName": "a-provisioner-key"}},
                "provisioners": [{"name": "a"}],
            },
            (
                "provisioners[0].name: Secret a-provisioner-key in namespace coder is used by "
                "controlPlane.database.secretName: use another"
            ),
        ),
    ],
)
def test_B1_what_does_not_fit_together_is_told_with_the_path(
    config: dict[str, Any], sentence: str
) -> None:
    assert sentence in problems(config)


def test_B1_equal_names_in_other_places_are_fine() -> None:
    config = {
        "controlPlane": {"workspaceNamespaces": ["dev"]},
        "provisioners": [
            {"name": "a", "organization": "one", "key": {"name": "key", "secretName": "s"}},
            {
                "name": "b",
                "organization": "two",
                "namespace": "dev",
                "key": {"name": "key", "secretName": "s"},
            },
        ],
        "proxies": [{**PROXY, "name": "a"}],
    }
    assert problems(config) == []


def test_B1_what_does_not_fit_is_told_together_with_mistakes_in_fields() -> None:
    config = {
        "controlPlane": {"replicas": "three", "ingress": {}, "bogus": 1},
        "access": {"url": "https://x.example.com", "throughApiServer": True, "tokenDays": 0},
        "provisioners": [
            {"name": "a", "replicas": -1},
            {"name": "B"},
            {"name": "a", "key": {"adoptSecret": "old"}},
        ],
    }
    assert paths(config, {"token": "t", "initialPassword": "p"}) == [
        "access.throughApiServer",
        "access.tokenDays",
        "controlPlane.bogus",
        "controlPlane.ingress",
        "controlPlane.replicas",
        "initialPassword",
        "provisioners[0].replicas",
        "provisioners[1].name",
        "provisioners[2].key.adoptSecret",
        "provisioners[2].name",
    ]


def test_B1_nothing_is_concluded_from_a_field_that_is_wrong() -> None:
    """It was given, so it is not missing; its default was not chosen, so nothing clashes."""
    config = {
        "controlPlane": {
            "accessUrl": "coder.example.com",
            "ingress": {},
            "name": "Bad",
            "namespace": "Bad",
            "workspaceNamespaces": ["coder"],
        },
        "provisioners": [{"name": "coder", "key": {"secretName": "Bad"}}],
    }
    assert paths(config) == [
        "controlPlane.accessUrl",
        "controlPlane.name",
        "controlPlane.namespace",
        "provisioners[0].key.secretName",
    ]


def test_settings_written_as_code_must_fit_together_too() -> None:
    with pytest.raises(ValueError, match=r"provisioners\[1\].name: must be unique"):
        Settings.model_validate({"provisioners": [{"name": "a"}, {"name": "a"}]})


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (
            {"licenseJWT": "x"},
            "licenseJWT: is not a field; did you mean licenseJwt? known fields: ",
        ),
        ({"provisioners": [{"name": "a", "tags": {}}]}, "provisioners[0].tags: is not a field; "),
        (
            {"provisioners": [{"name": "a", "key": {"tags": {"n": 1}}}]},
            'provisioners[0].key.tags.n: must be text, got 1; write it in quotes: "1"',
        ),
        ({"controlPlane": {"env": {"A B": "x"}}}, 'controlPlane.env["A B"]: must be letters, '),
        ({"provisioners": {}}, "provisioners: must be a list, got a mapping"),
        (
            {"controlPlane": {"image": {"repository": "ghcr.io/coder/coder:v2"}}},
            "controlPlane.image.repository: must be an image without tag or digest",
        ),
        (
            {"controlPlane": {"podDisruptionBudget": {"minAvailable": "half"}}},
            (
                "controlPlane.podDisruptionBudget.minAvailable: must be a number of pods, or "
                'a percentage from 0% to 100%, got "half"'
            ),
        ),
    ],
)
def test_B1_a_mistake_names_its_way_out(config: dict[str, Any], sentence: str) -> None:
    assert [line[: len(sentence)] for line in problems(config)] == [sentence]


def test_numbers_are_taken_as_quantities() -> None:
    limits = {"limits": {"cpu": 2, "memory": "4Gi"}}
    text = json.dumps({"resources": limits})
    read = load({"coder-stack:controlPlane": text}, "coder-stack")
    assert read.control_plane.resources.limits == {"cpu": "2", "memory": "4Gi"}
