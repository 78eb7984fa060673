"""The mistakes that a config has."""

import json
from typing import Any

from coder_stack.settings import ConfigError, load


def problems(
    config: dict[str, Any], secrets: dict[str, str] | None = None, encrypted: tuple[str, ...] = ()
) -> list[str]:
    """Every mistake of a config with these encrypted secrets; none is an empty list."""
    texts = {f"coder-stack:{k}": json.dumps(v) for k, v in config.items()}
    texts |= {f"coder-stack:{k}": v for k, v in (secrets or {}).items()}
    hidden = [f"coder-stack:{key}" for key in (*(secrets or {}), *encrypted)]
    try:
        load(texts, "coder-stack", hidden)
    except ConfigError as error:
        return error.problems
    return []


def paths(config: dict[str, Any], secrets: dict[str, str] | None = None) -> list[str]:
    return [line.split(": ")[0] for line in problems(config, secrets)]
