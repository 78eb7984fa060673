"""docs/policies.md, made from what the rules say about themselves.

`python policies/reference.py` writes the page anew; a test keeps it current. Imports no PolicyPack.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from pulumi_policy import Policy, StackValidationPolicy

from pack import FAMILIES

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).parents[1] / "docs" / "policies.md"
_INTRODUCTION = """\
<!-- Made by `python policies/reference.py` from the rules in policies/; do not edit. -->

# Policies

A policy pack for a stack that deploys Coder, and for whatever else stands in it. Nothing switches
it on by itself:

```sh
pulumi preview --policy-pack policies [--policy-pack-config policies.json]
pulumi up      --policy-pack policies [--policy-pack-config policies.json]
```

Use it in both. What a preview cannot know yet is shown there as an advisory "can't run policy …",
and judged by `up`. Rules on the whole stack run last, and only if nothing failed before.

- **mandatory**: a violation fails the preview; an update does not touch the resource.
- **remediate**: what nobody has set is filled in before it is applied, and the output says so. What
  somebody set otherwise is not overruled: it is a mandatory violation. A run without the pack takes
  out again what was filled in, so keep it on; the program itself needs nothing filled in.
- **advisory**: a warning.

Levels and options are set by rule, or by `all`, in the file for `--policy-pack-config`:

```json
{
  "image-pinned": "mandatory",
  "image-registry": { "registries": ["registry.example.com"] },
  "readiness-probe": "disabled"
}
```

Messages name the resource, the field and the fix, and never a value. A Helm release is one opaque
resource to a policy: what is in it is not seen.
"""
_HEAD = (
    "| rule | level | severity | what it wants | how to mend it |",
    "| --- | --- | --- | --- | --- |",
)


def page() -> str:
    """The whole page."""
    lines = [_INTRODUCTION]
    for family, rules in FAMILIES.items():
        lines += [f"## {family}", "", *_HEAD, *map(_row, rules), ""]
        options = [line for rule in rules for line in _options(rule)]
        lines += [*options, ""] if options else []
    return "\n".join(lines).rstrip() + "\n"


def _row(rule: Policy) -> str:
    level = rule.enforcement_level.value if rule.enforcement_level else ""
    severity = rule.severity.value if rule.severity else ""
    stack = " (whole stack)" if isinstance(rule, StackValidationPolicy) else ""
    cells = (f"`{rule.name}`", level, severity, f"{rule.description}{stack}")
    return f"| {' | '.join(cells)} | {rule.remediation_steps} |"


def _options(rule: Policy) -> Iterator[str]:
    schema = rule.config_schema.properties if rule.config_schema else {}
    for name, option in schema.items():
        default = json.dumps(option["default"])
        yield f"- `{rule.name}`, option `{name}` (default `{default}`): {option['description']}"


if __name__ == "__main__":
    PAGE.write_text(page())
