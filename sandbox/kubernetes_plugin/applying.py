"""Create objects with POST, and update them with server-side apply.

As in the official plugin since 4.29, a create fails if the object exists, unless the provider has
`upsertExistingObjects`. Unlike it, unknown fields are refused, so that typing errors show.
"""

from dataclasses import dataclass
from typing import Final

from sandbox.kubernetes_plugin import field_managers
from sandbox.kubernetes_plugin.api import Api
from sandbox.kubernetes_plugin.difference import parse_path
from sandbox.kubernetes_plugin.engine_log import EngineLog
from sandbox.kubernetes_plugin.errors import ApiError, NoSuchKind, PluginError
from sandbox.kubernetes_plugin.objects import (
    PATCH_FORCE,
    annotation,
    kind_of,
    name_of,
    namespace_of,
    with_metadata,
)
from sandbox.kubernetes_plugin.values import Object, Value, as_object, dig

# A namespace or CRD of the same update may become visible a moment later.
_ORDER_DELAYS: Final = (0.25, 0.5, 1.0, 2.0, 4.0)
_CRD: Final = "CustomResourceDefinition"


@dataclass(frozen=True)
class Applier:
    """Applies objects of one provider to its cluster."""

    api: Api
    log: EngineLog
    patch_force: bool
    upsert: bool

    def preview_create(self, inputs: Object, manager: str) -> Object | None:
        """Return the result of a dry run; None if only the update can know it."""
        try:
            return self.api.create(
                inputs, fieldManager=manager, fieldValidation="Strict", dryRun="All"
            )
        except ApiError as error:
            if error.already_exists or error.forbidden or error.missing_namespace:
                return None
            raise

    def create(self, inputs: Object, manager: str, urn: str) -> Object:
        """Create the object; retry while its namespace or CRD is being created."""
        for delay in (*_ORDER_DELAYS, None):
            try:
                return self._create(inputs, manager)
            except (ApiError, NoSuchKind) as error:
                early = isinstance(error, NoSuchKind) or error.not_found
                if not early or delay is None:
                    raise
                self.log.status(urn, f"creation failed, trying again: {error}")
                self.api.pause(delay)
        raise AssertionError("unreachable: the last turn returns or raises")

    def _create(self, inputs: Object, manager: str) -> Object:
        if self.upsert:
            return self._apply(inputs, manager, force=self._forced(inputs))
        return self.api.create(inputs, fieldManager=manager, fieldValidation="Strict")

    def update(
        self, inputs: Object, live: Object, manager: str, ignored: list[str], *, preview: bool
    ) -> Object:
        """Apply the inputs to the live object; fields that are no longer in them are removed."""
        if kind_of(inputs).name == _CRD:
            version = dig(live, "metadata", "resourceVersion")
            query = {"fieldManager": manager} | ({"dryRun": "All"} if preview else {})
            return self.api.replace(with_metadata(inputs, resourceVersion=version), **query)
        force = self._forced(inputs) or not field_managers.managers(live)
        if preview:
            force = force or field_managers.created_by_us(live)
        else:
            live = self._take_over(live, manager)
        wanted = _without_ignored(inputs, live, manager, ignored)
        return self._apply(wanted, manager, force=force, preview=preview)

    def _take_over(self, live: Object, manager: str) -> Object:
        entries = field_managers.taken_over(live, manager)
        if entries is None:
            return live
        path = "/metadata/managedFields"
        return self.api.patch_json(live, [{"op": "replace", "path": path, "value": entries}])

    def _apply(self, inputs: Object, manager: str, *, force: bool, preview: bool = False) -> Object:
        query = {
            "fieldManager": manager,
            "force": "true" if force else "false",
            "fieldValidation": "Strict",
        }
        try:
            return self.api.apply(inputs, **query, **({"dryRun": "All"} if preview else {}))
        except ApiError as error:
            if not error.field_conflict:
                raise
            raise PluginError(
                f'server-side apply conflict for {kind_of(inputs).name} "{name_of(inputs)}" as '
                f'field manager "{manager}": {error}. To take the fields over, set the annotation '
                f'{PATCH_FORCE}: "true" or the provider option enablePatchForce'
            ) from error

    def _forced(self, inputs: Object) -> bool:
        return annotation(inputs, PATCH_FORCE) == "true" or self.patch_force

    def live(self, obj: Object) -> Object:
        """Return the live object."""
        return self.api.get(kind_of(obj), namespace_of(obj), name_of(obj))


def _without_ignored(inputs: Object, live: Object, manager: str, ignored: list[str]) -> Object:
    """Return inputs that keep the live value of ignored fields, or leave them to another owner."""
    for text in ignored:
        path = [str(step) for step in parse_path(text)]
        others = field_managers.others_own(live, path, than=manager)
        if others and not field_managers.owns(live, path, by=manager):
            inputs = _replaced(inputs, path, None)
        elif (value := dig(live, *path)) is not None:
            inputs = _replaced(inputs, path, value)
    return inputs


def _replaced(obj: Object, path: list[str], value: Value) -> Object:
    """Return a copy with the value at the path set, or removed if it is None."""
    head, rest = path[0], path[1:]
    copy = dict(obj)
    if rest:
        copy[head] = _replaced(as_object(copy.get(head)), rest, value)
    elif value is None:
        copy.pop(head, None)
    else:
        copy[head] = value
    return copy
