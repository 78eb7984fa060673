"""What every part of the config is made of: one mapping of YAML, and the kinds of value in it.

Leaves alone what the parts are; each has a file of its own beside this one.
"""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from coder_stack.naming import LABEL_RULE, is_label

__all__ = ["EnvName", "Label", "Manifest", "Part", "SecretKey", "SecretRef", "Url"]


def _label(value: str) -> str:
    if not is_label(value):
        raise ValueError(f"must be a Kubernetes name: {LABEL_RULE}")
    return value


Label = Annotated[str, AfterValidator(_label)]
SecretKey = Annotated[str, Field(pattern=r"^[-._a-zA-Z0-9]{1,253}$")]
EnvName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Url = Annotated[str, Field(pattern=r"^https?://[^\s/?#]+/?$")]
Manifest = dict[str, Any]
"""A piece of a Kubernetes object, spelled as in its own documentation; the API server checks it."""


class Part(BaseModel):
    """One mapping of the config: camelCase in YAML, no unknown fields, nothing changes later."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, strict=True
    )


class SecretRef(Part):
    """One value in a Kubernetes Secret that somebody else makes."""

    name: Label = Field(description="Name of the Secret.")
    key: SecretKey = Field(description="Key in the Secret's data.")
