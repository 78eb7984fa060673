"""The stack's config: defaults that can be seen, and every mistake at once (B1, CP2)."""

import json
from typing import Any

import pytest

from coder_stack.settings import ConfigError, Settings, load


def read(**keys: Any) -> Settings:
    """As Pulumi hands a config over: text, JSON where it is not text already."""
    texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in keys.items()}
    return load({f"coder-stack:{key}": text for key, text in texts.items()}, "coder-stack")


def problems(**keys: Any) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(**keys)
    return caught.value.problems


def test_CP2_an_empty_config_gives_the_visible_defaults() -> None:
    plane = read().control_plane
    assert plane.image.reference == "ghcr.io/coder/coder:v2.30.0"
    assert (plane.replicas, plane.service.type, plane.service.port) == (1, "ClusterIP", 80)


def test_fields_are_camel_case_and_have_one_spelling() -> None:
    assert read(controlPlane={"createNamespace": False}).control_plane.create_namespace is False
    assert problems(controlPlane={"create_namespace": False})[0].startswith(
        "controlPlane.create_namespace: is not a field; did you mean createNamespace?"
    )


def test_keys_of_other_namespaces_are_not_ours() -> None:
    assert load({"aws:region": "x"}, "coder-stack") == Settings()


def test_B1_every_mistake_is_reported_at_once_with_its_path() -> None:
    found = problems(
        controlPlan={},
        kubernetes="prod",
        controlPlane={
            "replicas": "three",
            "name": "Not_A_Name",
            "service": {"port": 70000, "typ": "ClusterIP"},
            "database": {},
            "workspaceNamespaces": ["fine", "Not fine"],
        },
    )
    assert [line.split(":")[0] for line in found] == [
        "controlPlan",
        "controlPlane.database.secretName",
        "controlPlane.name",
        "controlPlane.replicas",
        "controlPlane.service.port",
        "controlPlane.service.typ",
        "controlPlane.workspaceNamespaces[1]",
        "kubernetes",
    ]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"replicas": "3"}, 'controlPlane.replicas: input should be a valid integer, got "3"'),
        ({"replicas": True}, "controlPlane.replicas: input should be a valid integer, got true"),
        (
            {"replicas": -1},
            "controlPlane.replicas: input should be greater than or equal to 0, got -1",
        ),
        ({"image": "x"}, "controlPlane.image: must be a mapping, got text"),
        (
            {"name": "A"},
            (
                "controlPlane.name: must be a Kubernetes name: 1 to 63 of a-z, 0-9 and '-', "
                'beginning and ending with a letter or digit, got "A"'
            ),
        ),
        (
            {"service": {"type": "Magic"}},
            (
                "controlPlane.service.type: input should be 'ClusterIP', 'NodePort' or "
                "'LoadBalancer', got \"Magic\""
            ),
        ),
        (
            {"service": {"prot": 1}},
            (
                "controlPlane.service.prot: is not a field; did you mean port? "
                "known fields: annotations, port, tlsPort, type"
            ),
        ),
        ({"database": {}}, "controlPlane.database.secretName: set this or cloudNativePg"),
    ],
)
def test_B1_a_mistake_says_what_was_given_and_what_is_allowed(
    settings: dict[str, Any], sentence: str
) -> None:
    assert problems(controlPlane=settings) == [sentence]


def test_what_is_exported_reads_back_as_the_same_settings() -> None:
    wanted = read(controlPlane={"replicas": 3, "workspaceNamespaces": ["dev"]})
    exported = wanted.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert read(**exported) == wanted
