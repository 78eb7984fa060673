"""Which names and values count as secrets; a wrong alarm costs trust, a missed one a secret."""

import pytest

from secret_detection import is_plain_secret, looks_secret, names_secret


@pytest.mark.parametrize(
    "name",
    [
        "CODER_PROXY_SESSION_TOKEN",
        "CODER_PROVISIONER_DAEMON_KEY",
        "CODER_PROVISIONER_DAEMON_PSK",
        "CODER_OIDC_CLIENT_SECRET",
        "CODER_EXTERNAL_TOKEN_ENCRYPTION_KEYS",
        "CODER_LICENSE",
        "PGPASSWORD",
        "DB_PASSWORD",
        "apiKey",
        "clientSecret",
        "aws-access-key",
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert names_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "CODER_MAX_TOKEN_LIFETIME",
        "CODER_DISABLE_PASSWORD_AUTH",
        "CODER_TLS_KEY_FILE",
        "CODER_SSH_KEYGEN_ALGORITHM",
        "CODER_OIDC_CLIENT_ID",
        "CODER_PROVISIONER_DAEMON_NAME",
        "SSH_PUBLIC_KEY",
        "MONKEY",
        "",
    ],
)
def test_names_of_other_things(name: str) -> None:
    assert not names_secret(name)


@pytest.mark.parametrize(
    "value",
    [
        "eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiI0MiJ9.c2lnbmF0dXJlLW9m",
        "-----BEGIN EC PRIVATE KEY-----\nMHc…",
        "postgres://coder:hunter22@db:5432/coder",
        "see https://user:pass@example.com",
        "0123456789-abcdefghijklmnopqrstuv",
    ],
)
def test_values_that_look_like_a_secret(value: str) -> None:
    assert looks_secret(value)
    assert is_plain_secret("ANYTHING", f"x {value}")


@pytest.mark.parametrize(
    "value",
    [
        "https://coder.example.com:8443/path",
        "postgres://coder@db:5432/coder",
        "postgres://coder:$(PASSWORD)@db/coder",
        "ghcr.io/coder/coder:v2.30.0@sha256:" + "0f" * 32,
        "-----BEGIN CERTIFICATE-----",
        "550e8400-e29b-41d4-a716-446655440000",
        "coder-provisioner-7d4b9c6f5d-x2x9z",
    ],
)
def test_values_that_do_not(value: str) -> None:
    assert not looks_secret(value)


@pytest.mark.parametrize("value", ["", "true", "False", "3600", "/run/secrets/token", "$(OTHER)"])
def test_a_value_that_cannot_be_one_is_let_through_whatever_its_name(value: str) -> None:
    assert not is_plain_secret("SESSION_TOKEN", value)
    assert is_plain_secret("SESSION_TOKEN", "hunter22")
