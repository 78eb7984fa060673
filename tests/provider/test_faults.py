"""Every operation on every object under every fault: what it says, what it leaves behind.

The table has two axes: subjects (objects with their operations, and the request that each operation
depends on) and faults. In each cell that request fails every time while the operation runs; then
the fault ends and the operation runs again. Three rules hold in all cells: only the expected
outcome and reason, never an orphan or a duplicate in coderd, no secret in any text.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pytest

from coder_stack.coderd.reasons import Reason
from sandbox.coderd.server import FIRST_USER
from tests.provider.driver import Driven, Failure, Held, ProviderProcess, provider_process
from tests.provider.faults import FAULTS, PASSING, Fault
from tests.provider.subjects import SUBJECTS, Inputs, Subject
from tests.simulation import Simulation, simulated

DEADLINE = "1.5"
_SERIAL = itertools.count()


@dataclass
class Cell:
    """One object and the operation under test."""

    subject: Subject
    operation: str
    coderd: Simulation
    driven: Driven
    maker: Driven
    process: ProviderProcess
    name: str
    held: Held | None = None
    said: str = ""

    @property
    def inputs(self) -> Inputs:
        return self.subject.inputs(self.coderd, self.name)

    @property
    def objects(self) -> int:
        return self.subject.count(self.coderd, self.name)

    def prepare(self) -> None:
        """Create the object that an update, read or delete starts with.

        Another process creates it: Pulumi never deletes what the same run has created.
        """
        # Without those of other cells: of a few keys, a refresh asks each for its plaintext.
        self.coderd.state.records.provisioner_keys.clear()
        if self.operation != "create":
            self.held = self.maker.create(self.inputs)

    def strike(self, fault: Fault, *, times: int) -> None:
        method, path = self.subject.calls[self.operation]
        self.coderd.fault(method=method, path=path, count=times, **fault.described)

    def run(self) -> Held | None:
        """Run the operation; return what Pulumi would keep of it."""
        if self.operation == "create":
            self.held = self.driven.create(self.inputs)
            return self.held
        assert self.held is not None
        if self.operation.startswith("read"):
            return self.driven.read(self.held)
        if self.operation == "update":
            return self.driven.update(self.held, {**self.inputs, **self.subject.changed})
        self.driven.delete(self.held)
        return None

    def no_secret_was_said(self) -> None:
        secrets = [self.coderd.token, FIRST_USER.password]
        if self.held is not None:
            names = ("token", "material", "proxy_token", "jwt", "password")
            secrets += [self.held.outputs[name] for name in names if self.held.outputs.get(name)]
        for text in (self.said, self.process.stderr):
            assert not any(secret in text for secret in secrets)


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Simulation, ProviderProcess, ProviderProcess]]:
    """One coderd and two provider processes for the whole table: objects differ by name."""
    with (
        simulated(licensed=True) as coderd,
        provider_process(environment={"CODER_STACK_DEADLINE": DEADLINE}) as process,
        provider_process(coderd.config, {"CODER_STACK_DEADLINE": DEADLINE}) as destroy,
    ):
        yield coderd, process, destroy


@pytest.fixture
def cell_of(
    servers: tuple[Simulation, ProviderProcess, ProviderProcess],
) -> Iterator[Callable[[Subject, str], Cell]]:
    coderd, process, destroy = servers

    def cell(subject: Subject, operation: str) -> Cell:
        name = f"n{next(_SERIAL)}x"
        maker, running = process.of(subject.provider), destroy if operation == "delete" else process
        driven = running.of(subject.provider)
        made = Cell(subject, operation, coderd, driven, maker, running, name)
        made.prepare()
        return made

    yield cell
    coderd.peace()


def outcomes(subject: Subject, operation: str, fault: Fault) -> set[str]:
    """Return the outcomes allowed: `fails`, `works`, or `keeps on`, which reports the fault."""
    if operation in subject.keeps_on:
        return {"keeps on"}
    if operation == "create" and subject.adopts and fault.acts:
        # With a time-out the next read may come before or after the server has acted.
        return {"works"} if fault.name == "drop-after" else {"works", "fails"}
    if subject.gated and operation == "read" and fault.name == "403-license":
        return {"keeps on"}
    if subject.name == "license" and fault.name == "404-route":
        return {"keeps on"}
    if subject.name == "operator" and operation == "read" and fault.name == "401":
        return {"keeps on"}
    return {"fails"}


def every_cell(faults: Iterable[Fault]) -> pytest.MarkDecorator:
    """Run a test for every operation on every object under each of these faults."""
    cells = [
        pytest.param(subject, operation, fault, id=f"{subject.name}-{operation}-{fault.name}")
        for subject in SUBJECTS
        for operation in subject.calls
        for fault in faults
    ]
    return pytest.mark.parametrize(("subject", "operation", "fault"), cells)


@every_cell(FAULTS)
def test_U1_U2_U3_a_fault_that_stays_has_one_outcome_and_leaves_nothing_behind(
    cell_of: Callable[[Subject, str], Cell], subject: Subject, operation: str, fault: Fault
) -> None:
    cell = cell_of(subject, operation)
    before, heard = cell.objects, len(cell.process.stderr)
    cell.strike(fault, times=-1)
    kept: Held | None = None
    try:
        kept = cell.run()
        ended = "works"
    except Failure as failure:
        ended, cell.said = "fails", str(failure)
    said = cell.said.strip().splitlines()[-1] if ended == "fails" else cell.process.stderr[heard:]
    wanted = outcomes(subject, operation, fault)
    if wanted == {"keeps on"} and ended == "works":
        ended = "keeps on"

    assert ended in wanted, said
    reasons = {subject.narrowed(reason) for reason in fault.reasons}
    if ended == "fails":
        assert any(said.removeprefix("Failed: ").startswith(f"{r}:") for r in reasons), said
    if ended == "keeps on":
        shown = kept.outputs["reason"] if kept is not None else said
        assert kept is not None or operation == "delete", "unknown is not gone"
        # A build without licenses has none to delete, and a token that coderd refuses is worth
        # nothing: there is nothing to say about either.
        refused = subject.name == "operator" and fault.name == "401"
        unspoken = operation == "delete" and (Reason.NOT_SUPPORTED in reasons or refused)
        assert unspoken or any(str(reason) in shown for reason in reasons), said
    if ended == "fails" or operation.startswith("read"):
        late = subject.resumes or fault.name == "time-out"
        may_stay = int(operation == "create" and late and fault.acts)
        assert before <= cell.objects <= before + may_stay, "no orphan, no double, nothing lost"
    cell.no_secret_was_said()

    cell.coderd.peace()
    after = cell.run()
    assert cell.objects == int(subject.exists and operation != "delete")
    if operation.startswith("read"):
        assert cell.held is not None
        assert after is not None
        assert after.id == cell.held.id
    cell.no_secret_was_said()


@every_cell(PASSING)
def test_U2_a_fault_that_passes_is_overcome(
    cell_of: Callable[[Subject, str], Cell], subject: Subject, operation: str, fault: Fault
) -> None:
    cell = cell_of(subject, operation)
    brief = dict(fault.described)
    if "headers" in brief:
        brief["headers"] = {"Retry-After": "0"}
    cell.strike(Fault(fault.name, fault.reasons, brief), times=1)

    after = cell.run()

    assert cell.objects == int(subject.exists and operation != "delete")
    if operation.startswith("read"):
        assert after is not None
        assert after.inputs == (cell.held.inputs if cell.held else {})
    cell.no_secret_was_said()
