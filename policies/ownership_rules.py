"""Rules on ownership: labels, and a parent component."""

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from coder_stack.descriptors import TYPE_PREFIX
from pod_specs import is_kubernetes
from properties import Violation
from remediation import EditableInputs, mapping_at, set_default
from rule import Case, resource_rule


def _labels(case: Case) -> Iterator[Violation]:
    labels = case.resource.props.at("metadata", "labels")
    for name in case.options["labels"]:
        with case.known:
            if not labels[name].text:
                yield labels[name].violation("add this label.")


def _fill_labels(inputs: EditableInputs) -> bool:
    labels = mapping_at(inputs.tree, "metadata", "labels", make=True)
    filled = [set_default(labels, name, value) for name, value in inputs.options["labels"].items()]
    return any(filled)


def _child(case: Case) -> Iterator[Violation]:
    if not case.resource.ancestors:
        yield Violation(
            case.resource,
            "parent",
            "make it a child of a component (`ResourceOptions(parent=self)`).",
        )


RULES = (
    resource_rule(
        "labels",
        "Objects in the cluster have ownership labels.",
        on=is_kubernetes,
        check=_labels,
        steps="Add the labels of option `labels` to the object's metadata.",
        severity=Severity.LOW,
        level=EnforcementLevel.REMEDIATE,
        options={
            "labels": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "default": {
                    "app.kubernetes.io/managed-by": "pulumi",
                    "app.kubernetes.io/part-of": "coder",
                },
                "description": "Labels that every object must have, with default values.",
            }
        },
        remediation=_fill_labels,
    ),
    resource_rule(
        "child-of-component",
        "Every object is a child of a component.",
        on=lambda type_: is_kubernetes(type_) or type_.startswith(TYPE_PREFIX),
        check=_child,
        steps="Set `parent=`, so that it is deleted with its component.",
        severity=Severity.LOW,
        level=EnforcementLevel.ADVISORY,
    ),
)
