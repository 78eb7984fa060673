"""Environment variables: `env` of a chart to `env` and `secretEnv`, some to fields of their own.

A value that may be a secret is neither copied nor shown. Pure.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from coder_stack.start.from_helm import plain_secrets
from coder_stack.start.from_helm.outcomes import Outcome, Path, at, shown, translated, unmatched
from coder_stack.start.from_helm.rules import IN_PLAIN_TEXT, Rule, Scope, items, to, unneeded

Variable = Callable[[Scope, Path, Any], Iterator[Outcome]]
"""A rule for one item of `env`, which has a name and more."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET_KEYS = {"name", "key", "optional"}


def variables(own: Mapping[str, Variable], others: Variable | None = None) -> Rule:
    """Translate a list of variables: some by their names, the others all in the same way."""

    def rule(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
        if not isinstance(value, list):
            yield unmatched(path, "must be a list")
            return
        names = [_name(each) for each in items(value)]
        for index, (name, item) in enumerate(zip(names, items(value), strict=True)):
            here = (*path, index)
            if not name:
                yield unmatched(here, "must have a name: letters, digits and '_'")
            elif name in names[index + 1 :]:
                yield unneeded(here, "a later item has the same name, and wins").named(name)
            else:
                translate = own.get(name, others or copied)
                yield from (each.named(name) for each in translate(scope, here, item))

    return rule


def copied(scope: Scope, path: Path, item: Any) -> Iterator[Outcome]:
    """Copy a variable to `env`, or to `secretEnv` if its value is in a Secret."""
    name = str(_name(item))
    secret = secret_of(item)
    if secret is not None:
        found = {"name": secret.get("name"), "key": secret.get("key")}
        yield from _from_secret(
            path, secret, translated(path, scope.place(_at("secret", name), found))
        )
    elif "valueFrom" in item:
        where = shown((*scope.home, "env"))
        what = "only values in Secrets have a counterpart; a ConfigMap can be under"
        yield unmatched(path, f"{what} {shown((*scope.home, 'envFrom'))}, a value under {where}")
    elif item.keys() - {"name", "value"}:
        yield unmatched(path, "must have only a name and a value")
    else:
        yield _plain(scope, path, name, item.get("value"))


def _plain(scope: Scope, path: Path, name: str, value: Any) -> Outcome:
    text = _text(value)
    if text is None:
        return unmatched(path, "its value must be text")
    if plain_secrets.in_variable(name, text):
        return unmatched(path, f"{IN_PLAIN_TEXT} {shown((*scope.home, *_at('secret', name)))}")
    return translated(path, scope.place(_at("plain", name), text))


def _at(kind: str, name: str) -> tuple[str, str]:
    return ("secretEnv" if kind == "secret" else "env", name)


def plain_to(field: str) -> Variable:
    """Copy a variable's plain value to a field of its own."""

    def rule(scope: Scope, path: Path, item: Any) -> Iterator[Outcome]:
        value = item.get("value")
        if item.keys() != {"name", "value"} or not isinstance(value, str):
            where = shown((*scope.home, *field.split(".")))
            yield unmatched(path, f"its value is not in the values: set {where} to it")
        elif not value:
            yield unneeded(path, "is empty: the default applies")
        else:
            yield from to(field)(scope, path, value)

    return rule


def secret_to(name_field: str, key_field: str, **more: Any) -> Variable:
    """Copy the name and key of a Secret to fields of their own."""

    def rule(scope: Scope, path: Path, item: Any) -> Iterator[Outcome]:
        secret = secret_of(item)
        if secret is None:
            where = shown((*scope.home, *name_field.split(".")))
            yield unmatched(path, f"{IN_PLAIN_TEXT} {where}")
            return
        places = [scope.place(name_field, secret.get("name"))]
        places += [scope.place(field.replace("_", "."), value) for field, value in more.items()]
        if secret.get("key") != scope.default(key_field):
            places.append(scope.place(key_field, secret.get("key")))
        yield from _from_secret(path, secret, translated(path, *places))

    return rule


def secret_of(item: Any) -> dict[str, Any] | None:
    """Return the reference to a Secret, if the variable has its value from one."""
    source = at(item, ("valueFrom",))
    found = at(source, ("secretKeyRef",))
    if set(item) != {"name", "valueFrom"} or not isinstance(found, dict) or len(source) != 1:
        return None
    return cast("dict[str, Any]", found)


def _from_secret(path: Path, secret: dict[str, Any], outcome: Outcome) -> Iterator[Outcome]:
    below = (*path, "valueFrom", "secretKeyRef")
    if not {"name", "key"} <= secret.keys() or plain_secrets.anywhere_in(secret):
        yield unmatched(path, "must refer to a Secret by name and key")
        return
    yield outcome
    for key in sorted(secret.keys() - {"name", "key"}):
        if key in _SECRET_KEYS and secret[key] in (False, None):
            yield unneeded((*below, key), "is always so here")
        else:
            yield unmatched((*below, key), "the Secret must exist here, with that key")


def _name(item: Any) -> str | None:
    name = cast("dict[str, Any]", item).get("name") if isinstance(item, dict) else None
    return name if isinstance(name, str) and _NAME.fullmatch(name) else None


def _text(value: Any) -> str | None:
    """Return a variable's value as Helm's users write it: text, or without quotes by mistake."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case int() | float() | str():
            return str(value)
        case _:
            return None
