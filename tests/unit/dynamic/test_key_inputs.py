"""What `check` makes of a key's inputs: the same whenever it is asked again."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from coder_stack.dynamic.workspace_proxy import WorkspaceProxyRegistrationProvider

CONNECTION = {"url": "https://coder.test"}
TEXT = st.text("abcXYZ019-_. ", min_size=1, max_size=20).map(str.strip).filter(lambda t: t > ".")
KEYS = st.fixed_dictionaries(
    {
        "connection": st.just(CONNECTION),
        "organization": TEXT,
        "base_name": TEXT.filter(lambda t: t not in (".", "..")),
        "deployment_id": st.uuids().map(str),
    },
    optional={
        "tags": st.dictionaries(TEXT, TEXT, max_size=3),
        "exact_name": st.booleans(),
        "trigger": TEXT,
        # Numbers come over the wire as floats.
        "rotate_after_days": st.integers(1, 999).map(float),
        "enabled": st.booleans(),
    },
)
PROXIES = st.fixed_dictionaries(
    {"connection": st.just(CONNECTION), "name": TEXT},
    optional={"display_name": TEXT, "icon": TEXT, "trigger": TEXT, "enabled": st.booleans()},
)
# A busy machine is no fault of the rules.
UNHURRIED = settings(deadline=None)


def checked(provider: Any, olds: dict[str, Any], news: dict[str, Any]) -> dict[str, Any]:
    result = provider.check(olds, news)
    assert result.failures == []
    return result.inputs


@UNHURRIED
@given(KEYS)
def test_checking_a_key_again_changes_nothing(news: dict[str, Any]) -> None:
    provider = ProvisionerKeyProvider()
    once = checked(provider, {}, news)
    assert checked(provider, once, news) == once
    assert checked(provider, once, once) == once


@UNHURRIED
@given(KEYS, KEYS)
def test_E5_a_closed_gate_keeps_all_that_makes_the_key_and_names_what_waits(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    provider = ProvisionerKeyProvider()
    held = checked(provider, {}, {**before, "enabled": True})
    news = checked(provider, held, {**after, "enabled": False})
    assert {k: news.get(k) for k in provider.replace_on} == {
        k: held.get(k) for k in provider.replace_on
    }
    assert provider.diff("a-key", held, news).replaces is None
    moved = before["organization"] != after["organization"]
    assert ("organization" in news["deferred"]) == moved
    assert checked(provider, news, {**after, "enabled": False}) == news


@UNHURRIED
@given(PROXIES)
def test_checking_a_proxy_again_changes_nothing_and_coderd_could_change_it(
    news: dict[str, Any],
) -> None:
    provider = WorkspaceProxyRegistrationProvider()
    once = checked(provider, {}, news)
    assert checked(provider, once, news) == once
    assert once["display_name"]
    assert once["icon"]
