"""How a rule is written: its words, what it looks at, and a check that yields faults.

`resource_rule` looks at one resource before it is touched; `stack_rule` at all of them, once they
are known. Both make pulumi-policy's own objects, so that the engine and the docs read the same.
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

from reading import Fault, Look, Resource
from remedies import Draft, Remedy

__all__ = ["Case", "StackCase", "resource_rule", "stack_rule"]

Options = Mapping[str, Any]
"""What the platform team set for a rule, and the defaults of the rest."""


@dataclass(frozen=True)
class Case:
    """One resource, as one rule sees it."""

    resource: Resource
    options: Options
    look: Look


@dataclass(frozen=True)
class StackCase:
    """All resources of the stack, as one rule sees them."""

    resources: Sequence[Resource]
    options: Options
    look: Look

    def of_type(self, *types: str) -> list[Resource]:
        """Those of one of these types."""
        return [each for each in self.resources if each.type in types]


def resource_rule(
    name: str,
    description: str,
    *,
    on: Callable[[str], bool],
    check: Callable[[Case], Iterator[Fault]],
    steps: str,
    severity: Severity,
    level: EnforcementLevel,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    remedy: Remedy | None = None,
) -> ResourceValidationPolicy:
    """A rule on each resource whose type `on` takes; `options` are JSON schemas with defaults."""
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
        look = Look()
        for fault in check(Case(resource, _chosen(schema, args.get_config()), look)):
            report(fault.message, None)
        look.finish()

    def remediate(args: ResourceValidationArgs) -> Any:
        if remedy is None or not on(args.resource_type):
            return None
        # A copy without pulumi-policy's wrappers; secrets stay in their envelopes.
        tree = cast("dict[str, Any]", serialize_properties(args.props))
        draft = Draft(args.resource_type, tree, _chosen(schema, args.get_config()))
        return tree if remedy(draft) else None

    return ResourceValidationPolicy(
        name=name,
        description=description,
        validate=validate,
        remediate=remediate if remedy else None,
        enforcement_level=level,
        config_schema=_config_schema(schema),
        severity=severity,
        remediation_steps=steps,
    )


def stack_rule(
    name: str,
    description: str,
    *,
    check: Callable[[StackCase], Iterator[Fault]],
    steps: str,
    severity: Severity,
    level: EnforcementLevel,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> StackValidationPolicy:
    """A rule on the stack as a whole."""
    schema = options or {}

    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        look = Look()
        # Programs register in no fixed order: of two that clash, the same one is named each time.
        resources = sorted(map(_of_stack, args.resources), key=lambda each: each.urn)
        for fault in check(StackCase(resources, _chosen(schema, args.get_config()), look)):
            report(fault.message, fault.resource.urn)
        look.finish()

    return StackValidationPolicy(
        name=name,
        description=description,
        validate=validate,
        enforcement_level=level,
        config_schema=_config_schema(schema),
        severity=severity,
        remediation_steps=steps,
    )


def _of_stack(each: PolicyResource) -> Resource:
    fed_by = {
        name: tuple(source.urn for source in sources)
        for name, sources in each.property_dependencies.items()
    }
    return Resource(each.resource_type, each.name, each.urn, each.props, fed_by=fed_by)


def _chosen(schema: Mapping[str, Mapping[str, Any]], given: Options) -> dict[str, Any]:
    return {name: given.get(name, each["default"]) for name, each in schema.items()}


def _config_schema(schema: Mapping[str, Mapping[str, Any]]) -> PolicyConfigSchema | None:
    if not schema:
        return None
    return PolicyConfigSchema(properties={name: dict(each) for name, each in schema.items()})
