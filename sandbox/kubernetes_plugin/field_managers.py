"""The owners of fields in server-side apply (`metadata.managedFields`).

A POST makes our manager an owner with the operation `Update`, which the server distinguishes from
the same manager with `Apply`. An update first moves that ownership, and kubectl's, to `Apply`.
Otherwise our own fields would conflict, and removed fields would stay.
"""

from typing import Final

from sandbox.kubernetes_plugin.values import Object, Value, as_list, as_object, as_text, dig

# (prefix of the manager, operation) of fields that an update takes over, as in the official plugin.
_TAKEN_OVER: Final = (
    ("kubectl", "Apply"),
    ("kubectl", "Update"),
    ("before-first-apply", "Update"),
    ("pulumi-kubernetes", "Update"),
    ("pulumi-resource-kubernetes", "Update"),
)
_OURS: Final = ("pulumi-kubernetes", "pulumi-resource-kubernetes")


def managers(live: Object) -> list[Object]:
    """Return the entries of `metadata.managedFields`."""
    return [as_object(entry) for entry in as_list(dig(live, "metadata", "managedFields"))]


def created_by_us(live: Object) -> bool:
    """Return whether the create still owns fields, so that a dry run would conflict."""
    return any(
        entry.get("operation") == "Update" and as_text(entry.get("manager")).startswith(_OURS)
        for entry in managers(live)
    )


def taken_over(live: Object, manager: str) -> list[Value] | None:
    """Return the `managedFields` after the take-over; None if nothing changes."""
    ours: Object = {}
    others: list[Value] = []
    changed = False
    for entry in managers(live):
        if entry.get("manager") == manager and entry.get("operation") == "Apply":
            ours = {**entry, "fieldsV1": _union(as_object(ours.get("fieldsV1")), entry)}
        elif _is_taken(entry):
            fields = _union(as_object(ours.get("fieldsV1")), entry)
            ours = {**(ours or entry), "manager": manager, "operation": "Apply", "fieldsV1": fields}
            changed = True
        else:
            others.append(entry)
    return [*others, ours] if changed else None


def _is_taken(entry: Object) -> bool:
    # An entry of a subresource (`kubectl scale`) is intended: it stays, and conflicts.
    return not entry.get("subresource") and any(
        as_text(entry.get("manager")).startswith(prefix) and entry.get("operation") == operation
        for prefix, operation in _TAKEN_OVER
    )


def _union(fields: Object, entry: Object) -> Object:
    return _merge(fields, as_object(entry.get("fieldsV1")))


def _merge(left: Object, right: Object) -> Object:
    """Return the union of two field sets. `{}` is an owned leaf; `.` marks an owned inner node."""
    if not left or not right:
        return left or right
    merged = dict(left)
    for key, value in right.items():
        present = merged.get(key)
        if present is None:
            merged[key] = value
        elif present != value:
            inner = _merge(as_object(present), as_object(value))
            leaf = not as_object(present) or not as_object(value)
            merged[key] = {**inner, ".": {}} if leaf and key != "." else inner
    return merged


def owns(live: Object, path: list[str], *, by: str) -> bool:
    """Return whether the manager owns the field at that path or one below it."""
    return any(
        _has(as_object(entry.get("fieldsV1")), path)
        for entry in managers(live)
        if entry.get("manager") == by
    )


def others_own(live: Object, path: list[str], *, than: str) -> bool:
    """Return whether another manager owns the field at that path or one below it."""
    return any(
        _has(as_object(entry.get("fieldsV1")), path)
        for entry in managers(live)
        if entry.get("manager") != than
    )


def _has(fields: Object, path: list[str]) -> bool:
    node: Value = fields
    for step in path:
        node = dig(node, f"f:{step}")
        if node is None:
            return False
    return True
