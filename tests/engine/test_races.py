"""Two at once, on a real engine: updates, looks, repairs, people in the dashboard, two stacks.

An update is held at one of its calls (tests/tripwire.py) until the other has had its say, so that
each race is won the same way every time.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from pulumi import automation as auto

from sandbox.engine import Engine
from tests.engine.drifting import command
from tests.engine.operated import Operated, operated
from tests.engine.test_operator_access import HOME, PASSWORD
from tests.engine.test_rollback import PROGRAM as LICENSE_AND_KEY
from tests.engine_outcome import Outcome
from tests.provider.api_server import ApiServer, api_server
from tests.simulation import Simulation, license_text, simulated
from tests.tripwire import Call, Wire, tripwire
from tests.waiting import eventually

pytestmark = pytest.mark.engine
JWT = license_text()


class Race:
    """A stack on a fresh coderd whose first update can be held at a call."""

    def __init__(self, stack: Operated, wire: Wire, cluster: ApiServer) -> None:
        self.stack, self.wire, self.cluster = stack, wire, cluster
        self.changes: list[str] = []
        wire.before = self._note
        self._held: str = ""
        self._reached, self._go = threading.Event(), threading.Event()

    def _note(self, call: Call) -> bool:
        if call.changes and str(call) == self._held:
            # Nobody else makes this call; a client that waits too long for its answer repeats it.
            self._reached.set()
            assert self._go.wait(240)
        elif call.changes:
            self.changes.append(str(call))
        return False

    @contextmanager
    def update_held_at(self, call: str) -> Iterator[Callable[[], Outcome]]:
        """An update runs and waits at its first such call; what is yielded lets it go on."""
        self._held = call
        ended: list[Outcome | BaseException] = []

        def run() -> None:
            try:
                ended.append(self.stack.up())
            except BaseException as error:  # noqa: BLE001  # raised again in the test's thread
                ended.append(error)

        def finish() -> Outcome:
            self._go.set()
            thread.join()
            (outcome,) = ended
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

        thread = threading.Thread(target=run)
        thread.start()
        try:
            assert eventually(lambda: self._reached.is_set() or ended, 60)
            assert not ended, f"the update never came to {call}: {ended}"
            self.changes.clear()
            yield finish
        finally:
            self._held = ""
            self._go.set()
            thread.join()

    @property
    def tokens(self) -> list[str]:
        """The named tokens that coderd has."""
        keys = self.stack.coderd.state.records.api_keys.values()
        return [key.token_name for key in keys if key.login_type == "token"]

    def assert_converged(self) -> None:
        records = self.stack.coderd.state.records
        assert [each.jwt for each in records.licenses.values()] == [JWT]
        assert self.tokens == ["coder-stack"]
        assert self.stack.preview(refresh=True).changes == []


@pytest.fixture
def race(engine: Engine, tmp_path: Path) -> Iterator[Race]:
    with ExitStack() as open_:
        coderd = open_.enter_context(simulated(fresh=True))
        cluster = open_.enter_context(api_server(tmp_path))
        upstream = open_.enter_context(httpx.Client(base_url=coderd.url, trust_env=False))
        wire = open_.enter_context(tripwire("coderd", upstream))
        stack = open_.enter_context(operated(engine, coderd, tmp_path))
        stack.give("jwt", JWT)
        stack.give("initialPassword", PASSWORD)
        namespace, _, name = HOME.partition("/")
        home = {"namespace": namespace, "name": name, "key": "token"}
        place = json.dumps({"kubeconfig": cluster.kubeconfig, **home})
        stack.set_config(home=place, url=wire.url)
        yield Race(stack, wire, cluster)


def test_CP7_of_two_updates_the_second_ends_at_the_lock_and_changes_nothing(race: Race) -> None:
    with race.update_held_at("POST /licenses") as finish:
        assert "locked" in race.stack.failure(race.stack.up)
        assert race.changes == []
        finish()
    race.assert_converged()


def test_D3_a_reconcile_during_an_update_says_so_and_changes_nothing(race: Race) -> None:
    with race.update_held_at("POST /licenses") as finish:
        done = command(race.stack, "reconcile")
        assert done.returncode == 1
        assert "another update" in (done.stdout + done.stderr).lower()
        assert race.changes == []
        finish()
    race.assert_converged()


def test_CP10_looks_during_an_update_make_and_revoke_nothing(race: Race) -> None:
    with race.update_held_at("POST /licenses") as finish:
        assert command(race.stack, "drift").returncode == 1
        race.stack.preview()
        with pytest.raises(auto.errors.CommandError):
            race.stack.refresh()  # it would write, so it ends at the lock
        assert race.changes == []
        finish()
    race.assert_converged()


@pytest.mark.parametrize("when", ["POST /licenses", "POST /users/me/keys/tokens"])
def test_CP10_a_token_that_somebody_revokes_during_an_update_is_renewed(
    race: Race, when: str
) -> None:
    """In the dashboard; whoever is at work then logs in once more, or the next run does."""
    with race.update_held_at(when) as finish:
        race.stack.coderd.state.records.api_keys.clear()
        try:
            finish()
        except auto.errors.CommandError:
            race.stack.up()
    race.stack.up()
    race.assert_converged()


def test_L6_a_license_that_somebody_removes_during_an_update_is_found_and_uploaded_again(
    race: Race,
) -> None:
    """After it was uploaded and before the update ends."""
    uploaded = threading.Event()

    def remove(call: Call) -> bool:
        if str(call) == "POST /licenses" and not uploaded.is_set():
            uploaded.set()
            race.stack.coderd.state.records.licenses.clear()
            race.stack.coderd.state.refresh_entitlements()
        return False

    race.wire.after = remove
    with suppress(auto.errors.CommandError):  # it may have noticed
        race.stack.up()
    assert uploaded.is_set()
    race.stack.up(refresh=True)
    race.assert_converged()


@contextmanager
def neighbour(engine: Engine, coderd: Simulation, folder: Path, name: str) -> Iterator[Operated]:
    """One of two stacks that ask for the same key."""
    (folder / name).mkdir()
    with operated(engine, coderd, folder / name, LICENSE_AND_KEY) as stack:
        stack.give("token", coderd.token)
        stack.set_config(deployment=coderd.state.records.deployment_id)
        yield stack


def test_K8_two_stacks_on_one_coderd_and_organization_leave_each_other_alone(
    engine: Engine, tmp_path: Path
) -> None:
    with (
        simulated() as coderd,
        neighbour(engine, coderd, tmp_path, "one") as one,
        neighbour(engine, coderd, tmp_path, "two") as two,
    ):
        one.give("jwt", JWT)  # one of them brings the license
        for stack in (one, two):
            stack.up()
            stack.secrets.add(str(stack.project.outputs()["material"]))
        keys = set(coderd.state.records.provisioner_keys)
        for stack in (one, two):
            assert stack.preview(refresh=True).changes == []
            stack.up(refresh=True)
        assert set(coderd.state.records.provisioner_keys) == keys
        assert len(coderd.state.records.licenses) == 1
        two.destroy()
        assert one.preview(refresh=True).changes == []
