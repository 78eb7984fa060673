"""Secrets in the form of Pulumi's passphrase provider, without a process for each.

A process of Pulumi stretches the passphrase by a million rounds each time it starts. Here that is
done once for a salt, and nearly all stacks of the tests have the same one.
"""

import base64
import hashlib
import json
import os
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

MARK = "4dabf18193072939515e22adb298388d"
"""The key of each encrypted value in a state."""

_ROUNDS = 1_000_000
_NONCE = 12


@dataclass(frozen=True)
class PulumiSecrets:
    """Encrypts and decrypts what belongs to one passphrase and one salt."""

    passphrase: str
    salt: str
    """As config and state have it: with a text behind it that checks the passphrase."""

    def encrypt(self, text: str) -> str:
        nonce = os.urandom(_NONCE)
        sealed = self._cipher.encrypt(nonce, text.encode(), None)
        return ":".join(["v1", *(base64.b64encode(each).decode() for each in (nonce, sealed))])

    def decrypt(self, text: str) -> str:
        version, nonce, sealed = text.split(":")
        assert version == "v1"
        decoded = self._cipher.decrypt(base64.b64decode(nonce), base64.b64decode(sealed), None)
        return decoded.decode()

    def shown(self, value: object) -> Any:
        """Return part of a state as `pulumi stack export --show-secrets` has it."""
        if isinstance(value, list):
            return [self.shown(each) for each in cast("list[object]", value)]
        if not isinstance(value, dict):
            return value
        found = cast("dict[str, Any]", value)
        if MARK in found and "ciphertext" in found:
            return {MARK: found[MARK], "plaintext": self.decrypt(found["ciphertext"])}
        return {name: self.shown(each) for name, each in found.items()}

    @property
    def _cipher(self) -> AESGCM:
        return _cipher(self.passphrase, self.salt.split(":")[1])


def plain(value: object) -> Any:
    """Return what was shown without the marks: each secret is its plain value."""
    if isinstance(value, list):
        return [plain(each) for each in cast("list[object]", value)]
    if not isinstance(value, dict):
        return value
    found = cast("dict[str, Any]", value)
    if MARK in found and "plaintext" in found:
        return plain(json.loads(found["plaintext"]))
    return {name: plain(each) for name, each in found.items()}


@cache
def _cipher(passphrase: str, salt: str) -> AESGCM:
    stretched = hashlib.pbkdf2_hmac(
        "sha256", passphrase.encode(), base64.b64decode(salt), _ROUNDS, dklen=32
    )
    return AESGCM(stretched)
