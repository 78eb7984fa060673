"""Which token an operation uses, and that connections do not mix."""

from pydantic import SecretStr

from coder_stack.dynamic.connection import ConnectionProps, Connections, Link, StackConfig

HERE = ConnectionProps(url="http://127.0.0.1:1")
THERE = ConnectionProps(url="http://127.0.0.1:2")
STATE = {"token": "from-state"}


def token(link: Link) -> str | None:
    assert link.token == link.coderd.connection.token
    return link.token.get_secret_value() if link.token else None


def test_CP6_config_before_this_run_before_state() -> None:
    connections, config = Connections(), StackConfig()
    assert token(connections.link(HERE, config, {})) is None
    assert token(connections.link(HERE, config, STATE)) == "from-state"
    connections.hand_over(HERE, SecretStr("from-run"))
    assert token(connections.link(HERE, config, STATE)) == "from-run"
    configured = StackConfig(token=SecretStr("from-config"))
    assert token(connections.link(HERE, configured, STATE)) == "from-config"


def test_a_token_for_one_coderd_is_never_sent_to_another() -> None:
    connections = Connections()
    connections.hand_over(HERE, SecretStr("from-run"))
    assert token(connections.link(THERE, StackConfig(), {})) is None


def test_a_new_token_is_everybodys_at_once_and_the_lists_stay_shared() -> None:
    connections = Connections()
    link = connections.link(HERE, StackConfig(), STATE)
    assert token(link.with_token(SecretStr("renewed"))) == "renewed"
    other = connections.link(HERE, StackConfig(), STATE)
    assert token(other) == "renewed"
    assert other.lists is link.lists


def test_a_look_in_passing_gives_up_sooner() -> None:
    link = Connections().link(HERE, StackConfig(), STATE)
    assert link.quick.connection.deadlines.total < link.coderd.connection.deadlines.total
    assert link.quick.connection.token == link.token


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
