"""Create, adopt and delete one organization, so that neither a double nor anybody's work is lost.

Coderd finds a deleted organization by its id and changes it as if it were there (soft delete): only
the list tells whether one exists.
"""

from dataclasses import dataclass

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.errors import CoderdError, Conflict, NotEmpty, NotEntitled
from coder_stack.coderd.models import KeyRecord, OrganizationRecord
from coder_stack.counting import counted


@dataclass(frozen=True)
class OrganizationTexts:
    """What people see of an organization."""

    name: str
    display_name: str
    description: str
    icon: str

    @classmethod
    def of(cls, found: OrganizationRecord) -> "OrganizationTexts":
        """Take them from coderd's answer."""
        return cls(found.name, found.display_name, found.description, found.icon)


def create_organization(
    coderd: Coderd, texts: OrganizationTexts, *, adopt: bool
) -> OrganizationRecord:
    """Create it, or adopt the one of that name where `may_adopt` allows that."""
    try:
        return coderd.create_organization(
            texts.name,
            display_name=texts.display_name,
            description=texts.description,
            icon=texts.icon,
        )
    except CoderdError as error:
        if not (isinstance(error, Conflict) or error.may_have_happened):
            raise
        found = find_named(coderd, texts.name)
        if found is None or not may_adopt(coderd, found, texts, adopt=adopt):
            raise
    return change_organization(coderd, found, texts)


def change_organization(
    coderd: Coderd, found: OrganizationRecord, texts: OrganizationTexts
) -> OrganizationRecord:
    """Write the texts, unless they are there already."""
    if OrganizationTexts.of(found) == texts:
        return found
    return coderd.update_organization(
        found.id,
        name=texts.name,
        display_name=texts.display_name,
        description=texts.description,
        icon=texts.icon,
    )


def find_named(coderd: Coderd, name: str) -> OrganizationRecord | None:
    """Find the organization of that name; coderd does not tell upper from lower case."""
    listed = coderd.organizations()
    return next((each for each in listed if each.name.lower() == name.lower()), None)


def may_adopt(
    coderd: Coderd, found: OrganizationRecord, texts: OrganizationTexts, *, adopt: bool
) -> bool:
    """Tell whether it may be taken over: if the program says so, or if a lost run left it (U3).

    A lost run leaves one with the wanted texts and nothing in it.
    """
    if adopt:
        return True
    as_wanted = OrganizationTexts.of(found) == texts and not found.is_default
    return as_wanted and not _contents(coderd, found, _keys(coderd, found))


def remove(coderd: Coderd, found: OrganizationRecord, *, with_keys: bool) -> None:
    """Delete it; NotEmpty while workspaces or provisioner keys are in it.

    The keys of this stack were deleted before: those that are left are somebody else's.
    """
    keys = _keys(coderd, found)
    contents = _contents(coderd, found, () if with_keys else keys)
    if contents:
        why = f"it holds {' and '.join(contents)}; move or delete them first."
        raise NotEmpty(f'delete organization "{found.name}"', why, contents=contents)
    for key in keys:
        coderd.delete_provisioner_key(str(found.id), key.name)
    coderd.delete_organization(found.id)


def _contents(
    coderd: Coderd, found: OrganizationRecord, keys: tuple[KeyRecord, ...]
) -> tuple[str, ...]:
    counts = {"workspace": coderd.workspace_count(found.id), "provisioner key": len(keys)}
    return tuple(counted(n, noun) for noun, n in counts.items() if n)


def _keys(coderd: Coderd, found: OrganizationRecord) -> tuple[KeyRecord, ...]:
    """List its keys; without the feature for keys coderd itself refuses to delete while any is."""
    try:
        return coderd.provisioner_keys(str(found.id))
    except NotEntitled:
        return ()
