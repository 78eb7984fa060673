"""Generate docs/configuration.md from the settings' models, which describe each field."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from coder_stack.settings.access import AccessSettings, LicenseSettings
from coder_stack.settings.control_plane import ControlPlaneSettings
from coder_stack.settings.drift import DriftSettings
from coder_stack.settings.exposure import ExposedSettings
from coder_stack.settings.kubernetes import KubernetesSettings
from coder_stack.settings.loading import SECRETS
from coder_stack.settings.notify import NotifySettings, WatchSettings
from coder_stack.settings.organizations import OrganizationSettings
from coder_stack.settings.part import Part
from coder_stack.settings.provisioner import KeySettings, ProvisionerSettings
from coder_stack.settings.reconcile_job import ReconcileJobSettings
from coder_stack.settings.schema import model_schema
from coder_stack.settings.tree import Settings
from coder_stack.settings.workload import WorkloadSettings
from coder_stack.settings.workspace_proxy import ProxySettings

_INTRODUCTION = """\
<!-- Written by `make docs` from coder_stack/settings. Do not edit. -->

# Configuration

Settings are in `Pulumi.<stack>.yaml` under `config:`, each top-level field as
`coder-stack:<field>`. The [examples](../examples/README.md) are complete files to start from.

```yaml
# yaml-language-server: $schema=docs/configuration.schema.json
config:
  coder-stack:controlPlane:
    accessUrl: https://coder.example.com
    replicas: 2
```

All fields are optional unless marked as required. Unknown fields are errors. All mistakes are
reported at once, before anything is changed. `coder-stack config check Pulumi.<stack>.yaml` reports
them without a cluster; for a valid file it prints the settings with all defaults.

The first line is for editors with YAML support: they complete and check the file with
[the schema](configuration.schema.json). A snippet in these docs begins with `config:` too; a file
has that key only once, so add what is below it to yours. Pulumi ignores settings outside of
`config:`; here they are errors.

"As in Kubernetes" means: written as in the Kubernetes documentation, and checked by the API server.
"""

_SECRETS = """\
## Secrets

Set these with `pulumi config set --secret <key>`; they must not be in the file in plain text. No
other field may be encrypted: previews and outputs show all of them.
"""

_HEADINGS: dict[str, type[Part]] = {
    "kubernetes": KubernetesSettings,
    "controlPlane": ControlPlaneSettings,
    "access": AccessSettings,
    "license": LicenseSettings,
    "organizations": OrganizationSettings,
    "provisioners": ProvisionerSettings,
    "key": KeySettings,
    "proxies": ProxySettings,
    "drift": DriftSettings,
    "watch": WatchSettings,
    "notify": NotifySettings,
    "reconcileJob": ReconcileJobSettings,
}
# Base classes of several of them; their fields are listed once.
_SHARED: dict[type[Part], str] = {ExposedSettings: "Exposure", WorkloadSettings: "Workload"}


def reference_page() -> str:
    """Return the whole page."""
    definitions: dict[str, Any] = model_schema()["definitions"]
    blocks = [_INTRODUCTION, _section("Top level", Settings, model_schema()), _secrets()]
    order = [*_HEADINGS.values()]
    for heading, model in _HEADINGS.items():
        blocks.append(_section(heading, model, definitions[model.__name__]))
        if model is ControlPlaneSettings:
            plane = definitions["ControlPlaneSettings"]
            blocks += [_section(heading, shared, plane) for shared, heading in _SHARED.items()]
    for name, schema in definitions.items():
        if name not in {model.__name__ for model in order}:
            blocks.append(_section(name, _model(name), schema))
    return "\n".join(blocks)


def _section(heading: str, model: type[Part], schema: dict[str, Any]) -> str:
    lines = [f"## {heading}", "", _sentence(model), ""]
    if bases := _shared_bases(model):
        links = [f"[{_SHARED[each].lower()}](#{_SHARED[each].lower()})" for each in bases]
        lines[2] += f" Also has every field of {' and '.join(links)}."
    lines += ["| field | type | default | |", "| --- | --- | --- | --- |"]
    # Its own fields come first; pydantic begins with those of the base classes.
    fields = sorted(model.model_fields.items(), key=lambda each: _is_shared(model, each[0]))
    for name, info in fields:
        # Shared fields are listed once, unless they differ here.
        if any(_is_inherited(model, base, name) for base in _shared_bases(model)):
            continue
        field = schema["properties"][info.alias or name]
        cells = [f"`{info.alias}`", _type(field), _default(info.is_required(), info.default)]
        lines.append("| " + " | ".join([*cells, _escaped(info.description or "")]) + " |")
    return "\n".join([*lines, ""])


def _secrets() -> str:
    rows = [f"| `{key}` | {what[0].upper()}{what[1:]}. |" for key, what in SECRETS.items()]
    return "\n".join([_SECRETS, "| key | |", "| --- | --- |", *rows, ""])


def _shared_bases(model: type[Part]) -> list[type[Part]]:
    return [each for each in _SHARED if issubclass(model, each) and model is not each]


def _is_shared(model: type[Part], name: str) -> bool:
    return any(name in base.model_fields for base in _shared_bases(model))


def _is_inherited(model: type[Part], base: type[Part], name: str) -> bool:
    shared, own = base.model_fields.get(name), model.model_fields[name]
    if shared is None:
        return False
    return (shared.description, shared.default) == (own.description, own.default)


def _sentence(model: type[Part]) -> str:
    return " ".join((model.__doc__ or "").split("\n\n")[0].split())


def _model(name: str) -> type[Part]:
    return next(model for model in _parts(Part) if model.__name__ == name)


def _parts(model: type[Part]) -> Iterator[type[Part]]:
    for each in model.__subclasses__():
        yield each
        yield from _parts(each)


def _type(schema: dict[str, Any]) -> str:
    """Return the type in words; a part as a link to its table."""
    match schema:
        case {"$ref": str(reference)}:
            name = reference.rpartition("/")[2]
            shown = next((h for h, model in _HEADINGS.items() if model.__name__ == name), name)
            return f"[{shown}](#{shown.lower()})"
        case {"title": str(kind), "pattern": _}:
            return kind
        case {"anyOf": [*options]}:
            words = [_type(option) for option in options if option != {"type": "null"}]
            return " or ".join(dict.fromkeys(words))
        case {"enum": [*values]}:
            return ", ".join(f"`{value}`" for value in values)
        case {"type": "array", "items": items}:
            return f"list of {_type(items)}"
        case {"type": "object", "patternProperties": patterns}:
            return f"mapping to {_type(next(iter(patterns.values())))}"
        case {"type": "object", "additionalProperties": {**values}} if values:
            return f"mapping to {_type(values)}"
        case {"type": "integer"}:
            return f"number{_range(schema)}"
        case {"type": str(simple)}:
            date = schema.get("format") == "date"
            plain = {"string": "text", "boolean": "`true` or `false`", "object": "mapping"}
            return "date" if date else plain.get(simple, simple)
        case _:
            return "anything"


def _range(schema: dict[str, Any]) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f" ({least} to {most})"
    return f" ({least} or more)" if least is not None else ""


def _default(required: bool, value: Any) -> str:
    if required:
        return "required"
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return f"`{json.dumps(value)}`" if value else ""
    if value in (None, "", (), {}):
        return ""
    return f"`{json.dumps(value)}`"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
