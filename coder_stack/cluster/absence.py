"""Tell an object that does not exist from an answer that says nothing about it (U1). Pure.

Only the API server's own "not found" for that kind counts: a 404 may also come from a proxy, or
stand for a kind that the cluster does not serve.
"""

from pydantic import AliasPath, Field, ValidationError

from coder_stack.frozen_model import FrozenModel


class _Refusal(FrozenModel):
    reason: str = ""
    plural: str = Field(default="", validation_alias=AliasPath("details", "kind"))


def is_absent(status: int, body: bytes, plural: str) -> bool:
    """Tell whether the answer says that an object of this kind does not exist."""
    if status != 404:
        return False
    try:
        refusal = _Refusal.model_validate_json(body)
    except ValidationError:
        return False
    return (refusal.reason, refusal.plural) == ("NotFound", plural)
