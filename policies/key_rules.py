"""Rules on provisioner keys: names that coderd takes, who builds what, and rotation that is safe.

Names, reserved variables and their meaning come from the program (coderd_names.py, environment.py).
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from pulumi_policy import EnforcementLevel, Severity

from coder_stack.coderd_names import key_name_fault
from coder_stack.environment import DAEMON_KEY, SET_BY_DAEMON_KEY
from pod_shapes import containers, has_pods, namespace_of
from reading import Fault, Node, Resource
from rule import Case, StackCase, resource_rule, stack_rule

__all__ = ["RULES"]

_KEY = "pulumi-python:dynamic/coder:ProvisionerKey"
_IDENTITY_FLAGS = ("--org", "-O", "--tag", "-t", "--psk")


def _is_key(type_: str) -> bool:
    return type_ == _KEY


def _name(case: Case) -> Iterator[Fault]:
    place = case.resource.props["base_name"]
    with case.look:
        if fault := key_name_fault(place.text):
            yield place.fault(f"{fault}.")


def _age(case: Case) -> Iterator[Fault]:
    longest = int(case.options["days"])
    with case.look:
        place = case.resource.props["rotate_after_days"]
        if place.number is None or place.number > longest:
            yield place.fault("rotate the key within the number of days in option `days`.")
    with case.look:
        place = case.resource.props["issued_on"]
        issued = _day(place.text)
        if issued and datetime.now(UTC).date() - issued > timedelta(days=longest):
            yield place.fault("the key is older than option `days` allows; rotate it.")


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _unique(case: StackCase) -> Iterator[Fault]:
    first = dict[tuple[str, str], Resource]()
    for key in case.of_type(_KEY):
        with case.look:
            place = key.props["base_name"]
            owner = first.setdefault((_organization(key), place.text.lower()), key)
            if owner is not key and place.text:
                yield place.fault(f'"{owner.name}" already uses this name; choose another.')


def _organization(key: Resource) -> str:
    return key.props["organization"].text


def _tags(case: StackCase) -> Iterator[Fault]:
    untagged = defaultdict[str, list[Resource]](list)
    for key in case.of_type(_KEY):
        with case.look:
            if not key.props["tags"].each():
                untagged[_organization(key)].append(key)
    for keys in untagged.values():
        for key in keys[1:]:
            yield key.props["tags"].fault(
                f'"{keys[0].name}" has no tags either; give tags to all provisioners of the '
                "organization but one, or both build the same templates."
            )


def _one_replica(case: StackCase) -> Iterator[Fault]:
    for key in case.of_type(_KEY):
        with case.look:
            if key.props["exact_name"].value is not True:
                continue
            if key.props["base_name"].text in case.options["acknowledged"]:
                continue
            for workload in _users(case, key):
                with case.look:
                    if (workload.props.at("spec", "replicas").number or 1) > 1:
                        yield key.props["exact_name"].fault(
                            f'a rotation disconnects every replica of "{workload.name}" at once; '
                            "use a generated name, or add it to option `acknowledged`."
                        )


def _users(case: StackCase, key: Resource) -> Iterator[Resource]:
    """Workloads whose pods take the key out of a Secret that was filled with it."""
    places = set[tuple[str, str]]()
    for secret in case.of_type("kubernetes:core/v1:Secret"):
        fed = [urn for name in ("data", "stringData") for urn in secret.fed_by.get(name, ())]
        if key.urn in fed:
            with case.look:
                places.add((namespace_of(secret), secret.props.at("metadata", "name").text))
    for workload in case.resources if places else ():
        if has_pods(workload.type):
            with case.look:
                names = {each.text for each in _references(case, workload)}
                if places & {(namespace_of(workload), name) for name in names}:
                    yield workload


def _references(case: StackCase, workload: Resource) -> Iterator[Node]:
    for container in containers(workload, case.look):
        for each in case.look.each(container["env"]):
            yield each.at("valueFrom", "secretKeyRef", "name")


def _identity(case: Case) -> Iterator[Fault]:
    for container in containers(case.resource, case.look):
        with case.look:
            env = {each["name"].text: each for each in case.look.each(container["env"])}
            if DAEMON_KEY not in env:
                continue
            for name in SET_BY_DAEMON_KEY:
                if name in env:
                    yield env[name]["name"].fault(
                        f"remove {name}: the key determines it, and the daemon refuses both."
                    )
            for word in case.look.each(container["args"]):
                with case.look:
                    if word.text.partition("=")[0] in _IDENTITY_FLAGS:
                        yield word.fault("remove it: the key determines it.")


RULES = (
    resource_rule(
        "key-name",
        "Provisioner keys have names that coderd accepts.",
        on=_is_key,
        check=_name,
        steps="Use at most 64 printable characters, no `/`, and no name that coderd reserves.",
        severity=Severity.MEDIUM,
        level=EnforcementLevel.MANDATORY,
    ),
    stack_rule(
        "key-name-unique",
        "Names of provisioner keys are unique in an organization.",
        check=_unique,
        steps="Set `key.name`, or rename a provisioner.",
        severity=Severity.MEDIUM,
        level=EnforcementLevel.MANDATORY,
    ),
    stack_rule(
        "key-tags",
        "At most one provisioner of an organization has no tags.",
        check=_tags,
        steps="Set `key.tags`, so that it is clear which provisioner builds a template.",
        severity=Severity.MEDIUM,
        level=EnforcementLevel.MANDATORY,
    ),
    resource_rule(
        "key-age",
        "Provisioner keys are rotated by age.",
        on=_is_key,
        check=_age,
        steps="Set `key.rotateAfterDays`.",
        severity=Severity.MEDIUM,
        level=EnforcementLevel.ADVISORY,
        options={
            "days": {
                "type": "integer",
                "minimum": 1,
                "default": 90,
                "description": "Maximum age of a key in days.",
            }
        },
    ),
    stack_rule(
        "key-exact-name",
        "A provisioner whose key has an exact name has one replica.",
        check=_one_replica,
        steps="Unset `key.exactName`: keys with generated names are rotated without a gap.",
        severity=Severity.MEDIUM,
        level=EnforcementLevel.MANDATORY,
        options={
            "acknowledged": {
                "type": "array",
                "items": {"type": "string"},
                "default": [],
                "description": "Names of keys whose gap during a rotation is accepted.",
            }
        },
    ),
    resource_rule(
        "key-identity",
        "No daemon sets what its provisioner key determines.",
        on=has_pods,
        check=_identity,
        steps="Remove organization, tags and PSK; set `organization` and `key.tags` instead.",
        severity=Severity.HIGH,
        level=EnforcementLevel.MANDATORY,
    ),
)
