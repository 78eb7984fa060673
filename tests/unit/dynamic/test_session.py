"""Which token an operation uses, and to which coderd it is sent."""

import json

import pytest
from pydantic import SecretStr

from coder_stack.coderd.errors import Unauthenticated
from coder_stack.dynamic.runtime.config import StackConfig
from coder_stack.dynamic.runtime.session import ConnectionProps, Session, Sessions
from coder_stack.settings import Settings, load
from coder_stack.stack import connection_of

HERE = ConnectionProps(url="http://127.0.0.1:1")
THERE = ConnectionProps(url="http://127.0.0.1:2")
STATE = {"connection": {"url": "http://127.0.0.1:1"}, "token": "from-old-state"}


def token(session: Session) -> str | None:
    return session.token.get_secret_value() if session.token else None


def test_CP10_the_token_of_this_run_precedes_the_stored_one_and_that_of_an_old_state() -> None:
    sessions, config = Sessions(), StackConfig()
    assert token(sessions.open(HERE, config, {})) is None
    assert token(sessions.open(HERE, config, STATE)) == "from-old-state"
    configured = StackConfig(token=SecretStr("from-config"))
    assert token(sessions.open(HERE, configured, STATE)) == "from-config"
    sessions.use_given_token(HERE, SecretStr("from-run"))
    assert token(sessions.open(HERE, configured, STATE)) == "from-run"


def test_CP10_a_token_for_one_coderd_is_never_sent_to_another() -> None:
    sessions = Sessions()
    sessions.use_given_token(HERE, SecretStr("from-run"))
    assert token(sessions.open(THERE, StackConfig(), {})) is None
    assert token(sessions.open(THERE, StackConfig(), STATE)) is None, "nor that of an old state"
    elsewhere = StackConfig(token=SecretStr("from-config"), target="http://127.0.0.1:9")
    with pytest.raises(Unauthenticated, match=r"is for http://127\.0\.0\.1:9 and is not sent to"):
        sessions.open(THERE, elsewhere, {}).source.token()


def test_CP10_the_program_names_the_target_of_the_configs_token_if_the_config_does_not() -> None:
    """E.g. in a stack that moved from a URL to the defaults, which name no address."""
    sessions, config = Sessions(), StackConfig(token=SecretStr("from-config"))
    assert token(sessions.open(THERE, config, {})) == "from-config", "a destroy has no program"
    sessions = Sessions()
    sessions.use_given_token(HERE, SecretStr("from-config"))
    assert token(sessions.open(HERE, config, {})) == "from-config"
    with pytest.raises(Unauthenticated, match=r"is for http://127\.0\.0\.1:1 and is not sent to"):
        sessions.open(THERE, config, {}).source.token()


def test_all_sessions_of_a_connection_share_a_new_token_and_what_is_cached() -> None:
    sessions = Sessions()
    session = sessions.open(HERE, StackConfig(), STATE)
    assert token(session.with_token(SecretStr("renewed"))) == "renewed"
    other = sessions.open(HERE, StackConfig(), STATE)
    assert token(other) == "renewed"
    assert other.shared is session.shared, "cached lists and the outage budget"


@pytest.mark.parametrize(
    "config",
    [
        {"access": {"url": "https://Coder.example.com/"}},
        {"controlPlane": {"accessUrl": "https://coder.example.com"}},
        {"controlPlane": {"accessUrl": "https://a.test"}, "access": {"url": "https://b.test"}},
        {"controlPlane": {"accessUrl": "https://a.test"}, "access": {"throughApiServer": True}},
        {"controlPlane": {"namespace": "dev", "name": "mine"}},
        {"access": {"throughApiServer": True}},
    ],
)
def test_CP10_provider_and_program_find_the_same_target_in_the_config(
    config: dict[str, object],
) -> None:
    texts = {f"coder-stack:{key}": json.dumps(value) for key, value in config.items()}
    settings: Settings = load(texts, "coder-stack")
    target = ConnectionProps.model_validate(connection_of(settings)).target
    assert StackConfig.read(texts.get).target == target


def test_a_fail_fast_client_has_a_shorter_deadline_and_the_same_token() -> None:
    session = Sessions().open(HERE, StackConfig(), STATE)
    assert session.fail_fast.connection.deadlines.total < session.coderd.connection.deadlines.total
    assert session.fail_fast.token_source is session.coderd.token_source


def test_the_stack_config_may_lack_everything_or_be_wrong() -> None:
    assert StackConfig.read({}.get) == StackConfig()
    texts = {
        "coder-stack:token": "a-token",
        "coder-stack:kubernetes": '{"kubeconfig": "k.yaml", "context": "c"}',
    }
    read = StackConfig.read(texts.get)
    assert read.token == SecretStr("a-token")
    assert (read.kubernetes.kubeconfig, read.kubernetes.context) == ("k.yaml", "c")
    assert "a-token" not in repr(read)
    wrong = StackConfig.read({"coder-stack:kubernetes": "not json"}.get)
    assert wrong.kubernetes.kubeconfig is None
