"""Build the policies of pulumi-policy from a description and a check that yields violations.

`resource_rule` checks each resource before it is applied, `stack_rule` all of them at the end.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.deserialize import serialize_properties

from properties import KnownValues, Resource, Violation
from remediation import EditableInputs, Remediation

Options = Mapping[str, Any]
"""The options of a rule from the policy pack's config, and the defaults of the others."""


@dataclass(frozen=True)
class Case:
    """One resource for one rule to check."""

    resource: Resource
    options: Options
    known: KnownValues


@dataclass(frozen=True)
class StackCase:
    """All resources of the stack for one rule to check."""

    resources: Sequence[Resource]
    options: Options
    known: KnownValues

    def of_type(self, *types: str) -> list[Resource]:
        """Return the resources of these types."""
        return [each for each in self.resources if each.type in types]


def resource_rule(
    name: str,
    description: str,
    *,
    on: Callable[[str], bool],
    check: Callable[[Case], Iterator[Violation]],
    steps: str,
    severity: Severity,
    level: EnforcementLevel,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    remediation: Remediation | None = None,
) -> ResourceValidationPolicy:
    """Build a rule for resources whose type `on` accepts; `options` are schemas with defaults."""
    schema = options or {}

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        if not on(args.resource_type):
            return
        resource = Resource(
            args.resource_type,
            args.name,
            args.urn,
            args.props,
            tuple(args.opts.additional_secret_outputs),
        )
        known = KnownValues()
        for violation in check(Case(resource, _with_defaults(schema, args.get_config()), known)):
            report(violation.message, None)
        known.raise_skipped()

    def remediate(args: ResourceValidationArgs) -> Any:
        if remediation is None or not on(args.resource_type):
            return None
        # A copy without pulumi-policy's proxies; secrets keep their markers.
        tree = cast("dict[str, Any]", serialize_properties(args.props))
        options = _with_defaults(schema, args.get_config())
        inputs = EditableInputs(args.resource_type, tree, options)
        return tree if remediation(inputs) else None

    return ResourceValidationPolicy(
        name=name,
        description=description,
        validate=validate,
        remediate=remediate if remediation else None,
        enforcement_level=level,
        config_schema=_config_schema(schema),
        severity=severity,
        remediation_steps=steps,
    )


def stack_rule(
    name: str,
    description: str,
    *,
    check: Callable[[StackCase], Iterator[Violation]],
    steps: str,
    severity: Severity,
    level: EnforcementLevel,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> StackValidationPolicy:
    """Build a rule for the whole stack."""
    schema = options or {}

    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        known = KnownValues()
        # Registration order varies; of two resources that conflict, report the same one each time.
        resources = sorted(map(_of_stack, args.resources), key=lambda each: each.urn)
        options = _with_defaults(schema, args.get_config())
        for violation in check(StackCase(resources, options, known)):
            report(violation.message, violation.resource.urn)
        known.raise_skipped()

    return StackValidationPolicy(
        name=name,
        description=description,
        validate=validate,
        enforcement_level=level,
        config_schema=_config_schema(schema),
        severity=severity,
        remediation_steps=steps,
    )


def string_list(description: str, default: Sequence[str] = ()) -> dict[str, Any]:
    """Build the schema of an option that is a list of strings."""
    schema = {"type": "array", "items": {"type": "string"}, "description": description}
    return {**schema, "default": list(default)}


def _of_stack(each: PolicyResource) -> Resource:
    dependencies = {
        name: tuple(source.urn for source in sources)
        for name, sources in each.property_dependencies.items()
    }
    provider = each.provider.urn if each.provider else ""
    return Resource(each.resource_type, each.name, each.urn, each.props, (), dependencies, provider)


def _with_defaults(schema: Mapping[str, Mapping[str, Any]], given: Options) -> dict[str, Any]:
    return {name: given.get(name, each["default"]) for name, each in schema.items()}


def _config_schema(schema: Mapping[str, Mapping[str, Any]]) -> PolicyConfigSchema | None:
    if not schema:
        return None
    return PolicyConfigSchema(properties={name: dict(each) for name, each in schema.items()})
