"""Resources for the rules to look at: good ones, and what changes in them.

A world is a few resources by name. `changed` sets places in it, named as `resource/path`; a key
with dots in it stands in `<…>`. Everything reaches a rule through pulumi-policy's own proxy, as
from the engine.
"""

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pulumi_policy import (
    Policy,
    PolicyCustomTimeouts,
    PolicyResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError, unknown_checking_proxy

from pack import policies

UNKNOWN = UNKNOWN_STRING_VALUE
MISSING = object()
CODER = "pulumi-python:dynamic/coder:"
_STEP = re.compile(r"<([^>]*)>|\[(\d+)\]|([^.\[\]<>]+)")


@dataclass
class Res:
    """One resource as a test writes it."""

    type: str
    props: dict[str, Any]
    parents: tuple[str, ...] = ("coder-stack:index:ControlPlane",)
    secret_outputs: tuple[str, ...] = ()
    fed_by: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Property → names of resources of the same world."""

    def urn(self, name: str) -> str:
        return f"urn:pulumi:s::p::{'$'.join([*self.parents, self.type])}::{name}"


World = Mapping[str, Res]
Changes = Mapping[str, Any]


@dataclass
class Verdict:
    """What a rule said."""

    messages: list[str] = field(default_factory=list[str])
    unknown: bool = False

    @property
    def places(self) -> set[str]:
        """`resource/path` of each violation."""
        found = [re.fullmatch(r'\w+ "([^"]+)": (\S+): .+\.', each) for each in self.messages]
        assert all(found), f"a message names resource, field and fix: {self.messages}"
        return {f"{match[1]}/{match[2]}" for match in found if match}


def rule(name: str) -> Policy:
    (found,) = [each for each in policies() if each.name == name]
    return found


def judge(name: str, world: World, options: Mapping[str, Any] | None = None) -> Verdict:
    """What the rule of that name says about a world."""
    policy, verdict = rule(name), Verdict()

    def report(message: str, urn: str | None = None) -> None:
        verdict.messages.append(message)

    if isinstance(policy, StackValidationPolicy):
        runs = [lambda: policy.validate(StackValidationArgs(_stack(world), options), report)]
    else:
        assert isinstance(policy, ResourceValidationPolicy)
        runs = [
            lambda args=args: policy.validate(args, report) for args in arguments(world, options)
        ]
    for run in runs:
        try:
            run()
        except UnknownValueError:
            verdict.unknown = True
    return verdict


def arguments(
    world: World, options: Mapping[str, Any] | None = None
) -> Iterator[ResourceValidationArgs]:
    for name, res in world.items():
        props = unknown_checking_proxy(copy.deepcopy(res.props))
        yield ResourceValidationArgs(
            res.type, props, res.urn(name), name, _options(res), None, options
        )


def changed(world: World, changes: Changes) -> World:
    """The world with places set, or taken away (MISSING)."""
    result = copy.deepcopy(dict(world))
    for place, value in changes.items():
        name, _, path = place.partition("/")
        steps: list[Any] = [
            int(index) if index else quoted or plain for quoted, index, plain in _STEP.findall(path)
        ]
        holder: Any = result[name].props
        for step in steps[:-1]:
            holder = holder[step]
        if value is MISSING:
            del holder[steps[-1]]
        else:
            holder[steps[-1]] = value
    return result


def texts(value: object, key: str = "") -> Iterator[str]:
    """Every text in a value but names, which messages may repeat."""
    if isinstance(value, str) and key not in ("name", "kind"):
        yield value
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from texts(each, name)
    if isinstance(value, Sequence) and not isinstance(value, str):
        for each in value:
            yield from texts(each)


def _stack(world: World) -> list[PolicyResource]:
    made = {
        name: PolicyResource(
            res.type,
            unknown_checking_proxy(copy.deepcopy(res.props)),
            res.urn(name),
            name,
            _options(res),
            None,
            None,
            [],
            {},
        )
        for name, res in world.items()
    }
    for name, res in world.items():
        made[name].property_dependencies = {
            prop: [made[each] for each in sources] for prop, sources in res.fed_by.items()
        }
    return list(made.values())


def _options(res: Res) -> PolicyResourceOptions:
    timeouts = PolicyCustomTimeouts(0, 0, 0)
    return PolicyResourceOptions(False, [], None, [], timeouts, list(res.secret_outputs), None)
