"""Taking over the key that an existing deployment runs with, by the material in its Secret.

The material is offered in every run and stored by none: `check` hands it over here, in memory, so
that it may change or go away later and is no change of the key. It counts only for a key that this
stack neither made nor took over before. Leaves alone how a key is made if it does not fit (K2).
"""

import threading
from dataclasses import dataclass

from pydantic import SecretStr

from coder_stack.coderd import Coderd, KeyRecord, KeyRejected, Reason
from coder_stack.coderd.key_identity import canonical_tags
from coder_stack.coderd.procedures.keys import IssuedKey, find_key
from coder_stack.console import warn
from coder_stack.dynamic.key.inputs import KeyInputs
from coder_stack.dynamic.runtime.check import known_connection
from coder_stack.dynamic.runtime.props import Props

__all__ = ["hear_offer", "offered_key"]


@dataclass(frozen=True)
class KeyRef:
    """Which key is meant: one name in one organization of one coderd."""

    connection: str
    organization: str
    name: str

    @classmethod
    def of(cls, inputs: KeyInputs) -> "KeyRef":
        """Of inputs that are all known."""
        return cls(inputs.connection.identity, inputs.organization, inputs.base_name.lower())

    @classmethod
    def in_bag(cls, news: Props) -> "KeyRef | None":
        """Of what `check` was given; None while part of it is unknown or wrong."""
        connection = known_connection(news)
        organization, name = news.get("organization"), news.get("base_name")
        if connection is None or not (isinstance(organization, str) and isinstance(name, str)):
            return None
        return cls(connection.identity, organization, name.lower())


class Offers:
    """Material that this process was offered; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._material: dict[KeyRef, SecretStr | None] = {}
        self._said: set[tuple[KeyRef, str]] = set()

    def offer(self, place: KeyRef, material: SecretStr) -> None:
        """For a key that is not there yet; the word of an earlier `withdraw` stays."""
        with self._lock:
            self._material.setdefault(place, material)

    def withdraw(self, place: KeyRef) -> None:
        """The key is there already: if it is replaced, then by a new one.

        The engine checks a replacement as if nothing had been there, but it checks it second.
        """
        with self._lock:
            self._material[place] = None

    def offered(self, place: KeyRef) -> SecretStr | None:
        """What is there to take over."""
        with self._lock:
            return self._material.get(place)

    def is_news(self, place: KeyRef, said: str) -> bool:
        """True the first time: a look in `check` and one in `create` say the same."""
        with self._lock:
            known = (place, said) in self._said
            self._said.add((place, said))
            return not known


OFFERS = Offers()
"""Of this process, like the tokens in connection.py."""


def hear_offer(olds: Props, news: Props) -> bool:
    """Take the material out of what `check` was given; whether there was any, known or not."""
    material, place = news.pop("adopt_material", None), KeyRef.in_bag(news)
    if material and place and olds.get("provisioned"):
        OFFERS.withdraw(place)
    elif place and isinstance(material, str) and material.strip():
        OFFERS.offer(place, SecretStr(material.strip()))
    return bool(material)


def offered_key(coderd: Coderd, want: KeyInputs, label: str) -> IssuedKey | None:
    """The key that was offered, if it is the wanted one; if it is not, a warning says why."""
    place = KeyRef.of(want)
    material = OFFERS.offered(place)
    if material is None:
        return None
    key, misfit = _look_at(coderd, want, material)
    if key is not None:
        return IssuedKey(key, material)
    if OFFERS.is_news(place, misfit):
        warn(
            f"{Reason.KEY_REJECTED}: {label}: not taken over, since {misfit}; a new key is made, "
            "and a key of that name is deleted, unless its daemons live."
        )
    return None


def _look_at(coderd: Coderd, want: KeyInputs, material: SecretStr) -> tuple[KeyRecord | None, str]:
    """Two GETs at most. An error that is no answer about the key is raised, never a misfit (U1)."""
    try:
        key = coderd.provisioner_key_of(material)
    except KeyRejected:
        return None, "the material opens no key of this coderd"
    if key.name != want.base_name.lower():
        return None, f'the material is that of key "{key.name}"'
    if canonical_tags(key.tags) != canonical_tags(want.tags):
        return None, "the key has other tags"
    # A key names its organization by id only, the config by name as well.
    if find_key(coderd, want.organization, str(key.id)) is None:
        return None, "the key is one of another organization"
    return key, ""
