"""The organization of a key: asked for by its name, known by its uuid, which a rename leaves (K10).

Coderd takes either in its paths. The name comes first, since messages and logs then say what people
know; the uuid is asked when the name leads nowhere, or to an organization without the key. A 404 of
the organization says nothing about the key. Leaves alone what a key is (key_inputs.py).
"""

from collections.abc import Sequence

from coder_stack.coderd import CoderdError, KeyRecord, NotFound, OrganizationRecord
from coder_stack.console import warn
from coder_stack.dynamic.key.inputs import KeyInputs, KeyState
from coder_stack.dynamic.runtime.cache import ListCache
from coder_stack.dynamic.runtime.props import Problem
from coder_stack.dynamic.runtime.session import Session

__all__ = ["locate", "wanted_organization"]

_FOUND = ListCache(seconds=60.0)
"""Organizations by connection and name. Not those of the session, which every new key forgets."""


def wanted_organization(
    session: Session | None, want: KeyInputs, old: KeyInputs | None, predecessor: KeyInputs | None
) -> tuple[str | None, list[Problem]]:
    """The uuid of the organization that the program names, looked up for a new or another name.

    A problem if nobody has that name while the key is in an organization with another one. A name
    that was never used may be that of an organization which is yet to be made: `create` decides.
    """
    if want.organization_id:
        return want.organization_id, []  # the program knows it: the stack declares the organization
    if old is not None and old.name and old.organization == want.organization:
        return old.organization_id, []
    if session is None or not want.enabled:
        return None, []
    try:
        return str(_look(session, want.organization).id), []
    except NotFound:
        home = _name_now(session, predecessor)
    except CoderdError:
        return None, []
    if home is None:
        return None, []
    why = f'is not known to coderd; the key is in "{home}": if it was renamed, set "{home}" here'
    return None, [Problem("organization", why)]


def locate(
    session: Session, known: KeyState, opened: KeyRecord | None
) -> tuple[KeyRecord | None, str]:
    """The key as a complete list has it, and the name of its organization by now.

    NotFound if there is no list to be had and nothing else to go by: that is not a missing key.
    """
    unseen: NotFound | None = None
    home = known.organization_id or (str(opened.organization) if opened else "")
    for place in dict.fromkeys((known.organization, home)):
        if not place:
            continue
        try:
            keys = session.listed(f"keys/{place}", lambda c, place=place: c.provisioner_keys(place))
        except NotFound as error:
            unseen = error
            continue
        unseen = None
        if key := _find(keys, known):
            return key, known.organization if place != home else _renamed(session, known, home)
    if unseen is not None and not known.material.get_secret_value():
        raise unseen
    return None, known.organization


def _renamed(session: Session, known: KeyState, home: str) -> str:
    name = session.listed(f"organization/{home}", lambda c: c.organization(home)).name
    if known.organization in (name, home):
        return known.organization
    warn(
        f'provisioner key "{known.name}": its organization "{known.organization}" is called '
        f'"{name}" in coderd now; set "{name}" in the config.'
    )
    return name


def _find(keys: Sequence[KeyRecord], known: KeyState) -> KeyRecord | None:
    if known.key_id:
        return next((key for key in keys if str(key.id) == known.key_id), None)
    return next((key for key in keys if key.name == known.name), None)


def _look(session: Session, organization: str) -> OrganizationRecord:
    return _FOUND.get(
        f"{session.connection.identity} {organization}",
        lambda: session.look(lambda coderd: coderd.organization(organization)),
    )


def _name_now(session: Session, predecessor: KeyInputs | None) -> str | None:
    if predecessor is None or not predecessor.organization_id:
        return None
    try:
        return _look(session, predecessor.organization_id).name
    except CoderdError:
        return None
