"""Which token an operation uses, and to which coderd it is sent."""

import json

import pytest
from pydantic import SecretStr

from coder_stack.cluster.service_proxy import ServiceProxy
from coder_stack.coderd.errors import Unauthenticated
from coder_stack.connection import connection_of
from coder_stack.dynamic.runtime.config import StackConfig
from coder_stack.dynamic.runtime.session import ConnectionProps, Session, Sessions
from coder_stack.settings import Settings, load

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
    elsewhere = StackConfig(token=SecretStr("from-config"), targets=("http://127.0.0.1:9",))
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
        {"controlPlane": {"accessUrl": "https://a.test"}, "access": {"throughApiServer": False}},
        {"access": {"throughApiServer": False}},
        {"controlPlane": {"accessUrl": "https://a.test"}, "access": {"url": "https://b.test"}},
        {"controlPlane": {"accessUrl": "https://a.test"}, "access": {"throughApiServer": True}},
        {"controlPlane": {"namespace": "dev", "name": "mine"}},
        {"access": {"throughApiServer": True}},
        {"controlPlane": {"deploy": False, "accessUrl": "https://a.test"}},
        {
            "controlPlane": {"deploy": False, "accessUrl": "https://a.test"},
            "access": {"throughApiServer": True},
        },
        {"controlPlane": {"deploy": False}, "access": {"url": "https://b.test"}},
        {"controlPlane": {"deploy": False, "name": "c"}, "access": {"throughApiServer": True}},
        {"controlPlane": {"fromStack": "o/p/s"}, "access": {"url": "https://b.test"}},
        {"controlPlane": {"fromStack": "o/p/s"}, "access": {"throughApiServer": True}},
    ],
)
def test_CP10_provider_and_program_find_the_same_target_in_the_config(
    config: dict[str, object],
) -> None:
    texts = {f"coder-stack:{key}": json.dumps(value) for key, value in config.items()}
    settings: Settings = load(texts, "coder-stack")
    target = ConnectionProps.model_validate(connection_of(settings, token_given=False)).target
    assert StackConfig.read(texts.get).target == target


def test_F2_CP10_the_service_and_the_access_url_of_a_config_are_one_coderd() -> None:
    """A stack that was deployed by its access URL keeps its token, and so does its destroy."""
    plane = {"accessUrl": "https://coder.example.com", "namespace": "dev"}
    texts = {"coder-stack:controlPlane": json.dumps(plane), "coder-stack:token": "from-config"}
    config = StackConfig.read(texts.get)
    state = ConnectionProps(url="https://Coder.example.com/")
    service = ServiceProxy(namespace="dev", service="coder")
    for connection in (state, ConnectionProps(service_proxy=service)):
        assert config.canonical(connection.target) == "service dev/coder"
    assert token(Sessions().open(state, config, {})) == "from-config"
    other = ConnectionProps(url="https://old.example.com")
    with pytest.raises(Unauthenticated, match="is for service dev/coder and is not sent to"):
        Sessions().open(other, config, {}).source.token()


def test_F2_CP10_an_explicit_url_is_the_only_one() -> None:
    """Whoever sets it may have a coderd elsewhere than the access URL says."""
    parts = {
        "controlPlane": {"accessUrl": "https://a.test"},
        "access": {"url": "https://b.test"},
    }
    texts = {f"coder-stack:{key}": json.dumps(value) for key, value in parts.items()}
    assert StackConfig.read(texts.get).targets == ("https://b.test",)


def test_M3_CP10_an_existing_coderd_is_one_by_its_access_url_and_by_its_service() -> None:
    texts = {"coder-stack:controlPlane": '{"deploy": false, "accessUrl": "https://a.test"}'}
    assert StackConfig.read(texts.get).targets == ("https://a.test", "service coder/coder")


def test_M4_CP10_the_config_of_a_satellite_names_no_coderd_and_the_program_does() -> None:
    """Only the other stack's outputs tell its URL; a guess would keep the token from coderd."""
    texts = {
        "coder-stack:controlPlane": '{"fromStack": "o/p/s", "name": "c"}',
        "coder-stack:token": "from-config",
    }
    config = StackConfig.read(texts.get)
    assert (config.targets, config.target) == ((), "")
    assert token(Sessions().open(HERE, config, {})) == "from-config"


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


def test_F4_a_copy_of_the_program_has_its_keys_under_its_own_name() -> None:
    texts = {
        "acme:controlPlane": '{"accessUrl": "https://coder.example.com"}',
        "acme:kubernetes": '{"context": "c"}',
        "acme:initialPassword": "p",
    }
    read = StackConfig.read(texts.get, "acme")
    assert read.initial_password == SecretStr("p")
    assert (read.kubernetes.context, read.target) == ("c", "service coder/coder")
    assert "https://coder.example.com" in read.targets
    assert read.namespace == "acme"


@pytest.mark.parametrize("theirs", ["token", "kubernetes", "access", "drift"])
def test_F4_CP10_what_a_library_users_project_may_have_does_not_make_it_ours(theirs: str) -> None:
    texts = {f"their-app:{theirs}": "{}", "their-app:token": "t", "coder-stack:token": "ours"}
    read = StackConfig.read(texts.get, "their-app")
    assert (read.token, read.namespace) == (SecretStr("ours"), "coder-stack")
