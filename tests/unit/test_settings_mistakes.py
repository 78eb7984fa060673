"""B1 beyond single fields: what must fit together, secrets, and any input at all."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_stack.settings import SECRETS, ConfigError, Settings, load

KEYS = [info.alias or name for name, info in Settings.model_fields.items()]
PROXY = {"name": "far", "accessUrl": "https://far.example.com"}


def problems(
    config: dict[str, Any], secrets: dict[str, str] | None = None, encrypted: tuple[str, ...] = ()
) -> list[str]:
    """Every mistake of a config with these encrypted secrets; none is an empty list."""
    texts = {f"coder-stack:{k}": json.dumps(v) for k, v in config.items()}
    texts |= {f"coder-stack:{k}": v for k, v in (secrets or {}).items()}
    hidden = [f"coder-stack:{key}" for key in (*(secrets or {}), *encrypted)]
    try:
        load(texts, "coder-stack", hidden)
    except ConfigError as error:
        return error.problems
    return []


def paths(config: dict[str, Any], secrets: dict[str, str] | None = None) -> list[str]:
    return [line.split(": ")[0] for line in problems(config, secrets)]


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


@pytest.mark.parametrize("key", SECRETS)
def test_B1_a_secret_must_be_encrypted_and_is_not_shown(key: str) -> None:
    found = problems({key: "hunter2"})
    assert found == [f"{key}: must be encrypted; set it with: pulumi config set --secret {key}"]


def test_B1_only_secrets_may_be_encrypted() -> None:
    """Else what was meant to be secret would stand in previews and in the output `settings`."""
    found = problems({"controlPlane": {"env": {"P": "hunter2"}}}, encrypted=("controlPlane",))
    assert len(found) == 1
    assert found[0].startswith("controlPlane: must not be encrypted")
    assert "hunter2" not in found[0]


@pytest.mark.parametrize(
    ("config", "secrets", "expected"),
    [
        ({"access": {"tokenSecret": {"name": "s"}}}, ["token"], ["access.tokenSecret"]),
        ({"license": {"secret": {"name": "s"}}}, ["licenseJwt"], ["license.secret"]),
        ({}, ["token", "initialPassword"], ["initialPassword"]),
        ({"access": {"tokenSecret": {"name": "s"}}}, ["initialPassword"], ["initialPassword"]),
        ({}, ["token", "licenseJwt"], []),
        ({}, ["initialPassword", "licenseJwt"], []),
    ],
)
def test_B1_secrets_that_contradict_the_config(
    config: dict[str, Any], secrets: list[str], expected: list[str]
) -> None:
    assert paths(config, dict.fromkeys(secrets, "hunter2")) == expected


@pytest.mark.parametrize(
    "config",
    [
        {"license": "hunter2"},
        {"license": {"secret": "hunter2"}},
        {"access": {"token": "hunter2"}},
        {"access": {"tokenSecret": {"name": "Hunter2 hunter2"}}},
        {"controlPlane": {"database": "postgres://coder:hunter2@db/coder"}},
        {"controlPlane": {"database": {"secretName": "postgres://coder:hunter2@db/coder"}}},
        {"controlPlane": {"secretEnv": {"PASSWORD": "hunter2"}}},
        {"controlPlane": {"accessUrl": "https://coder:hunter2@x.example.com"}},
        {"controlPlane": {"image": {"tag": "eyJhunter2.eyJh.b c"}}},
        {"controlPlane": [{"env": {"A": "hunter2"}}]},
        {"controlPlane": '{"env": {"A": "hunter2"}'},
    ],
)
def test_B1_a_secret_in_the_wrong_field_is_not_shown(config: dict[str, Any]) -> None:
    found = problems(config)
    assert found
    assert "hunter2" not in "\n".join(found).lower()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
field_names = st.sampled_from(
    sorted(
        {
            info.alias or name
            for top in Settings.model_fields.values()
            for part in (top.annotation, *getattr(top.annotation, "__args__", ()))
            if hasattr(part, "model_fields")
            for name, info in part.model_fields.items()
        }
    )
)
# Real field names, so that the search gets past the first refusal.
configs = st.dictionaries(
    st.sampled_from(KEYS) | st.text(),
    json_values
    | st.dictionaries(field_names, json_values)
    | st.lists(st.dictionaries(field_names, json_values), max_size=3),
)
HIDDEN = "hunter2-4f1c9a"


@given(configs, st.sets(st.sampled_from(sorted(SECRETS))), st.sets(st.sampled_from(KEYS)))
def test_B1_any_config_gives_settings_or_a_config_error_without_its_secrets(
    config: dict[str, Any], secrets: set[str], encrypted: set[str]
) -> None:
    given_config = {key: value for key, value in config.items() if key not in SECRETS}
    for key in encrypted:
        given_config[key] = {HIDDEN: HIDDEN, "env": {"A": HIDDEN}, "name": HIDDEN.upper()}
    found = problems(given_config, dict.fromkeys(secrets, HIDDEN), tuple(encrypted))
    text = "\n".join(found)
    assert HIDDEN not in text.lower()
    text.encode()  # it can be printed


@given(st.sampled_from(KEYS), st.text())
def test_B1_any_text_that_is_no_json_gives_settings_or_a_config_error(key: str, text: str) -> None:
    with pytest.raises(ConfigError):
        load({f"coder-stack:{key}": f"[{text}"}, "coder-stack")


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5000, "NaN", '"\\ud800"', '{"\\ud800": 1}'])
def test_B1_json_that_python_stumbles_over_is_a_config_error(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load({"coder-stack:controlPlane": text}, "coder-stack")
    assert len(str(caught.value)) < 2000
    str(caught.value).encode()
