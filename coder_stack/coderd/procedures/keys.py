"""Making and removing one provisioner key in coderd, so that neither an orphan nor a double stays.

Knows what coderd makes hard: the plaintext is shown once, the answer names no id, a name can be
taken by a key whose plaintext nobody has (K1, K2), and an answer can get lost after the key was
made (U3). A key whose daemons live is never taken away to make room (K8). Leaves alone which key is
wanted (key_identity.py) and what Pulumi keeps of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from coder_stack.coderd import (
    Coderd,
    CoderdError,
    Conflict,
    KeyRecord,
    KeyRejected,
    NoAnswer,
    NotFound,
)
from coder_stack.console import warn

__all__ = ["IssuedKey", "find_key", "issue_key", "opened_key", "remove_key"]

_ATTEMPTS = 3


@dataclass(frozen=True)
class IssuedKey:
    """A key with its plaintext."""

    key: KeyRecord
    material: SecretStr


def issue_key(coderd: Coderd, organization: str, name: str, tags: Mapping[str, str]) -> IssuedKey:
    """A new key under that name: two requests, unless something is in the way.

    The id is asked for with the new key itself, which also proves that the plaintext is good.
    """
    material = _plaintext(coderd, organization, name, tags)
    try:
        return IssuedKey(coderd.provisioner_key_of(material), material)
    except CoderdError:
        # Nothing of this create will be kept in state, so nothing of it may stay in coderd.
        _try_to_remove(coderd, organization, name)
        raise


def find_key(coderd: Coderd, organization: str, key_id: str) -> KeyRecord | None:
    """The key in a list fetched now; None if that list, which is complete, lacks it."""
    listed = coderd.provisioner_keys(organization)
    return next((key for key in listed if str(key.id) == key_id), None)


def remove_key(
    coderd: Coderd, organizations: Sequence[str], key_id: str, material: SecretStr
) -> None:
    """Delete the key with this id; gone is fine.

    Coderd deletes by name, and the name may belong to another key by now: the successor, if the
    name is exact, or a key of another deployment behind the same URL. `organizations` are name and
    uuid, of which the name may lead nowhere; what none of them shows, the key itself can tell.
    NotFound if nothing could: that is no proof that the key is gone (K10).
    """
    unseen: NotFound | None = None
    for organization in dict.fromkeys(filter(None, organizations)):
        try:
            key = find_key(coderd, organization, key_id)
        except NotFound as error:
            unseen = error
            continue
        unseen = None
        if key is not None:
            _delete(coderd, organization, key.name)
            return
    key = opened_key(coderd, material)
    if key is not None and key_id in ("", str(key.id)):
        coderd.delete_provisioner_key(str(key.organization), key.name)
    elif unseen is not None and not material.get_secret_value():
        raise unseen


def opened_key(coderd: Coderd, material: SecretStr) -> KeyRecord | None:
    """The key that the material belongs to; None if coderd says that it belongs to none."""
    if not material.get_secret_value():
        return None
    try:
        return coderd.provisioner_key_of(material)
    except KeyRejected:
        return None


def _plaintext(coderd: Coderd, organization: str, name: str, tags: Mapping[str, str]) -> SecretStr:
    attempt = 1
    while True:
        try:
            return coderd.create_provisioner_key(organization, name, tags).key
        except Conflict:
            if attempt == _ATTEMPTS:
                raise
            _make_room(coderd, organization, name)
        except CoderdError as error:
            if not error.may_have_happened:
                raise
            # U3: whatever was made is useless without its plaintext.
            _remove_by_name(coderd, organization, name, because=error)
            if attempt == _ATTEMPTS or not isinstance(error, NoAnswer):
                raise
        attempt += 1


def _make_room(coderd: Coderd, organization: str, name: str) -> None:
    """Delete the key of that name, unless somebody works with it.

    K2: this stack has not its plaintext, or it would not ask for another. Without daemons it is
    most likely what a lost run left behind. With daemons somebody else has the plaintext (K8).
    """
    listed = [each for each in coderd.daemons_by_key(organization) if each.key.name == name]
    if not listed:
        return
    if daemons := sum(len(each.daemons) for each in listed):
        why = (
            f"a key of that name is in use by {daemons} live daemon(s) and its material is not in "
            "this stack; ask for another name or trigger, adopt the key, or stop its daemons."
        )
        raise Conflict(f'create provisioner key "{name}"', why)
    _delete(coderd, organization, name)
    warn(
        f'provisioner key "{name}" of "{organization}": a key of that name was there, without live '
        "daemons and without its material in this stack; it was deleted to make room."
    )


def _remove_by_name(coderd: Coderd, organization: str, name: str, *, because: CoderdError) -> None:
    try:
        _make_room(coderd, organization, name)
    except CoderdError:
        # The next run asks for the same name and meets what may have stayed as a conflict.
        raise because from None


def _delete(coderd: Coderd, organization: str, name: str) -> None:
    try:
        coderd.delete_provisioner_key(organization, name)
    except NotFound:
        return


def _try_to_remove(coderd: Coderd, organization: str, name: str) -> None:
    try:
        _delete(coderd, organization, name)
    except CoderdError:
        return
