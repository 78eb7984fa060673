"""B1: secrets in a config are never shown, and no input at all ends in a traceback."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_stack.settings import SECRETS, ConfigError, Settings, load
from tests.unit.config_problems import paths, problems

KEYS = [info.alias or name for name, info in Settings.model_fields.items()]


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
