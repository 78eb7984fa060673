"""Generate docs/policies.md from the rules: `python policies/reference.py`.

A test checks that the page is current.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from pulumi_policy import Policy, StackValidationPolicy

from pack import FAMILIES

PAGE = Path(__file__).parents[1] / "docs" / "policies.md"
_INTRODUCTION = """\
<!-- Made by `python policies/reference.py` from the rules in policies/; do not edit. -->

# Policies

A Pulumi policy pack for stacks that deploy Coder. It also checks other resources of the stack. Run
it in previews and updates:

```sh
pulumi preview --policy-pack policies [--policy-pack-config policies.json]
pulumi up      --policy-pack policies [--policy-pack-config policies.json]
```

Some values are unknown in a preview. It then shows an advisory "can't run policy …", and `up`
checks them. Rules for the whole stack run last, and only if no other rule has failed.

- **mandatory**: a violation fails the preview. In an update, the resource is not changed.
- **remediate**: a missing value is set before the resource is applied, and the output says so. A
  wrong value is not overwritten: it is a mandatory violation. A run without the pack removes the
  values that it had set. The resources of this program need no remediation.
- **advisory**: a violation is a warning.

Set levels and options for a rule, or for `all`, in the file for `--policy-pack-config`:

```json
{
  "image-pinned": "mandatory",
  "image-registry": { "registries": ["registry.example.com"] },
  "readiness-probe": "disabled"
}
```

Messages name the resource, the field and the fix, but never a value. Policies cannot check the
objects inside a Helm release.
"""
_HEAD = (
    "| rule | level | severity | requirement | how to fix it |",
    "| --- | --- | --- | --- | --- |",
)


def page() -> str:
    """Return the whole page."""
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
