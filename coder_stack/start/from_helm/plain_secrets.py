"""Recognize secrets in plain text, by the name of a variable or by the value. Pure.

A name decides alone: a password may look like anything. False alarms are acceptable, because they
are listed with what to do; a secret in a config file is not.
"""

import re
from typing import Any

from coder_stack.start.from_helm.outcomes import leaves

_NAME = re.compile(
    r"TOKEN|PASSW|PASSPHRASE|SECRET|KEY|PSK|CREDENTIAL|AUTH_HEADER|CONNECTION_URL|DSN|WEBHOOK"
    r"|LICENSE|JWT|PRIVATE"
)
# What these names hold is a setting, such as the path of a file or a lifetime.
_SETTING = re.compile(r"_(?:FILE|PATH|DIR|LIFETIME|DURATION|ALGORITHM|FIELD|ENABLED?|TTL)$")
_SWITCH = re.compile(r"(?:true|false)?", re.IGNORECASE)
_VALUE = re.compile(
    r"eyJ[A-Za-z0-9_-]{8}"  # a JSON web token
    r"|-----BEGIN"
    r"|://[^/\s]*@"  # a URL with a user, and perhaps a password
    r"|\b(?:gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|AKIA[0-9A-Z]{12})"
    r"|(?i:password|passwd|pwd|secret|token)\s*[=:]\s*\S"
)
_OPTION = re.compile(r"--?[a-z-]*(?:token|passw|secret|key|psk)", re.IGNORECASE)


def in_variable(name: str, value: str) -> bool:
    """Tell whether a variable holds a secret."""
    named = _NAME.search(name.upper()) and not _SETTING.search(name.upper())
    return bool(_VALUE.search(value) or (named and not _SWITCH.fullmatch(value)))


def anywhere_in(value: Any) -> bool:
    """Tell whether any text in the value, or any key of a mapping in it, looks like a secret."""
    return any(
        isinstance(text, str) and _VALUE.search(text)
        for path, leaf in leaves(value)
        for text in (*path, leaf)
    )


def in_arguments(arguments: list[str]) -> bool:
    """Tell whether a command line has an option with a secret."""
    return any(_OPTION.match(each) or _VALUE.search(each) for each in arguments)
