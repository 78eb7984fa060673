"""A value in a Kubernetes Secret that somebody else keeps."""

from coder_stack.descriptors.descriptor import Descriptor, Drift, StackFacts


def _cause(drift: Drift, stack: StackFacts) -> str | None:
    place = f"Secret `{drift.declared.get('namespace')}/{drift.declared.get('name')}`"
    return f"{place}, which somebody else keeps, holds another value." if drift.paths else None


SECRET_VALUE = Descriptor(name="SecretValue", noun="Secret", secret_fields=("value",), cause=_cause)
