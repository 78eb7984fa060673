"""Adopt the key of an existing deployment by the plaintext in its Secret.

The program gives the plaintext in every run, and no state keeps it: `check` stores it here, in
memory. So it may change or go away later without a change of the key. It counts only for a key that
this stack has neither issued nor adopted before. Otherwise a key is issued (K2).
"""

import threading
from dataclasses import dataclass

from pydantic import SecretStr

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.errors import KeyRejected
from coder_stack.coderd.models import KeyRecord
from coder_stack.coderd.procedures.keys import IssuedKey, find_key
from coder_stack.coderd.reasons import Reason
from coder_stack.console import warn
from coder_stack.dynamic.key.inputs import KeyInputs
from coder_stack.dynamic.runtime.check import CheckRequest
from coder_stack.dynamic.runtime.props import Problem
from coder_stack.dynamic.runtime.session import ConnectionProps


@dataclass(frozen=True)
class KeyRef:
    """A key: its name, organization and coderd."""

    connection: str
    organization: str
    name: str

    @classmethod
    def of(cls, inputs: KeyInputs) -> "KeyRef":
        """Take it from inputs that are all known."""
        return cls(inputs.connection.identity, inputs.organization, inputs.base_name.lower())


class Offers:
    """Plaintexts that the program gave to this process; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._material: dict[KeyRef, SecretStr | None] = {}
        self._said: set[tuple[KeyRef, str]] = set()

    def offer(self, key: KeyRef, material: SecretStr) -> None:
        """Store the plaintext, unless it was withdrawn before."""
        with self._lock:
            self._material.setdefault(key, material)

    def withdraw(self, key: KeyRef) -> None:
        """Ignore the plaintext from now on: this stack has the key already.

        The engine checks a replacement twice, the second time without old inputs.
        """
        with self._lock:
            self._material[key] = None

    def offered(self, key: KeyRef) -> SecretStr | None:
        """Return the plaintext of a key to adopt."""
        with self._lock:
            return self._material.get(key)

    def is_news(self, key: KeyRef, said: str) -> bool:
        """Tell whether this is said for the first time: `check` and `create` say the same."""
        with self._lock:
            known = (key, said) in self._said
            self._said.add((key, said))
            return not known


OFFERS = Offers()
"""Of this process."""


def take_offer(request: CheckRequest[KeyInputs]) -> list[Problem]:
    """Store the plaintext that the program gave, for the key that these inputs name."""
    material = request.extra.get("adopt_material")
    names = [request.known.get(each) for each in ("connection", "organization", "base_name")]
    if material and isinstance(names[0], ConnectionProps) and all(names):
        key = KeyRef(names[0].identity, str(names[1]), str(names[2]).lower())
        if request.old is not None and request.old.provisioned:
            OFFERS.withdraw(key)
        elif isinstance(material, str) and material.strip():
            OFFERS.offer(key, SecretStr(material.strip()))
    if not material or request.known.get("exact_name", True):
        return []
    why = "must be true where a key is adopted: a generated name is never its name"
    return [Problem("exact_name", why)]


def offered_key(coderd: Coderd, want: KeyInputs, label: str) -> IssuedKey | None:
    """Return the key to adopt, if it is the wanted one; if not, warn."""
    wanted = KeyRef.of(want)
    material = OFFERS.offered(wanted)
    if material is None:
        return None
    key, misfit = _find(coderd, want, material)
    if key is not None:
        return IssuedKey(key, material)
    if OFFERS.is_news(wanted, misfit):
        warn(
            f"{Reason.KEY_REJECTED}: {label}: not taken over, since {misfit}; a new key is made, "
            "and a key of that name is deleted, unless its daemons live."
        )
    return None


def _find(coderd: Coderd, want: KeyInputs, material: SecretStr) -> tuple[KeyRecord | None, str]:
    """Two GETs at most. An error that is no answer about the key is raised, never a misfit (U1)."""
    try:
        key = coderd.provisioner_key_of(material)
    except KeyRejected:
        return None, "the material opens no key of this coderd"
    if key.name != want.base_name.lower():
        return None, f'the material is that of key "{key.name}"'
    if dict(key.tags) != want.tags:
        return None, "the key has other tags"
    # A key names its organization by id only, the config by name as well.
    if find_key(coderd, want.organization, str(key.id)) is None:
        return None, "the key is one of another organization"
    return key, ""
