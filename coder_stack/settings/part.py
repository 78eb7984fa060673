"""The base class of all parts of the config, and the types of their values.

A type has its rule in words, for messages, and as a pattern, for the JSON schema.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationInfo,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, core_schema

from coder_stack.coderd.names import HYPHENATED, HYPHENATED_RULE
from coder_stack.naming import LABEL, LABEL_RULE, MAX_LABEL

T = TypeVar("T")

DRAFT = {"draft": True}
"""Validation context in which clashes between fields are not checked yet."""


@dataclass(frozen=True)
class Shape:
    """A format of text: a pattern for all of it, and the same rule in words."""

    pattern: str
    words: str
    longest: int | None = None
    kind: str = "text"
    """The type in the reference page."""

    def check(self, value: str) -> str:
        """Return the text if it has this format."""
        too_long = self.longest is not None and len(value) > self.longest
        if too_long or re.fullmatch(self.pattern, value) is None:
            raise ValueError(f"must be {self.words}")
        return value

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        limit = {} if self.longest is None else {"maxLength": self.longest}
        # patternErrorMessage is not in the standard, but editors show it in place of the pattern.
        texts = {"patternErrorMessage": f"must be {self.words}", "title": self.kind}
        return {**handler(schema), "pattern": f"^(?:{self.pattern})$", **limit, **texts}


def faultless(fault: Callable[[T], str | None]) -> AfterValidator:
    """Make a validator of a function that says what is wrong with a value, or None."""

    def check(value: T) -> T:
        if found := fault(value):
            raise ValueError(found)
        return value

    return AfterValidator(check)


def _written_as_text(value: object) -> object:
    """Turn `cpu: 2` into "2", as Kubernetes does."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else value


_QUALIFIED = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"

Label = Annotated[str, Shape(LABEL, f"a Kubernetes name: {LABEL_RULE}", MAX_LABEL, "name")]
ObjectName = Annotated[
    str,
    Shape(
        rf"{LABEL}(?:\.{LABEL})*",
        (
            "the name of a Kubernetes object: 1 to 253 of a-z, 0-9, '-' and '.', each piece "
            "beginning and ending with a letter or digit"
        ),
        253,
        "name",
    ),
]
SecretKey = Annotated[str, Shape(r"[-._a-zA-Z0-9]+", "1 to 253 of a-z, A-Z, 0-9 and '-._'", 253)]
EnvName = Annotated[
    str,
    Shape(r"[A-Za-z_][A-Za-z0-9_]*", "letters, digits and '_', not beginning with a digit"),
]
Url = Annotated[
    str,
    Shape(
        r"https?://[^\s/?#@]+/?",
        "an http or https URL of a host, without user, path or query, e.g. https://x.example.com",
        kind="URL",
    ),
]
WildcardHost = Annotated[
    str,
    Shape(
        r"\*[-.a-zA-Z0-9]*\.[-.a-zA-Z0-9:]+",
        "a host beginning with '*', without a scheme, e.g. *.coder.example.com",
        kind="host",
    ),
]
StackName = Annotated[
    str,
    Shape(
        r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+",
        "the full name of a stack, <organization>/<project>/<stack>",
        kind="stack",
    ),
]
CoderName = Annotated[
    str,
    Shape(
        rf"(?!(?:new|create)$){HYPHENATED}",
        f"{HYPHENATED_RULE}, at most 32, and not new or create",
        32,
        "name",
    ),
]
Quantity = Annotated[
    str,
    Shape(
        r"[0-9]+(?:\.[0-9]+)?(?:m|k|[KMGTPE]i?|e[0-9]+)?",
        "a Kubernetes quantity, e.g. 500m or 2Gi",
        kind="quantity",
    ),
    BeforeValidator(_written_as_text, json_schema_input_type=str | int | float),
]
_LabelKey = Annotated[
    str,
    Shape(
        rf"(?:{LABEL}(?:\.{LABEL})*/)?{_QUALIFIED}",
        "a Kubernetes key: up to 63 letters, digits and '-_.', after an optional domain and '/'",
    ),
]
_LabelValue = Annotated[
    str, Shape(rf"(?:{_QUALIFIED})?", "the value of a label: at most 63 letters, digits and '-_.'")
]
Labels = dict[_LabelKey, _LabelValue]
Annotations = dict[_LabelKey, str]
Manifest = dict[str, Any]
"""Part of a Kubernetes object, written as in its documentation; the API server checks it."""


class Clash(NamedTuple):
    """Two fields that are valid by themselves, but not together."""

    path: str
    """Path of the field to change, relative to the part that reports it."""
    message: str


class Reference(NamedTuple):
    """A Secret or ConfigMap that somebody else creates and a part of the config refers to."""

    path: str
    """Path of the field that names it, relative to the part; empty if it is the whole part."""
    name: str
    keys: tuple[str, ...] = ()
    """Keys that its data must have."""
    kind: Literal["Secret", "ConfigMap"] = "Secret"
    namespace: str | None = None
    """None: the namespace of the part."""
    form: Literal["generic", "tls", "docker-registry"] = "generic"
    """The subcommand of `kubectl create secret` that creates it."""
    has_condition: bool = False
    """Whether this program reads it itself, and reports a missing one as `SecretMissing`."""


class Part(BaseModel):
    """One mapping of the config: camelCase in YAML, no unknown fields, immutable."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, strict=True
    )

    def clashes(self, invalid: Collection[str] = ()) -> Iterable[Clash]:
        """Return the fields of this part that do not fit together.

        `invalid` names fields (as in YAML) whose given value is invalid. They have their defaults
        here, which must not be reported.
        """
        return ()

    def references(self) -> Iterable[Reference]:
        """Return the objects of others that the fields of this part name, not those within."""
        return ()

    @model_validator(mode="after")
    def _check_clashes(self, info: ValidationInfo) -> Self:
        if info.context != DRAFT and (found := [": ".join(clash) for clash in self.clashes()]):
            raise ValueError("; ".join(found))
        return self


class SecretRef(Part):
    """One value in an existing Kubernetes Secret."""

    name: Label = Field(description="Name of the Secret.")
    key: SecretKey = Field(description="Key in the Secret's data.")

    def references(self) -> Iterator[Reference]:
        """Return the Secret."""
        yield Reference("", self.name, (self.key,))
