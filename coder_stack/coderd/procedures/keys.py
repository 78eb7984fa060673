"""Create and delete one provisioner key in coderd without leaving an orphan or a duplicate.

Coderd shows the plaintext once and without an id. A name can be taken by a key whose plaintext
nobody has (K1, K2), and a response can be lost after the key was created (U3). A key with live
daemons is never deleted to free its name (K8). key_identity.py decides which key is wanted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.errors import CoderdError, Conflict, KeyRejected, NoAnswer, NotFound
from coder_stack.coderd.models import KeyRecord
from coder_stack.console import warn
from coder_stack.counting import counted

_ATTEMPTS = 3


@dataclass(frozen=True)
class IssuedKey:
    """A key with its plaintext."""

    key: KeyRecord
    material: SecretStr


def issue_key(coderd: Coderd, organization: str, name: str, tags: Mapping[str, str]) -> IssuedKey:
    """Create a key, and look its id up with the plaintext, which proves that it works."""
    material = _plaintext(coderd, organization, name, tags)
    try:
        return IssuedKey(coderd.provisioner_key_of(material), material)
    except CoderdError:
        # The state will not hold this key, so it must not stay in coderd.
        _try_to_remove(coderd, organization, name)
        raise


def find_key(coderd: Coderd, organization: str, key_id: str) -> KeyRecord | None:
    """Find a key by id in coderd's complete list; None if it is not there."""
    listed = coderd.provisioner_keys(organization)
    return next((key for key in listed if str(key.id) == key_id), None)


def remove_key(
    coderd: Coderd, organizations: Sequence[str], key_id: str, material: SecretStr
) -> None:
    """Delete the key with this id, unless it is gone already.

    Coderd deletes by name, and the name may belong to another key by now: look the id up first.
    `organizations` are name and uuid; the name may be outdated. If neither lists the key, the
    material itself leads to it. Raise NotFound if nothing can tell whether it is gone (K10).
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
    key = key_of_material(coderd, material)
    if key is not None and key_id in ("", str(key.id)):
        coderd.delete_provisioner_key(str(key.organization), key.name)
    elif unseen is not None and not material.get_secret_value():
        raise unseen


def key_of_material(coderd: Coderd, material: SecretStr) -> KeyRecord | None:
    """Return the key that the material belongs to; None if coderd says that there is none."""
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
            _free_name(coderd, organization, name)
        except CoderdError as error:
            if not error.may_have_happened:
                raise
            # U3: what was created is useless without its plaintext.
            _remove_by_name(coderd, organization, name, cause=error)
            if attempt == _ATTEMPTS or not isinstance(error, NoAnswer):
                raise
        attempt += 1


def _free_name(coderd: Coderd, organization: str, name: str) -> None:
    """Delete the key of that name, whose plaintext this stack does not have (K2).

    Without daemons, a run that was killed most likely left it. With daemons, somebody else has the
    plaintext: raise Conflict (K8).
    """
    listed = [each for each in coderd.daemons_by_key(organization) if each.key.name == name]
    if not listed:
        return
    if daemons := sum(len(each.daemons) for each in listed):
        why = (
            f"a key of that name is in use by {counted(daemons, 'live daemon')} and its material "
            "is not in this stack; ask for another name or trigger, adopt the key, or stop its "
            "daemons."
        )
        raise Conflict(f'create provisioner key "{name}"', why)
    _delete(coderd, organization, name)
    warn(
        f'provisioner key "{name}" of "{organization}": a key of that name was there, without live '
        "daemons and without its material in this stack; it was deleted to make room."
    )


def _remove_by_name(coderd: Coderd, organization: str, name: str, *, cause: CoderdError) -> None:
    try:
        _free_name(coderd, organization, name)
    except CoderdError:
        # The next run asks for the same name, and finds what is left as a conflict.
        raise cause from None


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
