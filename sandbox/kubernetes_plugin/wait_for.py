"""The annotation `pulumi.com/waitFor`: wait for conditions in an object's status.

As in the official plugin (and `kubectl wait`): `condition=Type` or `condition=Type=Status`, or a
JSON list of them, all of which must hold. It replaces the rule of the object's kind. JSONPath
expressions are refused, and so is, before anything is created, what the official plugin refuses.
"""

import json
from dataclasses import dataclass
from typing import Final

from sandbox.kubernetes_plugin.errors import PluginError, Unsupported
from sandbox.kubernetes_plugin.objects import WAIT_FOR
from sandbox.kubernetes_plugin.readiness import READY, Readiness, waiting
from sandbox.kubernetes_plugin.values import Object, Value, as_int, as_list, as_object, as_text, dig

_CONDITION: Final = "condition="
_JSON_PATH: Final = "jsonpath="


@dataclass(frozen=True)
class ExpectedCondition:
    """A condition's type, and the status that it must have."""

    type: str
    status: str


def parse(text: str) -> tuple[ExpectedCondition, ...]:
    """Parse the annotation's value; empty if it is not set."""
    return tuple(_parsed(each) for each in _expressions(text)) if text else ()


def _expressions(text: str) -> list[str]:
    try:
        listed: Value = json.loads(text)
    except ValueError:
        return [text]
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        return [text]
    if not listed:
        raise PluginError(f"{WAIT_FOR}: at least one condition must be specified")
    return [as_text(each) for each in listed]


def _parsed(expression: str) -> ExpectedCondition:
    if expression.startswith(_JSON_PATH):
        raise Unsupported(f"the annotation `{WAIT_FOR}: {expression}`")
    if not expression.startswith(_CONDITION):
        raise PluginError(
            f'{WAIT_FOR}: expected a "{_JSON_PATH}" or "{_CONDITION}" prefix, got "{expression}"'
        )
    kind, equals, status = expression.removeprefix(_CONDITION).partition("=")
    return ExpectedCondition(kind, status if equals else "True")


def judge_conditions(obj: Object, expected: tuple[ExpectedCondition, ...]) -> Readiness:
    """Require every expected condition."""
    reasons = [told for each in expected if (told := _missing(obj, each))]
    return waiting(*reasons) if reasons else READY


def _missing(obj: Object, expected: ExpectedCondition) -> str:
    """Return why the condition does not hold; empty if it does. Case does not matter."""
    for entry in map(as_object, as_list(dig(obj, "status", "conditions"))):
        status = entry.get("status")
        if as_text(entry.get("type")).lower() != expected.type.lower() or status is None:
            continue
        if _outdated(obj, entry):
            return f"condition {expected.type} is of an earlier generation"
        if as_text(status).lower() == expected.status.lower():
            return ""
        why = ": ".join(filter(None, (as_text(entry.get(key)) for key in ("reason", "message"))))
        told = f"condition {expected.type} is {as_text(status)}, not {expected.status}"
        return f"{told} ({why})" if why else told
    return f"there is no condition {expected.type} yet"


def _outdated(obj: Object, entry: Object) -> bool:
    observed = entry.get("observedGeneration", dig(obj, "status", "observedGeneration"))
    return observed is not None and as_int(observed) < as_int(dig(obj, "metadata", "generation"))
