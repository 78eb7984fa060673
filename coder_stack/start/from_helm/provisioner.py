"""Values of the chart `coder-provisioner` to one item of `provisioners`. Pure."""

from collections.abc import Iterator
from typing import Any

from coder_stack.environment import DAEMON_KEY, SET_BY_DAEMON_KEY, URL
from coder_stack.start.from_helm import plain_secrets
from coder_stack.start.from_helm.outcomes import (
    Outcome,
    Path,
    Place,
    shown,
    translated,
    unmatched,
    unneeded,
)
from coder_stack.start.from_helm.rules import Scope, Table, each_to, if_given, items, to, unused
from coder_stack.start.from_helm.variables import plain_to, secret_of, variables
from coder_stack.start.from_helm.workloads import WORKLOAD

_START = ["provisionerd", "start"]
_ORGANIZATION, _TAGS, _PSK = SET_BY_DAEMON_KEY
_KEY_SECRET = "provisionerDaemon.keySecretName"  # noqa: S105  # a path in the values


def _adopted(scope: Scope, name: Any) -> tuple[Place, ...]:
    """Keep the key that the daemons of Helm have; its name is not in the values."""
    return (
        scope.place("key.adoptSecret", name),
        scope.place("key.exactName", True),
        scope.place("key.name", scope.values.get("nameOverride") or scope.default("name")),
    )


def _key_secret(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
    yield translated(path, *_adopted(scope, value))


def _key_variable(scope: Scope, path: Path, item: Any) -> Iterator[Outcome]:
    secret = secret_of(item)
    if secret is None or secret.keys() != {"name", "key"} or plain_secrets.anywhere_in(secret):
        field = shown((*scope.home, "key", "adoptSecret"))
        yield unmatched(path, f"put the key into a Secret and name it under {field}")
        return
    key = scope.place("key.secretKey", secret["key"])
    yield translated(path, *_adopted(scope, secret["name"]), key)


def _psk(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
    yield unmatched(path, "the stack creates a key for the daemons, which takes the PSK's place")


def _tags_variable(scope: Scope, path: Path, item: Any) -> Iterator[Outcome]:
    pairs = [each.partition("=") for each in str(item.get("value", "")).split(",")]
    if item.keys() != {"name", "value"} or not all(name and sign for name, sign, _ in pairs):
        yield unmatched(path, f"write the tags under {shown((*scope.home, 'key', 'tags'))}")
        return
    yield translated(path, *(scope.place(("key", "tags", tag), text) for tag, _, text in pairs))


def _arguments(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
    """Take what follows `provisionerd start`, the command that the stack always runs."""
    given = [str(each) for each in items(value)]
    if given == _START:
        yield unneeded(path, "is the command here, too")
    elif given[:2] != _START or plain_secrets.in_arguments(given):
        field = shown((*scope.home, "args"))
        yield unmatched(path, f"write the options of provisionerd start, without secrets: {field}")
    else:
        yield translated(path, scope.place("args", given[2:]))


PROVISIONER: Table = {
    **WORKLOAD,
    "coder.env": variables(
        {
            URL: plain_to("url"),
            _ORGANIZATION: plain_to("organization"),
            _TAGS: _tags_variable,
            _PSK: _psk,
            DAEMON_KEY: _key_variable,
        }
    ),
    "coder.commandArgs": _arguments,
    "nameOverride": to("name"),
    "provisionerDaemon.keySecretName": _key_secret,
    "provisionerDaemon.keySecretKey": if_given(
        _KEY_SECRET, to("key.secretKey"), unused("there is no keySecretName")
    ),
    "provisionerDaemon.pskSecretName": if_given(
        _KEY_SECRET, unused("the daemons have a key, which comes first"), _psk
    ),
    "provisionerDaemon.tags": each_to("key.tags"),
    "provisionerDaemon.organization": to("organization"),
    "provisionerDaemon.terminationGracePeriodSeconds": to("terminationGracePeriodSeconds"),
}
"""One provisioner: daemons with one key."""
