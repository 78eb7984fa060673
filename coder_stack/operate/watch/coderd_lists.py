"""Ask coderd for the lists that the providers use, at an interval (N1).

One request for each list, however many keys are in it: the keys of an organization, licenses,
proxies, organizations; without any, one for the token's own user. Entitlements follow from the
licenses, so with a license they are read only as often as coderd computes them anew. No answer is
not an absence: the list is then unknown.
"""

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.errors import (
    ApiServerRefused,
    CertificateNotTrusted,
    CoderdError,
    NoAnswer,
    NotFound,
    Unauthenticated,
)
from coder_stack.dynamic.runtime.session import Session
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.process import Interrupted
from coder_stack.operate.watch.facts import ANSWERS, CODERD, REFUSED, SILENT, TOKEN, Facts

ENTITLEMENTS_SECONDS = 600.0
"""coderd computes them anew every ten minutes, and whenever a license changes."""
_SILENT_AFTER = 3
"""Polls without an answer until coderd counts as silent; a rollout may take two."""
_DEADLINE = 5.0
NEW_SESSION_SECONDS = 3600.0
"""A session reads the kubeconfig and its token once, and a pod's token is replaced in its file."""
_LONGEST_SPREAD = 1.5
"""Seconds by which an interval is longer, so that several watchers do not ask at once."""

Listed = Mapping[str, Mapping[str, Any]]
"""The fields that count, by id."""


def ask(coderd: Coderd, name: str) -> Listed:
    """Return one list. An organization that is gone has no keys."""
    kind, _, organization = name.partition("/")
    match kind:
        case "keys":
            try:
                keys = coderd.provisioner_keys(organization)
            except NotFound:
                return {}
            return {str(each.id): {"name": each.name, "tags": dict(each.tags)} for each in keys}
        case "licenses":
            return {str(each.uuid): {"uuid": str(each.uuid)} for each in coderd.licenses()}
        case "proxies":
            return {
                str(each.id): {"name": each.name, "display_name": each.display_name}
                for each in coderd.workspace_proxies()
                if not each.deleted
            }
        case "organizations":
            texts = ("name", "display_name", "description", "icon")
            return {
                str(each.id): {text: getattr(each, text) for text in texts}
                for each in coderd.organizations()
            }
        case "user":
            coderd.user()
            return {}
        case _:
            found = coderd.entitlements()
            features = {
                name: [each.entitlement, each.enabled, each.limit]
                for name, each in found.features.items()
            }
            return {"entitlements": {"has_license": found.has_license, "features": features}}


