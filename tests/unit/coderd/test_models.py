"""How the client reads coderd's successful responses."""

import json
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

import httpx
import pytest
from pydantic import BaseModel, SecretStr, ValidationError

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.models import EntitlementsRecord, Tier
from tests.unit.coderd.every_call import EVERY_CALL
from tests.unit.coderd.fakes import ID, PASSWORD, answer, coderd
from tests.unit.coderd.good_answers import DAEMON, ENTITLEMENTS, GOOD, KEY_ITEM, PROXY

LISTS = (
    "organizations",
    "licenses",
    "provisioner_keys",
    "daemons_by_key",
)


def serving(method: str) -> Coderd:
    return coderd(lambda _: answer(*GOOD[method]))


@pytest.mark.parametrize("method", EVERY_CALL)
def test_every_good_answer_is_read(method: str) -> None:
    EVERY_CALL[method](serving(method))


@pytest.mark.parametrize("method", EVERY_CALL)
def test_what_is_shown_once_is_not_shown_by_the_model(method: str) -> None:
    result = EVERY_CALL[method](serving(method))

    assert "SECRET" not in repr(result)
    assert "SECRET" not in str(result)


@pytest.mark.parametrize("method", LISTS)
def test_null_is_an_empty_list(method: str) -> None:
    """Go writes a nil slice as null: no licenses, no tokens."""
    assert EVERY_CALL[method](coderd(lambda _: answer(200, b"null"))) == ()


def test_null_inside_an_answer_is_empty_too() -> None:
    nulls = {"tags": None, "provisioners": None, "last_seen_at": None, "key_id": None}
    body = [{"key": KEY_ITEM | {"tags": None}, "daemons": [DAEMON | nulls]}]

    (found,) = coderd(lambda _: answer(200, body)).daemons_by_key("dev")

    assert found.key.tags == {}
    assert found.daemons[0].provisioners == ()
    assert coderd(lambda _: answer(200, {"regions": None})).workspace_proxies() == ()


def test_models_are_frozen() -> None:
    build = serving("build_info").build_info()

    with pytest.raises(ValidationError):
        cast("Any", build).version = "v0"


def test_a_new_token_knows_its_public_id() -> None:
    assert serving("create_token").create_token("stack").id == "tokentoken"


def test_a_lifetime_is_sent_in_nanoseconds() -> None:
    sent: list[Any] = []

    def server(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return answer(*GOOD["create_token"])

    coderd(server).create_token("a", lifetime=timedelta(days=7))
    coderd(server).create_token("b", scopes=["coder:all"])

    assert sent == [
        {"token_name": "a", "lifetime": 604_800_000_000_000},
        {"token_name": "b", "scopes": ["coder:all"]},
    ]


def test_the_longest_lifetime_is_read_from_nanoseconds() -> None:
    assert serving("token_config").token_config().longest == timedelta(days=7)


def test_a_first_user_may_exist_or_not() -> None:
    there = serving("has_first_user")
    body = {"message": "The initial user has not been created!"}

    assert there.has_first_user()
    assert not coderd(lambda _: answer(404, body)).has_first_user()
    assert not coderd(lambda _: answer(404, body, ours=False)).has_first_user()


def test_a_first_user_whose_answer_is_empty_was_created() -> None:
    """Coderd returns 200 without a body when the refresh of entitlements fails afterwards."""
    client = coderd(lambda _: answer(200, b""))

    created = client.create_first_user(email="a", username="b", password=SecretStr(PASSWORD))

    assert created.user_id is None


def test_a_proxy_is_updated_with_all_its_texts() -> None:
    sent: list[Any] = []

    def server(request: httpx.Request) -> httpx.Response:
        sent.append((request.method, request.url.path, json.loads(request.content)))
        return answer(200, {"proxy": PROXY, "proxy_token": ""})

    result = coderd(server).update_workspace_proxy(
        UUID(ID), name="eu", display_name="Europe", icon="/i.png"
    )

    body = {"id": ID, "name": "eu", "display_name": "Europe", "icon": "/i.png"}
    assert sent == [("PATCH", f"/api/v2/workspaceproxies/{ID}", body | {"regenerate_token": False})]
    assert result.proxy_token.get_secret_value() == ""
    assert result.proxy.status.report.errors == ()


def test_an_organization_is_updated_in_what_is_given() -> None:
    """Coderd keeps what is absent, and stores an empty description."""
    sent: list[Any] = []

    def server(request: httpx.Request) -> httpx.Response:
        sent.append((request.method, request.url.path, json.loads(request.content)))
        return answer(*GOOD["update_organization"])

    coderd(server).update_organization(UUID(ID), display_name="Dev", description="")

    body = {"display_name": "Dev", "description": ""}
    assert sent == [("PATCH", f"/api/v2/organizations/{ID}", body)]


def test_workspaces_are_counted_without_being_listed() -> None:
    asked: list[httpx.URL] = []

    def server(request: httpx.Request) -> httpx.Response:
        asked.append(request.url)
        return answer(*GOOD["workspace_count"])

    assert coderd(server).workspace_count(UUID(ID)) == 2
    assert dict(asked[0].params) == {"q": f"organization:{ID}", "limit": "1"}


def entitled(*features: str, **others: Any) -> EntitlementsRecord:
    named = {name: {"entitlement": "entitled", "enabled": True} for name in features}
    return EntitlementsRecord.model_validate(ENTITLEMENTS | {"features": named} | others)


@pytest.mark.parametrize(
    ("entitlements", "tier"),
    [
        (entitled(has_license=False), "none"),
        (entitled("custom_roles", trial=True), "trial"),
        (entitled("custom_roles"), "premium"),
        (entitled("multiple_organizations"), "premium"),
        (entitled("workspace_proxy"), "enterprise"),
    ],
)
def test_E1_the_tier_follows_from_the_features(
    entitlements: EntitlementsRecord, tier: Tier
) -> None:
    assert entitlements.tier == tier


def test_E3_grace_is_entitled_and_unknown_is_not() -> None:
    entitlements = EntitlementsRecord.model_validate(ENTITLEMENTS)

    assert entitlements.entitled("user_limit")
    assert not entitlements.entitled("custom_roles")
    assert not entitlements.entitled("a_feature_of_the_future")


def test_every_answer_is_a_frozen_model_that_ignores_what_it_does_not_know() -> None:
    for method in EVERY_CALL:
        result = EVERY_CALL[method](serving(method))
        models = result if isinstance(result, tuple) else (result,)
        for model in cast("tuple[object, ...]", models):
            if isinstance(model, BaseModel):
                assert model.model_config.get("frozen")
                assert model.model_config.get("extra") == "ignore"
