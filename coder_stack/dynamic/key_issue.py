"""Making and removing one provisioner key in coderd, so that neither an orphan nor a double stays.

Knows what coderd makes hard: the plaintext is shown once, the answer names no id, a name can be
taken by a key whose plaintext nobody has (K1, K2), and an answer can get lost after the key was
made (U3). Leaves alone which key is wanted (key_identity.py) and what Pulumi keeps of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import SecretStr

from coder_stack.coderd import (
    Coderd,
    CoderdError,
    Conflict,
    NoAnswer,
    NotFound,
    ProvisionerKey,
)

__all__ = ["IssuedKey", "find_key", "issue_key", "remove_key"]

_ATTEMPTS = 3


@dataclass(frozen=True)
class IssuedKey:
    """A key with its plaintext."""

    key: ProvisionerKey
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


def find_key(coderd: Coderd, organization: str, key_id: str) -> ProvisionerKey | None:
    """The key in a list fetched now; None if that list, which is complete, lacks it."""
    listed = coderd.provisioner_keys(organization)
    return next((key for key in listed if str(key.id) == key_id), None)


def remove_key(coderd: Coderd, organization: str, key_id: str) -> bool:
    """Delete the key with this id; False if it was gone.

    Coderd deletes by name, and the name may belong to another key by now: the successor, if the
    name is exact, or a key of another deployment behind the same URL.
    """
    try:
        key = find_key(coderd, organization, key_id)
        if key is None:
            return False
        coderd.delete_provisioner_key(organization, key.name)
    except NotFound:
        return False
    return True


def _plaintext(coderd: Coderd, organization: str, name: str, tags: Mapping[str, str]) -> SecretStr:
    attempt = 1
    while True:
        try:
            return coderd.create_provisioner_key(organization, name, tags).key
        except Conflict:
            # K2: nobody has its plaintext, so nobody loses anything by its end.
            if attempt == _ATTEMPTS:
                raise
            _delete(coderd, organization, name)
        except CoderdError as error:
            if not error.may_have_happened:
                raise
            # U3: whatever was made is useless without its plaintext.
            _remove_by_name(coderd, organization, name, because=error)
            if attempt == _ATTEMPTS or not isinstance(error, NoAnswer):
                raise
        attempt += 1


def _remove_by_name(coderd: Coderd, organization: str, name: str, *, because: CoderdError) -> None:
    try:
        listed = coderd.provisioner_keys(organization)
        if any(key.name == name for key in listed):
            _delete(coderd, organization, name)
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
