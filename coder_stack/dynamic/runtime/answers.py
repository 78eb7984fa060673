"""What coderd is asked once per command, whoever needs it: each answer with its name in the cache.

How long an answer is kept is decided in cache.py.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import SecretStr

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.models import KeyDaemons, OrganizationRecord, User

T = TypeVar("T")


@dataclass(frozen=True)
class Answer(Generic[T]):
    """A request whose answer several operations share."""

    name: str
    fetch: Callable[[Coderd], T]


BUILD = Answer("build", Coderd.build_info)
ENTITLEMENTS = Answer("entitlements", Coderd.entitlements)
ORGANIZATIONS = Answer("organizations", Coderd.organizations)
PROXIES = Answer("proxies", Coderd.workspace_proxies)


def daemons_in(organization: str) -> Answer[tuple[KeyDaemons, ...]]:
    """Return all keys of an organization, each with the daemons that use it."""
    return Answer(f"daemons/{organization}", lambda coderd: coderd.daemons_by_key(organization))


def organization_known_as(uuid: str) -> Answer[OrganizationRecord]:
    """Return the organization with that id."""
    return Answer(f"organization/{uuid}", lambda coderd: coderd.organization(uuid))


def user_of(token: SecretStr | None) -> Answer[User]:
    """Return whose token this is; another token has another answer."""
    text = token.get_secret_value() if token else ""
    return Answer(f"user/{hashlib.sha256(text.encode()).hexdigest()}", Coderd.user)
