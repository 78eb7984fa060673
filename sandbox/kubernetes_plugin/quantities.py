"""Convert resource quantities (`500m`, `1.5Gi`) to the API server's canonical form.

The server rewrites `1000m` as `1`; inputs are rewritten in the same way, to show no difference.
"""

import re
from decimal import Decimal
from typing import Final

_FORM: Final = re.compile(
    r"^(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))(?P<suffix>Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d+)?$"
)
_BINARY: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL: Final = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18
}  # fmt: skip
_FINEST: Final = -9


def parse(text: str) -> Decimal | None:
    """Return the number of a quantity; None if the text is not one."""
    match = _FORM.match(text.strip())
    if match is None:
        return None
    number, suffix = Decimal(match["number"]), match["suffix"] or ""
    if suffix in _BINARY:
        return number * Decimal(1024) ** _BINARY.index(suffix)
    if suffix in _DECIMAL:
        return number.scaleb(_DECIMAL[suffix])
    return number.scaleb(int(suffix[1:]))


def canonical(text: str) -> str:
    """Return the canonical form of a quantity; other text is not changed.

    The server converts twice: `0.581Gi` to `623844000`, and that as a decimal amount to `623844k`.
    """
    return _written(_written(text))


def _written(text: str) -> str:
    value = parse(text)
    if value is None:
        return text
    suffix = (_FORM.match(text.strip()) or {"suffix": ""})["suffix"] or ""
    if suffix.endswith("i"):
        if abs(value) >= 1024:
            return _binary(value)
    elif suffix[:1] in {"e", "E"} and len(suffix) > 1:
        return _scaled(value, {f"e{power}" if power else "": power for power in range(-9, 19, 3)})
    return _scaled(value, _DECIMAL)


def _binary(value: Decimal) -> str:
    whole = int(value.to_integral_value(rounding="ROUND_UP"))
    power = 0
    while whole % 1024 == 0 and power < len(_BINARY) - 1:
        whole //= 1024
        power += 1
    return f"{whole}{_BINARY[power]}"


def _scaled(value: Decimal, suffixes: dict[str, int]) -> str:
    """Return the largest suffix that leaves a whole number."""
    if value == 0:
        return "0"
    smallest = value.scaleb(-_FINEST).to_integral_value(rounding="ROUND_UP").scaleb(_FINEST)
    for suffix, power in sorted(suffixes.items(), key=lambda entry: -entry[1]):
        scaled = smallest.scaleb(-power)
        if scaled == scaled.to_integral_value():
            return f"{int(scaled)}{suffix}"
    return f"{value:f}"
