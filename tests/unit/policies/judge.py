"""Apply a rule to resources through pulumi-policy's own proxy, as the engine does.

`changed` sets properties, named `resource/path`; a key that contains dots is in `<…>`.
"""

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pulumi_policy import (
    Policy,
    PolicyCustomTimeouts,
    PolicyProviderResource,
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
    property_dependencies: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Property → names of other resources."""
    cluster: str = ""
    """Name of its provider; empty: the default one."""

    def urn(self, name: str) -> str:
        return f"urn:pulumi:s::p::{'$'.join([*self.parents, self.type])}::{name}"


Resources = Mapping[str, Res]
Changes = Mapping[str, Any]


@dataclass
class Verdict:
    """The messages of a rule, and whether it met an unknown value."""

    messages: list[str] = field(default_factory=list[str])
    unknown: bool = False

    @property
    def places(self) -> set[str]:
        """Return `resource/path` of each violation."""
        found = [re.fullmatch(r'\w+ "([^"]+)": (\S+): .+\.', each) for each in self.messages]
        assert all(found), f"a message names resource, field and fix: {self.messages}"
        return {f"{match[1]}/{match[2]}" for match in found if match}


def rule(name: str) -> Policy:
    (found,) = [each for each in policies() if each.name == name]
    return found


def judge(name: str, resources: Resources, options: Mapping[str, Any] | None = None) -> Verdict:
    """Apply the rule of that name to the resources."""
    policy, verdict = rule(name), Verdict()

    def report(message: str, urn: str | None = None) -> None:
        verdict.messages.append(message)

    if isinstance(policy, StackValidationPolicy):
        runs = [lambda: policy.validate(StackValidationArgs(_stack(resources), options), report)]
    else:
        assert isinstance(policy, ResourceValidationPolicy)
        runs = [
            lambda args=args: policy.validate(args, report)
            for args in arguments(resources, options)
        ]
    for run in runs:
        try:
            run()
        except UnknownValueError:
            verdict.unknown = True
    return verdict


def arguments(
    resources: Resources, options: Mapping[str, Any] | None = None
) -> Iterator[ResourceValidationArgs]:
    for name, res in resources.items():
        props = unknown_checking_proxy(copy.deepcopy(res.props))
        yield ResourceValidationArgs(
            res.type, props, res.urn(name), name, _options(res), None, options
        )


def changed(resources: Resources, changes: Changes) -> Resources:
    """Return the resources with properties set or removed (MISSING)."""
    result = copy.deepcopy(dict(resources))
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
    """Yield every string in a value, except names, which messages may contain."""
    if isinstance(value, str) and key not in ("name", "kind"):
        yield value
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from texts(each, name)
    if isinstance(value, Sequence) and not isinstance(value, str):
        for each in value:
            yield from texts(each)


def _stack(resources: Resources) -> list[PolicyResource]:
    made = {
        name: PolicyResource(
            res.type,
            unknown_checking_proxy(copy.deepcopy(res.props)),
            res.urn(name),
            name,
            _options(res),
            _provider(res),
            None,
            [],
            {},
        )
        for name, res in resources.items()
    }
    for name, res in resources.items():
        made[name].property_dependencies = {
            prop: [made[each] for each in sources]
            for prop, sources in res.property_dependencies.items()
        }
    return list(made.values())


def _provider(res: Res) -> PolicyProviderResource | None:
    if not res.cluster:
        return None
    type_ = "pulumi:providers:kubernetes"
    return PolicyProviderResource(type_, {}, f"urn:pulumi:s::p::{type_}::{res.cluster}", "k8s")


def _options(res: Res) -> PolicyResourceOptions:
    timeouts = PolicyCustomTimeouts(0, 0, 0)
    return PolicyResourceOptions(False, [], None, [], timeouts, list(res.secret_outputs), None)
