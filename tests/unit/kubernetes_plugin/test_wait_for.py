"""The annotation `pulumi.com/waitFor`: what it means, and what is refused."""

from typing import Any

import pytest

from sandbox.kubernetes_plugin.errors import PluginError, Unsupported
from sandbox.kubernetes_plugin.values import Object
from sandbox.kubernetes_plugin.wait_for import judge_conditions, parse


def thing(*conditions: dict[str, Any], generation: int = 2, **status: Any) -> Object:
    return {
        "metadata": {"name": "x", "generation": generation},
        "status": {**status, "conditions": list(conditions)},
    }


def reasons(obj: Object, text: str = "condition=Ready") -> list[str]:
    return judge_conditions(obj, parse(text)).reasons


READY = {"type": "Ready", "status": "True"}
SYNCED = {"type": "Synced", "status": "Unknown"}


@pytest.mark.parametrize(
    "text",
    ["condition=Ready", "condition=ready=true", '["condition=Ready"]', "condition=Synced=Unknown"],
)
def test_a_condition_holds_in_any_case(text: str) -> None:
    assert judge_conditions(thing(READY, SYNCED), parse(text)).ready


@pytest.mark.parametrize(
    ("obj", "told"),
    [
        ({"metadata": {}}, "there is no condition Ready yet"),
        (thing(SYNCED), "there is no condition Ready yet"),
        (thing({"type": "Ready"}), "there is no condition Ready yet"),
        (
            thing({"type": "Ready", "status": "False", "reason": "Down", "message": "no disk"}),
            "condition Ready is False, not True (Down: no disk)",
        ),
        (
            thing(READY, observedGeneration=1),
            "condition Ready is of an earlier generation",
        ),
        (
            thing({**READY, "observedGeneration": 1}, observedGeneration=2),
            "condition Ready is of an earlier generation",
        ),
    ],
)
def test_until_then_it_says_why_not(obj: Object, told: str) -> None:
    assert reasons(obj) == [told]


def test_all_of_several_must_hold() -> None:
    assert reasons(thing(READY, SYNCED), '["condition=Ready", "condition=Synced"]') == [
        "condition Synced is Unknown, not True"
    ]


def test_an_empty_status_is_never_met() -> None:
    assert reasons(thing(READY), "condition=Ready=") == ["condition Ready is True, not "]


def test_what_the_official_plugin_refuses_is_refused() -> None:
    with pytest.raises(PluginError, match='expected a "jsonpath=" or "condition=" prefix'):
        parse("Ready")
    with pytest.raises(PluginError, match="at least one condition"):
        parse("[]")


def test_json_path_is_left_to_the_official_plugin() -> None:
    with pytest.raises(Unsupported, match="jsonpath"):
        parse('["condition=Ready", "jsonpath={.status.phase}=Running"]')


def test_without_the_annotation_the_kinds_own_rule_counts() -> None:
    assert parse("") == ()
