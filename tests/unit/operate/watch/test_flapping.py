"""Five minutes of flapping: few engine runs, one notice for each state, no loop (N1, N2).

The whole of what decides is run, with a clock of the test; only the engine is played.
"""

from dataclasses import dataclass, field, replace

from coder_stack.operate.watch.facts import ABSENT, CoderdFact, ObjectFact
from coder_stack.operate.watch.suspicion import Suspicions
from coder_stack.operate.watch.transitions import Told
from tests.unit.operate.reports import clean, report_of, resource
from tests.unit.operate.watch.recorded import deployment, facts

MINUTES = 5
STEP = 0.25
CODER = deployment()
LICENSE = CoderdFact("urn:license", "licenses", "1", "the license", {"uuid": "1"})


@dataclass
class Flapping:
    """A stack in which somebody changes one object over and over."""

    fact: ObjectFact | CoderdFact
    other: str
    """What the object looks like when it is broken."""
    suspicions: Suspicions = field(default_factory=Suspicions)
    told: Told = field(default_factory=Told)
    runs: int = 0
    heard: list[str] = field(default_factory=list[str])

    def observe(self, *, broken: bool, now: float, confirmed: bool = True) -> bool:
        """Observe, and let the engine judge and repair what is due; return whether it did."""
        look = self.other if broken else self.fact.expected
        self.suspicions.observe({self.fact.key: look}, now)
        due = self.suspicions.due(now)
        if not due:
            return False
        self.runs += 1
        looks = self.suspicions.judging()
        column = resource("coder")
        if broken and confirmed:
            notices = [
                self.told.found(report_of("dev", result="drift", resources=(column,)), now),
                *self.told.ended(clean("dev", repairs=(column,)), now),
            ]
        else:
            notices = [*self.told.ended(clean("dev"), now)]
        self.heard += [each.transition for each in notices if each]
        self.suspicions.judged(looks, (self.fact.urn,) if broken and confirmed else (), due, now)
        return True


def times() -> list[float]:
    return [step * STEP for step in range(int(MINUTES * 60 / STEP))]


def test_N1_N2_a_controller_that_undoes_every_repair() -> None:
    stack = Flapping(CODER, replace(CODER, generation=2).expected)
    stack.suspicions.record(facts(CODER))
    broken = True
    for now in times():
        # It undoes the repair two seconds later.
        repaired = stack.observe(broken=broken, now=now)
        broken = not repaired and (broken or now % 2 == 0)
    assert 3 <= stack.runs <= 6
    assert stack.heard == ["drift", "repaired", "returning"]


def test_N1_N2_a_license_that_comes_and_goes() -> None:
    """Each poll shows another state; the engine mostly comes too late to confirm it."""
    stack = Flapping(LICENSE, ABSENT)
    stack.suspicions.record(facts(LICENSE))
    for now in times():
        stack.observe(broken=int(now / 30) % 2 == 1, now=now, confirmed=False)
    assert 1 <= stack.runs <= 6
    assert stack.heard == []


def test_N1_what_changes_all_the_time_without_being_drift_backs_off() -> None:
    stack = Flapping(CODER, "")
    stack.suspicions.record(facts(CODER))
    for now in times():
        stack.other = f"generation {int(now)}"
        stack.observe(broken=True, now=now, confirmed=False)
    assert 1 <= stack.runs <= 6
    assert stack.heard == []
