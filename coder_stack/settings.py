"""The whole stack config as one typed tree: what may be set, with which default, and what is wrong.

Read once, by __main__.py, before any resource exists; every mistake is reported at once with the
path of its field. Secrets do not pass through here: they stay Pulumi secrets all the way.
"""

import difflib
import json
import types
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from coder_stack.naming import LABEL_RULE, is_label


def _label(value: str) -> str:
    if not is_label(value):
        raise ValueError(f"must be a Kubernetes name: {LABEL_RULE}")
    return value


Label = Annotated[str, AfterValidator(_label)]


class Part(BaseModel):
    """One mapping of the config: camelCase in YAML, no unknown fields, nothing changes later."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, strict=True
    )


class Kubernetes(Part):
    """Which cluster to deploy to."""

    kubeconfig: str | None = Field(
        default=None,
        min_length=1,
        description="Path of a kubeconfig, relative to the project's folder. Default: as kubectl.",
    )
    context: str | None = Field(
        default=None,
        min_length=1,
        description="Context in that kubeconfig. Default: its current one.",
    )


class Image(Part):
    """Which coderd to run."""

    repository: str = Field(
        default="ghcr.io/coder/coder",
        pattern=r"^[a-z0-9]([a-z0-9._/:-]*[a-z0-9])?$",
        description="Image without its tag.",
    )
    tag: str = Field(
        default="v2.30.0",
        pattern=r"^[\w][\w.-]{0,127}$",
        description="Version of Coder, as the image is tagged.",
    )
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = Field(
        default="IfNotPresent", description="When the kubelet pulls the image."
    )

    @property
    def reference(self) -> str:
        """What the container's `image` says."""
        return f"{self.repository}:{self.tag}"


class Service(Part):
    """How coderd is reached inside the cluster."""

    type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = Field(
        default="ClusterIP", description="Type of the Service."
    )
    port: int = Field(default=80, ge=1, le=65535, description="Port of the Service.")


class Database(Part):
    """Where the PostgreSQL URL is: a Secret in coderd's namespace, made by somebody else."""

    secret_name: Label = Field(description="Name of the Secret.")
    secret_key: str = Field(
        default="url",
        pattern=r"^[-._a-zA-Z0-9]{1,253}$",
        description="Key in the Secret's data that holds the URL.",
    )


class ControlPlane(Part):
    """coderd itself."""

    name: Label = Field(
        default="coder", description="Name of the Deployment, Service and ServiceAccount."
    )
    namespace: Label = Field(default="coder", description="Namespace of coderd.")
    create_namespace: bool = Field(
        default=True,
        description="Create and own it. With false it must exist, and is never deleted.",
    )
    image: Image = Field(default=Image(), description="Which image to run.")
    replicas: int = Field(default=1, ge=0, le=100, description="Number of coderd pods.")
    service: Service = Field(default=Service(), description="The Service in front of coderd.")
    access_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s/?#]+/?$",
        description="URL at which people reach Coder. Default: the Service's own.",
    )
    database: Database | None = Field(
        default=None, description="The database. Default: Coder's built-in one, for trying it out."
    )
    env: dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], str] = Field(
        default={},
        description="More environment variables of coderd. No secrets: all can be read.",
    )
    workspace_deployments: bool = Field(
        default=True, description="Let templates create Deployments, beside pods and volumes."
    )
    workspace_namespaces: tuple[Label, ...] = Field(
        default=(), strict=False, description="Further, existing namespaces for workspaces."
    )


class Settings(Part):
    """Everything under `coder-stack:` in a stack's config file."""

    kubernetes: Kubernetes = Field(default=Kubernetes(), description="Which cluster to deploy to.")
    control_plane: ControlPlane = Field(default=ControlPlane(), description="coderd itself.")


class ConfigError(Exception):
    """All mistakes of a config, one line each."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        count = "1 mistake" if len(problems) == 1 else f"{len(problems)} mistakes"
        lines = "".join(f"\n  - {problem}" for problem in problems)
        super().__init__(f"{count} in the stack's config; nothing was changed:{lines}")


def load(config: Mapping[str, str], namespace: str, secret_keys: Collection[str] = ()) -> Settings:
    """Settings from Pulumi's config, which maps `namespace:key` to text (JSON for a mapping).

    What stands under a secret key is checked like the rest, but never shown.
    """
    prefix = f"{namespace}:"
    hidden = {key.removeprefix(prefix) for key in secret_keys}
    raw = {
        key.removeprefix(prefix): _value(text)
        for key, text in config.items()
        if key.startswith(prefix)
    }
    try:
        # In YAML a field has one spelling; code may use Python's names.
        return Settings.model_validate(raw, by_alias=True, by_name=False)
    except ValidationError as error:
        problems = [_sentence(dict(e), hidden) for e in error.errors(include_url=False)]
        raise ConfigError(sorted(problems)) from None


def _value(text: str) -> Any:
    """Pulumi hands over text; what is a mapping or list in YAML arrives as JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _sentence(error: dict[str, Any], hidden: Collection[str]) -> str:
    path = _path(error["loc"])
    got = "[secret]" if error["loc"][0] in hidden else _show(error["input"])
    match error["type"]:
        case "extra_forbidden":
            return f"{path}: is not a field; {_allowed(error['loc'])}"
        case "missing":
            return f"{path}: is required"
        case "model_type" | "dict_type":
            return f"{path}: must be a mapping, got {got}"
        case "value_error":
            return f"{path}: {error['ctx']['error']}, got {got}"
        case _:
            said = str(error["msg"])
            return f"{path}: {said[0].lower()}{said[1:]}, got {got}"


def _path(loc: tuple[int | str, ...]) -> str:
    text = ""
    for step in loc:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step != "[key]":
            text += f".{step}" if text else step
    return text


def _show(given: Any) -> str:
    shown = json.dumps(given, default=str)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _allowed(loc: tuple[int | str, ...]) -> str:
    """The names that are possible at that place, the closest first."""
    model: type[BaseModel] = Settings
    for step in loc[:-1]:
        field = next((f for f in model.model_fields.values() if f.alias == step), None)
        inner = _model_in(field.annotation) if field else None
        model = inner or model
    names = sorted(field.alias or name for name, field in model.model_fields.items())
    close = difflib.get_close_matches(str(loc[-1]), names, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    return f"{hint}known here: {', '.join(names)}"


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The mapping that a field holds, seen through `X | None` and `tuple[X, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (Union, types.UnionType, tuple, list):
        return next((m for a in get_args(annotation) if (m := _model_in(a))), None)
    return None