@dataclass
class CoderdLists:
    """The last answers of one coderd, and how it answered."""

    changed: Callable[[], None]
    open_session: Callable[[Facts], Session | None]
    interval: float
    requests: int = 0
    asked_at: float = 0.0
    """When the last complete round of lists ended."""
    asked_before: float = 0.0
    """When the round before that ended: what is new now has come up since."""
    _facts: Facts = field(default_factory=lambda: Facts(""))
    _lists: dict[str, Listed] = field(default_factory=dict[str, Listed])
    _silent: int = 0
    _refused: bool | None = None
    """Whether coderd refuses the token; None until it was asked about the recorded state."""
    _session: Session | None = None
    """Used by the polling thread alone."""
    _session_of: Facts | None = None
    """None if the next poll has to open another one."""
    _opened_at: float = 0.0
    _entitlements_at: float = 0.0
    _thread: threading.Thread | None = None
    _soon: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> None:
        """Ask from a thread of its own, which does not keep the process alive."""
        self._thread = threading.Thread(target=self._run, name="coderd", daemon=True)
        self._thread.start()

    def follow(self, facts: Facts) -> None:
        """Take in a newly recorded state, and ask at once: earlier answers are older than it."""
        with self._lock:
            self._facts, self._lists, self._entitlements_at = facts, {}, 0.0
            self._refused = None
        self._soon.set()

    def looks(self, facts: Facts) -> dict[str, str]:
        """Return what is known about the objects in coderd, and about coderd itself."""
        with self._lock:
            lists, silent, refused = dict(self._lists), self._silent, self._refused
        looks = {
            fact.key: fact.look_of(lists[fact.listed_in].get(fact.id))
            for fact in facts.coderd
            if fact.listed_in in lists
        }
        if any(each.key == CODERD for each in facts.answers) and (self.asked_at or silent):
            looks[CODERD] = SILENT if silent >= _SILENT_AFTER else ANSWERS
            if refused is not None:
                looks[TOKEN] = REFUSED if refused else ANSWERS
        return looks

    @property
    def answers(self) -> bool:
        """Whether coderd has answered the last poll."""
        return self._silent == 0 and self.asked_at > 0

    @property
    def has_failed(self) -> bool:
        """Whether nobody asks any more, for a mistake of the program."""
        return self._thread is not None and not self._thread.is_alive()

    def close(self) -> None:
        """Close the connection to coderd; the next poll opens another."""
        if self._session is not None:
            self._session.coderd.close()
        self._session = None

    def _run(self) -> None:
        while True:
            spread = random.uniform(0.5, _LONGEST_SPREAD)  # noqa: S311  # only jitter
            self._soon.wait(self.interval + spread)
            self._soon.clear()
            with suppress(Interrupted):  # for the main thread to tell, which ends the process
                self.poll(time.monotonic())

    def poll(self, now: float) -> None:
        """Ask for every list once."""
        with self._lock:
            facts = self._facts
        names = self._due(facts, now)
        if not names:
            return
        found, silent, refused = self._ask_all(facts, names, now)
        with self._lock:
            if facts is not self._facts:
                return  # recorded anew in the meantime: ask again
            # A list that was not asked for now is as before; one without an answer is unknown.
            kept = {name: each for name, each in self._lists.items() if name not in names}
            self._lists = {**kept, **found}
            self._silent = self._silent + 1 if silent else 0
            if not silent:
                self._refused = refused
                self.asked_before, self.asked_at = self.asked_at, now
                if "entitlements" in found:
                    self._entitlements_at = now
        self.changed()

    def _due(self, facts: Facts, now: float) -> Sequence[str]:
        recently = self._entitlements_at and now - self._entitlements_at < ENTITLEMENTS_SECONDS
        skip = {"entitlements"} if recently and "licenses" in facts.lists else set[str]()
        return [name for name in facts.lists if name not in skip]

    def _ask_all(
        self, facts: Facts, names: Sequence[str], now: float
    ) -> tuple[dict[str, Listed], bool, bool]:
        """Return the answers, whether coderd is silent, and whether it refuses the token."""
        found: dict[str, Listed] = {}
        refused = False
        try:
            session = self._session_for(facts, now)
        except (CoderdError, OperationError):
            return {}, True, False
        if session is None:
            return {}, False, False
        coderd = session.coderd.with_deadline(_DEADLINE)
        for name in names:
            self.requests += 1
            try:
                found[name] = ask(coderd, name)
            except Unauthenticated:
                refused = True
                self._session_of = None  # the next poll reads the token anew
            except (ApiServerRefused, CertificateNotTrusted):
                self._session_of = None  # and the kubeconfig and the CA bundle
                return {}, True, False
            except NoAnswer:
                return {}, True, False
            except CoderdError:
                continue  # refused for want of a license or a right: unknown
        return found, False, refused

    def _session_for(self, facts: Facts, now: float) -> Session | None:
        """Open a session if there is none for these facts, or if it is old."""
        may_stay = self._session is not None and facts is self._session_of
        if may_stay and now - self._opened_at < NEW_SESSION_SECONDS:
            return self._session
        self._opened_at = now
        try:
            session = self.open_session(facts)
        except (CoderdError, OperationError):
            if may_stay:  # only Pulumi's backend is away, and coderd may answer
                return self._session
            raise
        self.close()
        self._session, self._session_of = session, facts
        return session
