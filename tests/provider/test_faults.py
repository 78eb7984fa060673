"""Every operation on every object under every fault: what it says, what it leaves behind.

The table is made of two lists: subjects (objects with their operations and the request on which
each stands or falls) and faults. In each cell the fault strikes that request every time while the
operation runs; then there is peace and the operation runs again. Three rules hold in all cells:
only the expected outcome and reason, never an orphan or a double in coderd, no secret in sight.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest
from pulumi.dynamic import ResourceProvider

from coder_stack.coderd import Reason, entitlements_reason, license_reason
from coder_stack.dynamic.entitlements import EntitlementsProvider
from coder_stack.dynamic.license import LicenseProvider
from coder_stack.dynamic.operator_access import OperatorAccessProvider
from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from coder_stack.dynamic.workspace_proxy import WorkspaceProxyRegistrationProvider
from sandbox.coderd.server import FIRST_USER
from tests.provider.driver import Driven, Failure, Held, ProviderProcess, provider_process
from tests.simulation import Simulation, license_text, simulated

Wish = dict[str, Any]
DEADLINE = "1.5"
_SERIAL = itertools.count()


@dataclass(frozen=True)
class Fault:
    """A trouble as `/_sim/faults` describes it, and the words for it."""

    name: str
    reasons: frozenset[Reason]
    described: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def acts(self) -> bool:
        """Whether coderd did what was asked, though nobody heard of it."""
        return self.name in ("drop-after", "time-out")


def _status(name: str, status: int, message: str, *reasons: Reason, **headers: str) -> Fault:
    body = {"message": message}
    described = {"kind": "status", "status": status, "body": body, "headers": headers}
    return Fault(name, frozenset(reasons), described)


NO_ANSWER = (Reason.UNAVAILABLE, Reason.ANSWER_LOST)
SIGNED_OUT = "You are signed out or your session has expired. Please sign in again to continue."
LIMITED = "You've been rate limited for sending more than 512 requests in 1m0s."
LICENSED = "External Provisioner Daemons is a Premium feature. Contact sales!"
FAULTS = (
    _status("401", 401, SIGNED_OUT, Reason.FORBIDDEN),
    _status("403-role", 403, "Forbidden.", Reason.FORBIDDEN),
    _status("403-license", 403, LICENSED, Reason.NOT_ENTITLED),
    _status("404-route", 404, "Route not found.", Reason.NOT_SUPPORTED),
    _status("409", 409, "It already exists.", Reason.CONFLICT),
    _status("429", 429, LIMITED, Reason.RATE_LIMITED, **{"Retry-After": "30"}),
    _status("500", 500, "An internal server error occurred.", Reason.SERVER_FAULT),
    _status("503", 503, "Service Unavailable", *NO_ANSWER),
    Fault("time-out", frozenset(NO_ANSWER), {"kind": "delay", "seconds": 2}),
    Fault("drop-before", frozenset(NO_ANSWER), {"kind": "drop_before"}),
    Fault("drop-after", frozenset(NO_ANSWER), {"kind": "drop_after"}),
    Fault("broken-json", frozenset({Reason.PROTOCOL_ERROR}), {"kind": "garbage"}),
    Fault("html", frozenset({Reason.PROTOCOL_ERROR}), {"kind": "html", "status": 200}),
)
PASSING = [f for f in FAULTS if f.name in ("429", "503", "drop-before", "drop-after")]


@dataclass(frozen=True)
class Subject:
    """One kind of object. `calls` names the request on which each operation stands or falls."""

    name: str
    provider: ResourceProvider
    wish: Callable[[Simulation, str], Wish]
    changed: dict[str, Any]
    count: Callable[[Simulation, str], int]
    calls: dict[str, tuple[str, str]]
    narrowed: Callable[[Reason], Reason] = lambda reason: reason
    adopts: bool = False
    """A lost answer of its POST is no loss: what was made is found and taken over."""
    gated: bool = False
    resumes: bool = False
    """What a POST without an answer made may stay for the next run, which takes over its name."""
    keeps_on: frozenset[str] = frozenset()
    """Operations that go on with what is known instead of failing."""
    exists: bool = True
    """False: a look, nothing that coderd would have to keep."""


def _given(coderd: Simulation, **more: Any) -> Wish:
    return {"connection": coderd.connection, "token": coderd.token, **more}


def _key(coderd: Simulation, name: str) -> Wish:
    deployment = coderd.world.records.deployment_id
    return _given(coderd, organization="coder", base_name=name, deployment_id=deployment)


def _keys(coderd: Simulation, name: str) -> int:
    keys = coderd.world.records.provisioner_keys.values()
    return sum(key.name.startswith(f"{name}-") for key in keys)


def _proxies(coderd: Simulation, name: str) -> int:
    proxies = coderd.world.records.proxies.values()
    return sum(proxy.name == name and not proxy.deleted for proxy in proxies)


_JWTS: dict[str, tuple[str, str]] = {}


def _license(coderd: Simulation, name: str) -> Wish:
    if name not in _JWTS:
        jti = str(uuid4())
        _JWTS[name] = (jti, license_text(jti=jti))
    return _given(coderd, jwt=_JWTS[name][1])


def _licenses(coderd: Simulation, name: str) -> int:
    jti = _JWTS[name][0] if name in _JWTS else ""
    return sum(each.uuid == jti for each in coderd.world.records.licenses.values())


def _operator(coderd: Simulation, name: str) -> Wish:
    account = {"email": FIRST_USER.email, "username": FIRST_USER.username}
    password = {"initial_password": FIRST_USER.password}
    return {**account, **password, "connection": coderd.connection, "token_name": name}


def _tokens(coderd: Simulation, name: str) -> int:
    return sum(key.token_name == name for key in coderd.world.records.api_keys.values())


KEYS = "/api/v2/organizations/coder/provisionerkeys"
PROXIES = "/api/v2/workspaceproxies"
TOKENS = "/api/v2/users/*/keys/tokens"
SUBJECTS = (
    Subject(
        "key",
        ProvisionerKeyProvider(),
        _key,
        {"rotate_after_days": 90},
        _keys,
        {
            "create": ("POST", KEYS),
            "read": ("GET", KEYS),
            "read-itself": ("GET", "/api/v2/provisionerkeys/*"),
            "delete": ("DELETE", f"{KEYS}/*"),
        },
        gated=True,
        keeps_on=frozenset({"delete"}),
    ),
    Subject(
        "proxy",
        WorkspaceProxyRegistrationProvider(),
        lambda coderd, name: _given(coderd, name=name),
        {"display_name": "Another"},
        _proxies,
        {
            "create": ("POST", PROXIES),
            "read": ("GET", PROXIES),
            "update": ("PATCH", f"{PROXIES}/*"),
            "delete": ("DELETE", f"{PROXIES}/*"),
        },
        adopts=True,
        gated=True,
        keeps_on=frozenset({"delete"}),
    ),
    Subject(
        "license",
        LicenseProvider(),
        _license,
        {"warn_days": 7},
        _licenses,
        {
            "create": ("POST", "/api/v2/licenses"),
            "read": ("GET", "/api/v2/licenses"),
            "update": ("GET", "/api/v2/licenses"),
            "delete": ("DELETE", "/api/v2/licenses/*"),
        },
        narrowed=license_reason,
        adopts=True,
        keeps_on=frozenset({"delete"}),
    ),
    Subject(
        "entitlements",
        EntitlementsProvider(),
        lambda coderd, _: _given(coderd),
        {},
        lambda _coderd, _name: 0,
        {
            "create": ("GET", "/api/v2/entitlements"),
            "read": ("GET", "/api/v2/entitlements"),
            "update": ("GET", "/api/v2/entitlements"),
        },
        narrowed=entitlements_reason,
        keeps_on=frozenset({"create", "read", "update"}),
        exists=False,
    ),
    Subject(
        "operator",
        OperatorAccessProvider(),
        _operator,
        {"wait_seconds": 60},
        _tokens,
        {
            "create": ("POST", TOKENS),
            "read": ("GET", "/api/v2/users/me"),
            "update": ("GET", "/api/v2/users/me"),
            "delete": ("DELETE", "/api/v2/users/*/keys/*"),
        },
        resumes=True,
        keeps_on=frozenset({"delete"}),
    ),
)


@dataclass
class Cell:
    """One object in the world, and the operation under trial."""

    subject: Subject
    operation: str
    coderd: Simulation
    driven: Driven
    process: ProviderProcess
    name: str
    held: Held | None = None
    said: str = ""

    @property
    def wish(self) -> Wish:
        return self.subject.wish(self.coderd, self.name)

    @property
    def objects(self) -> int:
        return self.subject.count(self.coderd, self.name)

    def prepare(self) -> None:
        """All but a create start with an object that is there."""
        if self.operation != "create":
            self.held = self.driven.create(self.wish)

    def strike(self, fault: Fault, *, times: int) -> None:
        method, path = self.subject.calls[self.operation]
        self.coderd.fault(method=method, path=path, count=times, **fault.described)

    def run(self) -> Held | None:
        """The operation, and what Pulumi would keep of it."""
        if self.operation == "create":
            self.held = self.driven.create(self.wish)
            return self.held
        assert self.held is not None
        if self.operation.startswith("read"):
            return self.driven.read(self.held)
        if self.operation == "update":
            return self.driven.update(self.held, {**self.wish, **self.subject.changed})
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
def world() -> Iterator[tuple[Simulation, ProviderProcess]]:
    """One coderd and one provider process for the whole table: objects differ by name."""
    with (
        simulated(licensed=True) as coderd,
        provider_process(environment={"CODER_STACK_DEADLINE": DEADLINE}) as process,
    ):
        yield coderd, process


@pytest.fixture
def cell_of(
    world: tuple[Simulation, ProviderProcess],
) -> Iterator[Callable[[Subject, str], Cell]]:
    coderd, process = world

    def cell(subject: Subject, operation: str) -> Cell:
        name = f"n{next(_SERIAL)}x"
        driven = process.of(subject.provider)
        made = Cell(subject, operation, coderd, driven, process, name)
        made.prepare()
        return made

    yield cell
    coderd.peace()


def outcome(subject: Subject, operation: str, fault: Fault) -> str:
    """`fails`, `works`, `keeps on` (says why and goes on with what is known), or chance."""
    if operation in subject.keeps_on:
        return "keeps on"
    if operation == "create" and subject.adopts and fault.acts:
        # With a time-out it is chance whether the look comes after the server's deed.
        return "works" if fault.name == "drop-after" else "works or fails"
    if subject.gated and operation == "read" and fault.name == "403-license":
        return "keeps on"
    if subject.name == "license" and fault.name == "404-route":
        return "keeps on"
    return "fails"


CELLS = [
    pytest.param(subject, operation, fault, id=f"{subject.name}-{operation}-{fault.name}")
    for subject in SUBJECTS
    for operation in subject.calls
    for fault in FAULTS
]


@pytest.mark.parametrize(("subject", "operation", "fault"), CELLS)
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
    wanted = outcome(subject, operation, fault)

    assert ended in ("works" if wanted == "keeps on" else wanted), said
    reasons = {subject.narrowed(reason) for reason in fault.reasons}
    if ended == "fails":
        assert any(said.removeprefix("Failed: ").startswith(f"{r}:") for r in reasons), said
    if wanted == "keeps on" and operation.startswith("read"):
        assert kept is not None, "unknown is not gone"
        assert kept.outputs["reason"] in {str(reason) for reason in reasons}
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


PASSING_CELLS = [
    pytest.param(subject, operation, fault, id=f"{subject.name}-{operation}-{fault.name}")
    for subject in SUBJECTS
    for operation in subject.calls
    for fault in PASSING
]


@pytest.mark.parametrize(("subject", "operation", "fault"), PASSING_CELLS)
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
