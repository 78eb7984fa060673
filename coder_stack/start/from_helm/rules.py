"""The words of the tables: what a rule does with one value, and how values are walked. Pure.

A table maps a path in the values to a rule. What no rule knows has no counterpart.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from coder_stack.start.from_helm import plain_secrets
from coder_stack.start.from_helm.outcomes import (
    Outcome,
    Path,
    Place,
    at,
    is_empty,
    shown,
    translated,
    unmatched,
    unneeded,
)


@dataclass(frozen=True)
class Scope:
    """The part of the config that the values of one release go to."""

    home: Path
    """Path of the part: `controlPlane`, or one item of `provisioners`."""
    defaults: Mapping[str, Any]
    """The part with all of its defaults."""
    values: Mapping[str, Any]
    """All values of the release."""
    name: str
    """Name of the part's object in Kubernetes."""
    namespace: str

    def place(self, field: str | Sequence[str], value: Any) -> Place:
        """Put a value at a field of this part."""
        return Place((*self.home, *steps(field)), value)

    def default(self, field: str | Sequence[str]) -> Any:
        """Return the default of a field; None if it has none."""
        return at(self.defaults, steps(field))

    def value(self, path: str) -> Any:
        """Return another value of the release; None if it is not given."""
        return at(self.values, steps(path))


Rule = Callable[[Scope, Path, Any], Iterator[Outcome]]


@dataclass(frozen=True)
class Switch:
    """A mapping that has no effect unless one of its keys is true."""

    key: str
    why: str
    """Why the rest is not needed while it is off."""
    default: bool = False


Table = Mapping[str, Rule | Switch]

IN_PLAIN_TEXT = "a secret in plain text: put it into a Secret and name it under"


def steps(field: str | Sequence[str]) -> tuple[str, ...]:
    """Split a path of the tables; keys of users, which may have dots, come as steps."""
    return tuple(field.split(".")) if isinstance(field, str) else tuple(field)


def none(what_to_do: str) -> Rule:
    """Report that there is no counterpart, and what to do."""

    def rule(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
        yield unmatched(path, what_to_do)

    return rule


_unknown = none(
    "is not known as a value of this chart; docs/configuration.md lists what can be set"
)


def walk(
    table: Table, scope: Scope, value: Any, path: Path = (), others: Rule = _unknown
) -> Iterator[Outcome]:
    """Account for a value and everything below it; `others` is for what no rule knows."""
    # A key with a dot is never one of the chart's own.
    key = ".".join(step if "." not in str(step) else "?" for step in map(str, path))
    rule = table.get(key)
    if path and is_empty(value):
        yield unneeded(path, "is empty: the default applies")
    elif isinstance(rule, Switch):
        yield from _switched(table, scope, value, path, rule, others)
    elif rule is not None:
        yield from rule(scope, path, value)
    elif path and not any(known.startswith(f"{key}.") for known in table):
        yield from others(scope, path, value)
    else:
        yield from _below(table, scope, value, path, others)


def _switched(
    table: Table, scope: Scope, value: Any, path: Path, switch: Switch, others: Rule
) -> Iterator[Outcome]:
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if fields and not fields.get(switch.key, switch.default):
        yield unneeded(path, switch.why)
    else:
        yield from _below(table, scope, value, path, others)


def _below(table: Table, scope: Scope, value: Any, path: Path, others: Rule) -> Iterator[Outcome]:
    if not isinstance(value, dict):
        yield unmatched(path, "must be a mapping")
        return
    for name, below in cast("dict[str, Any]", value).items():
        yield from walk(table, scope, below, (*path, name), others)


def to(field: str | Sequence[str]) -> Rule:
    """Copy the value to a field, unless it is that field's default."""

    def rule(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
        place = scope.place(field, value)
        if plain_secrets.anywhere_in(value):
            yield unmatched(path, f"{IN_PLAIN_TEXT} {shown((*scope.home, 'secretEnv'))}")
        elif type(value) is type(default := scope.default(field)) and value == default:
            yield unneeded(path, f"is the default of {shown(place.path)}")
        else:
            yield translated(path, place)

    return rule


def each_to(field: str) -> Rule:
    """Copy each key of a mapping to a mapping in the config."""

    def rule(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
        if not isinstance(value, dict):
            yield unmatched(path, "must be a mapping")
            return
        for key, below in cast("dict[str, Any]", value).items():
            if below is None:
                yield unneeded((*path, key), "is empty: the default applies")
            else:
                yield from to((*steps(field), key))(scope, (*path, key), below)

    return rule


def each_to_unless(field: str, defaults: Mapping[str, Any]) -> Rule:
    """Copy each key of a mapping, but not those that the pods have by default."""

    def rule(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
        for outcome in each_to(field)(scope, path, value):
            key = outcome.path[-1]
            if outcome.places and key in defaults and outcome.places[0].value == defaults[str(key)]:
                yield unneeded(outcome.path, "is the default here")
            else:
                yield outcome

    return rule


def names_to(field: str) -> Rule:
    """Copy a list of objects that have only a name as a list of names."""

    def rule(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
        yield from _listed(field, scope, path, value, _only_name)

    return rule


def refs_to(field: str) -> Rule:
    """Copy a list of names and keys of Secrets."""

    def rule(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
        yield from _listed(field, scope, path, value, _name_and_key)

    return rule


def _only_name(item: Mapping[str, Any]) -> Any:
    return item["name"] if set(item) == {"name"} else None


def _name_and_key(item: Mapping[str, Any]) -> Any:
    return dict(item) if set(item) == {"name", "key"} else None


def _listed(
    field: str, scope: Scope, path: Path, value: Any, form: Callable[[Mapping[str, Any]], Any]
) -> Iterator[Outcome]:
    """Copy what has the form, and report each other item."""
    taken: list[Any] = []
    for index, item in enumerate(items(value)):
        found = form(cast("Mapping[str, Any]", item)) if isinstance(item, dict) else None
        if found is None or plain_secrets.anywhere_in(found):
            yield unmatched((*path, index), "must be a mapping with the name of a Secret")
        elif found in taken:
            yield unneeded((*path, index), "is listed twice")
        else:
            taken.append(found)
            yield translated((*path, index), scope.place(field, list(taken)))
    if not isinstance(value, list):
        yield unmatched(path, "must be a list")


def items(value: Any) -> list[Any]:
    """Return the items of a list; nothing if it is none."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def present(field: str) -> Rule:
    """Declare an object that the config has by being there."""

    def rule(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
        yield translated(path, scope.place(field, {}))

    return rule


def only(wanted: Any, otherwise: str) -> Rule:
    """Accept the one value that is always so here."""

    def rule(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
        if type(value) is type(wanted) and value == wanted:
            yield unneeded(path, "is always so here")
        else:
            yield unmatched(path, otherwise)

    return rule


def unused(why: str) -> Rule:
    """Report why the value is not needed."""

    def rule(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
        yield unneeded(path, why)

    return rule


def if_given(other: str, then: Rule, otherwise: Rule) -> Rule:
    """Choose by whether another value is given."""

    def rule(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
        chosen = otherwise if is_empty(scope.value(other)) else then
        yield from chosen(scope, path, value)

    return rule
