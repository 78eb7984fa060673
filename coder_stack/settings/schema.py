"""Generate the JSON schema of a stack's config file from the settings' models, for editors.

It covers single fields, not what must fit together (clashes.py). Editors understand draft 7.
"""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from coder_stack.settings.loading import SECRETS
from coder_stack.settings.root_keys import PULUMI_KEYS
from coder_stack.settings.tree import Settings

_ENCRYPTED = {
    "type": "object",
    "properties": {"secure": {"type": "string"}},
    "required": ["secure"],
    "additionalProperties": False,
}


class _Terse(GenerateJsonSchema):
    """Omits titles that repeat a field's name, and defaults of parts."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if isinstance(schema.get("default"), BaseModel):
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        made = super().dict_schema(schema)
        # Refuse keys of another format.
        return {**made, "additionalProperties": False} if "patternProperties" in made else made

    def generate(self, schema: CoreSchema, mode: Any = "validation") -> JsonSchemaValue:
        made = super().generate(schema, mode)
        definitions = made.pop("$defs", {})
        return {**made, "definitions": definitions}


def model_schema() -> dict[str, Any]:
    """Return the schema of the settings, with every part under `definitions`."""
    return Settings.model_json_schema(
        by_alias=True, ref_template="#/definitions/{model}", schema_generator=_Terse
    )


def stack_file_schema(project: str = "coder-stack") -> dict[str, Any]:
    """Return the schema of a Pulumi.<stack>.yaml, which allows any keys of other projects."""
    tree = model_schema()
    secrets = {
        key: {**_ENCRYPTED, "description": f"{what[0].upper()}{what[1:]}. Encrypted."}
        for key, what in SECRETS.items()
    }
    keys = {**tree["properties"], **secrets}
    known = "|".join(keys)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"Config of a stack of {project}",
        "type": "object",
        "properties": {
            "config": {
                "type": "object",
                "properties": {f"{project}:{key}": value for key, value in keys.items()},
                "patternProperties": {f"^{project}:(?!(?:{known})$)": False},
            },
            # Pulumi's own keys; it ignores all others without a word.
            **{
                key: {"type": "string"}
                for key in PULUMI_KEYS
                if key not in ("config", "environment")
            },
            "environment": {"type": ["array", "object"]},
        },
        "additionalProperties": False,
        "definitions": tree["definitions"],
    }
