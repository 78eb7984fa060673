"""The base of models that parse what other programs wrote."""

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """Ignores unknown fields, and keeps what it was given out of error messages."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)
