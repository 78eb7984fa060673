"""Read conditions, license, keys and proxies of a report from the stack's outputs. Pure.

An older program, or one that uses only parts of this library, lacks some outputs; then the report
lacks them too. docs/outputs.md describes the outputs.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import ValidationError

from coder_stack.conditions import Condition
from coder_stack.left_out import FLEETING, unseen
from coder_stack.operate.report.model import KeyAge, LicenseDates, ProxySummary, Readiness


@dataclass(frozen=True)
class StackOutputs:
    """What a report takes from outputs."""

    conditions: tuple[Condition, ...] = ()
    license: LicenseDates | None = None
    keys: tuple[KeyAge, ...] = ()
    proxies: tuple[ProxySummary, ...] = ()

    def without(self, components: Mapping[str, str]) -> "StackOutputs":
        """Take nothing for true of components in clusters that were not looked at.

        A preview may know no new conditions, and then has those of the last update.
        """
        unseen_proxy = {name: FLEETING[name] for name in ("health", "version", "report")}
        return replace(
            self,
            conditions=tuple(
                unseen(each, components[each.component]) if each.component in components else each
                for each in self.conditions
            ),
            keys=tuple(
                each.model_copy(update={"daemons": None})
                if f"provisioner/{each.provisioner}" in components
                else each
                for each in self.keys
            ),
            proxies=tuple(
                each.model_copy(update=unseen_proxy) if f"proxy/{each.name}" in components else each
                for each in self.proxies
            ),
        )


def parse_outputs(outputs: Mapping[str, Any]) -> StackOutputs:
    """Leave out what cannot be read."""
    return StackOutputs(
        conditions=tuple(_conditions(outputs)),
        license=_license(outputs.get("license")),
        keys=tuple(_keys(outputs)),
        proxies=tuple(
            ProxySummary(
                name=str(each.get("name", "")),
                health=str(each.get("health") or "unknown"),
                version=str(each.get("version") or ""),
                report=str(each.get("report") or ""),
            )
            for each in _mappings(outputs.get("proxies"))
        ),
    )


def readiness(conditions: Iterable[Condition]) -> Readiness:
    """Return what the condition Ready says; unknown without it."""
    statuses: dict[str, Readiness] = {"True": "ready", "False": "not ready"}
    for each in conditions:
        if each.type == "Ready":
            return statuses.get(each.status, "unknown")
    return "unknown"


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
            warn_days=_integer(fields.get("warnDays")),
        )
    except ValidationError:
        return None


def _keys(outputs: Mapping[str, Any]) -> Iterator[KeyAge]:
    for each in _mappings(outputs.get("provisioners")):
        yield KeyAge(
            provisioner=str(each.get("name", "")),
            organization=str(each.get("organization", "")),
            key_name=str(each.get("keyName") or ""),
            age_days=_integer(each.get("keyAgeDays")),
            rotate_after_days=_integer(each.get("rotateAfterDays")),
            daemons=_integer(each.get("daemons")),
        )


def _mappings(value: object) -> list[Mapping[str, Any]]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Mapping[str, Any]", each) for each in items if isinstance(each, Mapping)]


def _integer(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) else None
