"""What the stack's outputs say about conditions, license, keys and proxies, as parts of a report.

Pure. Outputs are taken as they come: those of an older program, or of one that only uses parts of
this library, lack some, and then the report does. docs/outputs.md describes them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypedDict, cast

from pydantic import ValidationError

from coder_stack.conditions import Condition
from coder_stack.operate.report.model import KeyAge, LicenseDates, ProxyReport

__all__ = ["OutputFacts", "facts_in"]


class OutputFacts(TypedDict):
    """Fields of a Report."""

    conditions: tuple[Condition, ...]
    license: LicenseDates | None
    keys: tuple[KeyAge, ...]
    proxies: tuple[ProxyReport, ...]


def facts_in(outputs: Mapping[str, Any]) -> OutputFacts:
    """What can be read of them."""
    return OutputFacts(
        conditions=tuple(_conditions(outputs)),
        license=_license(outputs.get("license")),
        keys=tuple(_keys(outputs)),
        proxies=tuple(
            ProxyReport(
                name=str(each.get("name", "")),
                health=str(each.get("health") or "unknown"),
                version=str(each.get("version") or ""),
            )
            for each in _mappings(outputs.get("proxies"))
        ),
    )


def _conditions(outputs: Mapping[str, Any]) -> Iterator[Condition]:
    for each in _mappings(outputs.get("conditions")):
        try:
            yield Condition.model_validate(each)
        except ValidationError:
            continue


def _license(output: object) -> LicenseDates | None:
    if not isinstance(output, Mapping):
        return None
    given = cast("Mapping[str, Any]", output)
    if not given.get("configured"):
        return None
    try:
        return LicenseDates(
            applied=given.get("applied") is True,
            license_expires=given.get("licenseExpires") or None,
            exp=given.get("exp") or None,
        )
    except ValidationError:
        return None


def _keys(outputs: Mapping[str, Any]) -> Iterator[KeyAge]:
    rotation = _rotation(outputs.get("settings"))
    for each in _mappings(outputs.get("provisioners")):
        name = str(each.get("name", ""))
        yield KeyAge(
            provisioner=name,
            organization=str(each.get("organization", "")),
            key_name=str(each.get("keyName") or ""),
            age_days=_whole(each.get("keyAgeDays")),
            rotate_after_days=rotation.get(name),
            daemons=_whole(each.get("daemons")),
        )


def _rotation(settings: object) -> dict[str, int | None]:
    """Days after which each provisioner's key is rotated, from the config in force."""
    declared = _mappings(_get(settings, "provisioners"))
    return {
        str(each.get("name")): _whole(_get(each.get("key"), "rotateAfterDays")) for each in declared
    }


def _mappings(value: object) -> list[Mapping[str, Any]]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Mapping[str, Any]", each) for each in items if isinstance(each, Mapping)]


def _get(value: object, key: str) -> object:
    return cast("Mapping[str, object]", value).get(key) if isinstance(value, Mapping) else None


def _whole(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) else None
