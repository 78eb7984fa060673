"""Rules on provisioner keys: valid and unique names, distinct tags, rotation without a gap.

Names and variables come from the program (coder_stack/coderd/names.py, environment.py).
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from pulumi_policy import EnforcementLevel, Severity

from coder_stack.coderd.names import key_name_fault
from coder_stack.descriptors import PROVISIONER_KEY
from coder_stack.environment import DAEMON_KEY, SET_BY_DAEMON_KEY
from pod_specs import containers, has_pods, place_of
from properties import Property, Resource, Violation
from rule import Case, StackCase, resource_rule, stack_rule, string_list

_IDENTITY_FLAGS = ("--org", "-O", "--tag", "-t", "--psk")


def _is_key(type_: str) -> bool:
    return type_ == PROVISIONER_KEY.type


def _name(case: Case) -> Iterator[Violation]:
    name = case.resource.props["base_name"]
    with case.known:
        if fault := key_name_fault(name.text):
            yield name.violation(f"{fault}.")


def _age(case: Case) -> Iterator[Violation]:
    longest = int(case.options["days"])
    with case.known:
        days = case.resource.props["rotate_after_days"]
        if days.number is None or days.number > longest:
            yield days.violation("rotate the key within the number of days in option `days`.")
    with case.known:
        issued_on = case.resource.props["issued_on"]
        issued = _day(issued_on.text)
        if issued and datetime.now(UTC).date() - issued > timedelta(days=longest):
            yield issued_on.violation("the key is older than option `days` allows; rotate it.")


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _unique(case: StackCase) -> Iterator[Violation]:
    first = dict[tuple[str, str], Resource]()
    for key in case.of_type(PROVISIONER_KEY.type):
        with case.known:
            name = key.props["base_name"]
            owner = first.setdefault((_organization(key), name.text.lower()), key)
            if owner is not key and name.text:
                yield name.violation(f'"{owner.name}" already uses this name; choose another.')


def _organization(key: Resource) -> str:
    return key.props["organization"].text


def _tags(case: StackCase) -> Iterator[Violation]:
    untagged = defaultdict[str, list[Resource]](list)
    for key in case.of_type(PROVISIONER_KEY.type):
        with case.known:
            if not key.props["tags"].each():
                untagged[_organization(key)].append(key)
    for keys in untagged.values():
        for key in keys[1:]:
            yield key.props["tags"].violation(
                f'"{keys[0].name}" has no tags either; give tags to all provisioners of the '
                "organization but one, or both build the same templates."
            )


def _one_replica(case: StackCase) -> Iterator[Violation]:
    for key in case.of_type(PROVISIONER_KEY.type):
        with case.known:
            if key.props["exact_name"].value is not True:
                continue
            if key.props["base_name"].text in case.options["acknowledged"]:
                continue
            for workload in _users(case, key):
                with case.known:
                    if (workload.props.at("spec", "replicas").number or 1) > 1:
                        yield key.props["exact_name"].violation(
                            f'a rotation disconnects every replica of "{workload.name}" at once; '
                            "use a generated name, or add it to option `acknowledged`."
                        )


def _users(case: StackCase, key: Resource) -> Iterator[Resource]:
    """Yield the workloads whose pods read the key from a Secret that holds it."""
    secrets = set[tuple[tuple[str, str], str]]()
    for secret in case.of_type("kubernetes:core/v1:Secret"):
        if key.urn in secret.sources_of("data", "stringData"):
            with case.known:
                secrets.add((place_of(secret), secret.props.at("metadata", "name").text))
    for workload in case.resources if secrets else ():
        if has_pods(workload.type):
            with case.known:
                names = {each.text for each in _references(case, workload)}
                if secrets & {(place_of(workload), name) for name in names}:
                    yield workload


def _references(case: StackCase, workload: Resource) -> Iterator[Property]:
    for container in containers(workload, case.known):
        for each in case.known.each(container["env"]):
            yield each.at("valueFrom", "secretKeyRef", "name")


def _identity(case: Case) -> Iterator[Violation]:
    for container in containers(case.resource, case.known):
        with case.known:
            env = {each["name"].text: each for each in case.known.each(container["env"])}
            if DAEMON_KEY not in env:
                continue
            for name in SET_BY_DAEMON_KEY:
                if name in env:
                    yield env[name]["name"].violation(
                        f"remove {name}: the key determines it, and the daemon refuses both."
                    )
            for word in case.known.each(container["args"]):
                with case.known:
                    if word.text.partition("=")[0] in _IDENTITY_FLAGS:
                        yield word.violation("remove it: the key determines it.")


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
            "acknowledged": string_list("Names of keys whose gap during a rotation is accepted.")
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
