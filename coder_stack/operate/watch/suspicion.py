"""Which objects look different from what is known, and when that is worth an engine run (N1). Pure.

Every object has one look that is accepted: the recorded one, or the one that a drift check has
judged since. Another look is a suspicion. A check accepts what it has seen, whether it calls it
drift or not, so the same sight never starts a second check; pace.py slows down what keeps changing.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from coder_stack.operate.watch.facts import Facts
from coder_stack.operate.watch.pace import Pace

SETTLE_SECONDS = 0.5
"""How long a suspicion must last: one action mostly changes several objects, and a record of our
own update may be read a moment before its events arrive."""


@dataclass(frozen=True)
class Suspicion:
    """One object that looks different from what is accepted, since when."""

    key: str
    urn: str
    label: str
    since: float


@dataclass
class Suspicions:
    """All that is observed of one stack, and what is accepted of it."""

    facts: Facts = field(default_factory=lambda: Facts(""))
    accepted: dict[str, str] = field(default_factory=dict[str, str])
    seen: dict[str, str] = field(default_factory=dict[str, str])
    """The last known look by key; without what was not observed yet."""
    _open: dict[str, Suspicion] = field(default_factory=dict[str, Suspicion])
    _paces: dict[str, Pace] = field(default_factory=dict[str, Pace])
    """By URN, which stays the same when a repair makes another object."""
    _overall: Pace = field(default_factory=lambda: Pace(burst=10, first_wait=30, cooling=30))

    def record(self, facts: Facts) -> None:
        """Take in a newly recorded state; what is recorded anew is accepted as recorded."""
        before, now = self.facts.expected, facts.expected
        known = self.accepted
        self.accepted = {
            key: look if before.get(key) != look else known.get(key, look)
            for key, look in now.items()
        }
        self.facts = facts
        self.seen = {key: look for key, look in self.seen.items() if key in now}
        self._open = {key: each for key, each in self._open.items() if key in now}

    def observe(self, looks: Mapping[str, str], now: float) -> list[Suspicion]:
        """Take in what everything looks like, and return what has become suspicious."""
        urns, labels = self.facts.urns, self.facts.labels
        self.seen = {key: look for key, look in looks.items() if key in self.accepted}
        differing = {key for key, look in self.seen.items() if look != self.accepted[key]}
        # What cannot be observed at the moment stays as suspicious as it was.
        self._open = {
            key: each
            for key, each in self._open.items()
            if key in differing or key not in self.seen
        }
        new = [
            Suspicion(key, urns[key], labels[key], now)
            for key in sorted(differing - self._open.keys())
        ]
        self._open |= {each.key: each for each in new}
        return new

    @property
    def open(self) -> tuple[Suspicion, ...]:
        """Return all suspicions, the oldest first."""
        return tuple(sorted(self._open.values(), key=lambda each: each.since))

    def due(self, now: float) -> tuple[Suspicion, ...]:
        """Return those that may start a check now."""
        if self._overall.allowed_at(now) > now:
            return ()
        return tuple(
            each
            for each in self.open
            if now - each.since >= SETTLE_SECONDS and self._pace(each.urn).allowed_at(now) <= now
        )

    def judging(self) -> Mapping[str, str]:
        """Return what a check that starts now is going to judge."""
        return dict(self.seen)

    def judged(
        self,
        looks: Mapping[str, str],
        repaired: Collection[str],
        reasons: Collection[Suspicion],
        now: float,
    ) -> None:
        """Accept what a check has judged, and count the check for its reasons.

        What it has repaired (URNs) is expected to look as recorded.
        """
        self._overall.started(now)
        self._paces = {urn: pace for urn, pace in self._paces.items() if not pace.is_calm(now)}
        for urn in {each.urn for each in reasons}:
            self._pace(urn).started(now)
        urns, expected = self.facts.urns, self.facts.expected
        for key, look in looks.items():
            if key in self.accepted:
                self.accepted[key] = expected[key] if urns[key] in repaired else look
        # What still looks different is another suspicion, which begins with the next observation.
        self._open = {}

    def _pace(self, urn: str) -> Pace:
        return self._paces.setdefault(urn, Pace())
