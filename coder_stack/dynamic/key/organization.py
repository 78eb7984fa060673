"""The organization of a key: declared by name, known by its uuid, which a rename keeps (K10).

Coderd takes either in its paths. The name is tried first, because people know it; then the uuid, if
no organization has the name, or it lacks the key. A 404 of the organization says nothing about the
key.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from coder_stack.coderd.errors import CoderdError, NotFound
from coder_stack.coderd.models import KeyRecord, OrganizationRecord
from coder_stack.console import warn
from coder_stack.dynamic.key.inputs import KeyInputs, KeyState
from coder_stack.dynamic.key.listing import listed_keys
from coder_stack.dynamic.runtime import answers
from coder_stack.dynamic.runtime.cache import AnswerCache
from coder_stack.dynamic.runtime.props import Problem
from coder_stack.dynamic.runtime.session import Session

_FOUND = AnswerCache(seconds=60.0)
"""Organizations by connection and name. Not in the session, whose cache every change drops."""


def wanted_organization(
    session: Session | None, want: KeyInputs, old: KeyInputs | None, predecessor: KeyInputs | None
) -> tuple[str | None, list[Problem]]:
    """Return the uuid of the declared organization; look it up if the name is new.

    A problem if there is none while the key is in an organization with another name. Otherwise the
    organization may still be created: `create` decides.
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


@dataclass(frozen=True)
class Located:
    """What coderd's lists say about a key."""

    key: KeyRecord | None
    organization: str
    """Its current name."""
    listed: Sequence[KeyRecord] = ()
    """The keys of the organization, oldest first."""


def locate(session: Session, known: KeyState, opened: Callable[[], KeyRecord | None]) -> Located:
    """Look for the key in a complete list.

    `opened` asks for the key of the plaintext, only where the state lacks the organization's uuid.
    NotFound if no list is available and the state has no plaintext: that is not a missing key.
    """
    unseen: NotFound | None = None
    for place in _places(known, opened):
        try:
            keys = listed_keys(session, place)
        except NotFound as error:
            unseen = error
            continue
        unseen = None
        if key := _find(keys, known):
            by_name = place == known.organization
            name = known.organization if by_name else _renamed(session, known, place)
            return Located(key, name, keys)
    if unseen is not None and not known.material.get_secret_value():
        raise unseen
    return Located(None, known.organization)


def _places(known: KeyState, opened: Callable[[], KeyRecord | None]) -> Iterator[str]:
    yield known.organization
    home = known.organization_id
    if not home and (key := opened()):
        home = str(key.organization)
    if home and home != known.organization:
        yield home


def _renamed(session: Session, known: KeyState, home: str) -> str:
    name = session.cached(answers.organization_known_as(home)).name
    if known.organization in (name, home):
        return known.organization
    warn(
        f'provisioner key "{known.name}": its organization "{known.organization}" is called '
        f'"{name}" in coderd now; set "{name}" in the config. If this stack declares the '
        "organization, the next update renames it back."
    )
    return name


def _find(keys: Sequence[KeyRecord], known: KeyState) -> KeyRecord | None:
    if known.key_id:
        return next((key for key in keys if str(key.id) == known.key_id), None)
    return next((key for key in keys if key.name == known.name), None)


def _look(session: Session, organization: str) -> OrganizationRecord:
    return _FOUND.get(
        f"{session.connection.identity} {organization}",
        lambda: session.peek(lambda coderd: coderd.organization(organization)),
    )


def _name_now(session: Session, predecessor: KeyInputs | None) -> str | None:
    if predecessor is None or not predecessor.organization_id:
        return None
    try:
        return _look(session, predecessor.organization_id).name
    except CoderdError:
        return None
