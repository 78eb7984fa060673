"""Read conditions, license, keys and proxies of a report from the stack's outputs. Pure.

An older program, or one that uses only parts of this library, lacks some outputs; then the report
lacks them too. docs/outputs.md describes the outputs.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypedDict, cast

from pydantic import ValidationError

from coder_stack.conditions import Condition
from coder_stack.operate.report.model import KeyAge, LicenseDates, ProxySummary


class ReportFields(TypedDict):
    """The fields of a Report that come from outputs."""

    conditions: tuple[Condition, ...]
    license: LicenseDates | None
    keys: tuple[KeyAge, ...]
    proxies: tuple[ProxySummary, ...]


def parse_outputs(outputs: Mapping[str, Any]) -> ReportFields:
    """Leave out what cannot be read."""
    return ReportFields(
        conditions=tuple(_conditions(outputs)),
        license=_license(outputs.get("license")),
        keys=tuple(_keys(outputs)),
        proxies=tuple(
            ProxySummary(
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
    fields = cast("Mapping[str, Any]", output)
    if not fields.get("configured"):
        return None
    try:
        return LicenseDates(
            applied=fields.get("applied") is True,
            license_expires=fields.get("licenseExpires") or None,
            exp=fields.get("exp") or None,
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
            age_days=_integer(each.get("keyAgeDays")),
            rotate_after_days=rotation.get(name),
            daemons=_integer(each.get("daemons")),
        )


def _rotation(settings: object) -> dict[str, int | None]:
    """Return the days after which each provisioner's key is rotated, from the applied config."""
    declared = _mappings(_get(settings, "provisioners"))
    return {
        str(each.get("name")): _integer(_get(each.get("key"), "rotateAfterDays"))
        for each in declared
    }


def _mappings(value: object) -> list[Mapping[str, Any]]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Mapping[str, Any]", each) for each in items if isinstance(each, Mapping)]


def _get(value: object, key: str) -> object:
    return cast("Mapping[str, object]", value).get(key) if isinstance(value, Mapping) else None


def _integer(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) else None
