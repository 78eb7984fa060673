"""Which token an operation uses, and that connections do not mix."""

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
STATE = {"connection": {"url": "http://127.0.0.1:1"}, "token": "of-an-old-state"}


def token(link: Session) -> str | None:
    return link.token.get_secret_value() if link.token else None


def test_CP10_this_run_before_its_home_before_an_old_state() -> None:
    connections, config = Sessions(), StackConfig()
    assert token(connections.open(HERE, config, {})) is None
    assert token(connections.open(HERE, config, STATE)) == "of-an-old-state"
    configured = StackConfig(token=SecretStr("from-config"))
    assert token(connections.open(HERE, configured, STATE)) == "from-config"
    connections.use_given_token(HERE, SecretStr("from-run"))
    assert token(connections.open(HERE, configured, STATE)) == "from-run"


def test_CP10_a_token_for_one_coderd_is_never_sent_to_another() -> None:
    connections = Sessions()
    connections.use_given_token(HERE, SecretStr("from-run"))
    assert token(connections.open(THERE, StackConfig(), {})) is None
    assert token(connections.open(THERE, StackConfig(), STATE)) is None, "nor one of an old state"
    elsewhere = StackConfig(token=SecretStr("from-config"), target="http://127.0.0.1:9")
    with pytest.raises(Unauthenticated, match=r"is for http://127\.0\.0\.1:9 and is not sent to"):
        connections.open(THERE, elsewhere, {}).source.token()


def test_CP10_the_program_says_whose_the_configs_token_is_if_the_config_does_not() -> None:
    """A stack that moved from a URL to the defaults, which name no address."""
    connections, config = Sessions(), StackConfig(token=SecretStr("from-config"))
    assert token(connections.open(THERE, config, {})) == "from-config", "a destroy has no program"
    connections = Sessions()
    connections.use_given_token(HERE, SecretStr("from-config"))
    assert token(connections.open(HERE, config, {})) == "from-config"
    with pytest.raises(Unauthenticated, match=r"is for http://127\.0\.0\.1:1 and is not sent to"):
        connections.open(THERE, config, {}).source.token()


def test_a_new_token_is_everybodys_at_once_and_the_lists_stay_shared() -> None:
    connections = Sessions()
    link = connections.open(HERE, StackConfig(), STATE)
    assert token(link.with_token(SecretStr("renewed"))) == "renewed"
    other = connections.open(HERE, StackConfig(), STATE)
    assert token(other) == "renewed"
    assert other.lists is link.lists


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
def test_CP10_the_provider_reads_the_same_coderd_out_of_the_config_as_the_program(
    config: dict[str, object],
) -> None:
    texts = {f"coder-stack:{key}": json.dumps(value) for key, value in config.items()}
    settings: Settings = load(texts, "coder-stack")
    target = ConnectionProps.model_validate(connection_of(settings)).target
    assert StackConfig.read(texts.get).target == target


def test_a_look_in_passing_gives_up_sooner() -> None:
    link = Sessions().open(HERE, StackConfig(), STATE)
    assert link.fail_fast.connection.deadlines.total < link.coderd.connection.deadlines.total
    assert link.fail_fast.token_source is link.coderd.token_source


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
    assert (
        StackConfig.read({"coder-stack:kubernetes": "not json"}.get).kubernetes.kubeconfig is None
    )
