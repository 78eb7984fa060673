"""Rules on secrets: none in plain text, and those from coderd passed by reference only.

The engine passes secrets to validators in plain text, so messages never contain a value.
"""

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from coder_stack.descriptors import DESCRIPTORS, TYPE_PREFIX
from pod_specs import containers, has_pods, is_kubernetes, place_of, pod_spec, pod_spec_path
from properties import Property, Resource, Violation
from rule import Case, StackCase, resource_rule, stack_rule, string_list
from secret_detection import HIDDEN_IN_METADATA, is_plain_secret, looks_secret, names_secret

_BY_REFERENCE = "use valueFrom.secretKeyRef."


def _environment(case: Case) -> Iterator[Violation]:
    passed = case.options["allowedNames"]
    for container in containers(case.resource, case.known):
        for each in case.known.each(container["env"]):
            with case.known:
                name = each["name"].text
                if name in passed:
                    continue
                if is_plain_secret(name, each["value"].text):
                    yield each["value"].violation(f"{name} looks like a secret; {_BY_REFERENCE}")
                of_config = each.at("valueFrom", "configMapKeyRef")
                if names_secret(name) and of_config.value is not None:
                    yield of_config.violation(f"{name} looks like a secret; {_BY_REFERENCE}")


def _arguments(case: Case) -> Iterator[Violation]:
    for container in containers(case.resource, case.known):
        for words in (container["command"], container["args"]):
            flag = ""
            for word in case.known.each(words):
                before, flag = flag, ""
                with case.known:
                    text = word.text
                    name, equals, value = text.partition("=")
                    is_flag = text.startswith("-")
                    flag = name if is_flag and not equals else ""
                    # `--token=x` holds the secret itself, `--token x` in the next word.
                    given = (name, value) if is_flag else (before, text)
                    if is_plain_secret(*given) or looks_secret(text):
                        yield word.violation(
                            "looks like a secret; pass it as an environment variable."
                        )


def _config_map(case: Case) -> Iterator[Violation]:
    for each in case.known.each(case.resource.props["data"]):
        with case.known:
            if is_plain_secret(each.key, each.text):
                yield each.violation("looks like a secret; keep it in a Secret.")
    for each in case.known.each(case.resource.props["binaryData"]):
        if names_secret(each.key):
            yield each.violation("looks like a secret; keep it in a Secret.")


def _metadata(case: Case) -> Iterator[Violation]:
    holders = [case.resource.props["metadata"]]
    if path := pod_spec_path(case.resource.type):
        holders.append(case.resource.props.at(*path[:-1], "metadata"))
    for holder in holders:
        for kind in ("annotations", "labels"):
            for each in case.known.each(holder[kind]):
                # A digest, which is unknown in the first preview.
                if each.key.startswith("checksum/"):
                    continue
                with case.known:
                    if is_plain_secret(each.key, each.text, HIDDEN_IN_METADATA):
                        yield each.violation("looks like a secret; remove it from the metadata.")


def _by_key_only(case: StackCase) -> Iterator[Violation]:
    ours = [each for each in case.of_type("kubernetes:core/v1:Secret") if _of_coderd(each)]
    names = set[tuple[tuple[str, str], str]]()
    for secret in ours:
        with case.known:
            names.add((place_of(secret), secret.props.at("metadata", "name").text))
    for workload in case.resources if names else ():
        if has_pods(workload.type):
            for name in _whole_secrets(case, workload):
                with case.known:
                    if (place_of(workload), name.text) in names:
                        yield name.violation(f"pass only the key that is needed; {_BY_REFERENCE}")


def _of_coderd(secret: Resource) -> bool:
    """Return whether it holds a key or token from coderd."""
    sources = secret.sources_of("data", "stringData")
    return any(urn.split("::")[2].split("$")[-1].startswith(TYPE_PREFIX) for urn in sources)


def _whole_secrets(case: StackCase, workload: Resource) -> Iterator[Property]:
    """Yield the names of Secrets that the workload uses as a whole, in `envFrom` or volumes."""
    known, spec = case.known, pod_spec(workload)
    for container in containers(workload, known):
        yield from (each.at("secretRef", "name") for each in known.each(container["envFrom"]))
    for volume in known.each(spec["volumes"]):
        yield volume.at("secret", "secretName")
        for source in known.each(volume.at("projected", "sources")):
            yield source.at("secret", "name")


def _declared(case: Case) -> Iterator[Violation]:
    descriptor = DESCRIPTORS.get(case.resource.type)
    for name in descriptor.secret_outputs if descriptor else ():
        if name not in case.resource.secret_outputs:
            yield case.resource.props[name].violation(
                "declare it in additional_secret_outputs; else the state holds it in plain text."
            )


RULES = (
    resource_rule(
        "no-secret-in-env",
        "No secret is in a plain environment variable.",
        on=has_pods,
        check=_environment,
        steps="Store it in a Secret and refer to it in `secretEnv` (`valueFrom.secretKeyRef`).",
        severity=Severity.CRITICAL,
        level=EnforcementLevel.MANDATORY,
        options={
            "allowedNames": string_list("Variables that are not secret, despite their names.")
        },
    ),
    resource_rule(
        "no-secret-in-args",
        "No secret is in a command line.",
        on=has_pods,
        check=_arguments,
        steps="Every process on the node can read command lines. Use `secretEnv`.",
        severity=Severity.CRITICAL,
        level=EnforcementLevel.MANDATORY,
    ),
    resource_rule(
        "no-secret-in-config-map",
        "No secret is in a ConfigMap.",
        on=lambda type_: type_ == "kubernetes:core/v1:ConfigMap",
        check=_config_map,
        steps="Move it to a Secret: more users may read ConfigMaps than Secrets.",
        severity=Severity.CRITICAL,
        level=EnforcementLevel.MANDATORY,
    ),
    resource_rule(
        "no-secret-in-metadata",
        "No secret is in labels or annotations.",
        on=is_kubernetes,
        check=_metadata,
        steps="Remove it: everybody who may list the object can read its metadata.",
        severity=Severity.CRITICAL,
        level=EnforcementLevel.MANDATORY,
    ),
    stack_rule(
        "own-secret-by-key",
        "Pods get credentials from coderd by `secretKeyRef` only.",
        check=_by_key_only,
        steps="Use `secretKeyRef` instead of `envFrom` or a volume.",
        severity=Severity.MEDIUM,
        level=EnforcementLevel.MANDATORY,
    ),
    resource_rule(
        "secret-outputs-declared",
        "Credentials from coderd are encrypted in Pulumi's state.",
        on=lambda type_: type_.startswith(TYPE_PREFIX),
        check=_declared,
        steps="Use the resources of `coder_stack.dynamic`, which declare their secrets.",
        severity=Severity.CRITICAL,
        level=EnforcementLevel.MANDATORY,
    ),
)
