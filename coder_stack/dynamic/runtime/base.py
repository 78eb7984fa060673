"""What all providers of coderd's objects share: bags become models, unknowns pass through.

A provider file says what is true of one object: `create_object`, `observe`, `update_object`,
`delete_object`, on typed models, and if need be `examine` for what can be seen before anything
changes. What does not need coderd is in provider.py, what a process knows in connection.py.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar, get_args, get_origin

from pulumi import dynamic

from coder_stack.coderd import CoderdError
from coder_stack.console import warn
from coder_stack.dynamic.runtime.check import (
    CheckRequest,
    checked,
    earlier_inputs,
    filled,
    known_connection,
    with_live_deployment,
)
from coder_stack.dynamic.runtime.errors import Failed
from coder_stack.dynamic.runtime.props import Problem, Props, parse, read_known
from coder_stack.dynamic.runtime.provider import Provider
from coder_stack.dynamic.runtime.results import changing, gone, outputs
from coder_stack.dynamic.runtime.session import (
    CoderdInputs,
    ConnectionProps,
    Session,
    Sessions,
)

__all__ = ["CheckRequest", "CoderdInputs", "CoderdProvider", "gone"]

SESSIONS = Sessions()
"""Of this process; the only thing that outlives a call."""


I = TypeVar("I", bound=CoderdInputs)  # noqa: E741  # Inputs and State, as the docs call them
S = TypeVar("S", bound=CoderdInputs)


class CoderdProvider(Provider, Generic[I, S]):
    """One kind of object in coderd. Subclass as `CoderdProvider[KeyInputs, KeyState]`."""

    delete_is_best_effort: ClassVar[bool] = False
    """A delete that fails is a warning and never blocks a destroy (K6)."""
    only_reads: ClassVar[bool] = False
    """Nothing of it is in coderd: deleting it needs no connection, not even a valid one."""

    inputs_model: ClassVar[type[CoderdInputs]]
    state_model: ClassVar[type[CoderdInputs]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for base in getattr(cls, "__orig_bases__", ()):
            if get_origin(base) is CoderdProvider:
                cls.inputs_model, cls.state_model = get_args(base)

    # What a subclass says -----------------------------------------------------------------------

    def create_object(self, session: Session, want: I) -> S:
        """Make it, or adopt what a lost run left. One mutating call; no waiting after it (U3)."""
        raise NotImplementedError

    def observe(self, session: Session, known: S) -> S | None:
        """As it is now; None if it is surely gone. What cannot be read is echoed from `known`."""
        raise NotImplementedError

    def update_object(self, session: Session, want: I, known: S) -> S:
        """Change it in place. Default: nothing in coderd depends on the changed inputs."""
        state: Any = self.state_model.model_validate({**dict(known), **dict(want)})
        return state

    def delete_object(self, session: Session, known: S) -> None:
        """Remove it; already gone is success. Not called for what only reads."""
        raise NotImplementedError

    def identify(self, state: S) -> str:
        """The id in Pulumi's state: never empty, never a secret."""
        raise NotImplementedError

    def examine(
        self, proposal: CheckRequest[I], session: Session | None
    ) -> tuple[Mapping[str, Any], list[Problem]]:
        """Values to put into the checked inputs, and problems. Only cheap GETs, by `session.look`.

        Runs in every preview. `session` is None while the connection is unknown.
        """
        return {}, []

    def label(self, model: I | S) -> str:
        """The object in messages, with its name if it has one."""
        return self.noun

    # What Pulumi calls --------------------------------------------------------------------------

    def check(self, _olds: Props, news: Props) -> dynamic.CheckResult:
        """Canonical inputs, unknown ones as they came, and what is wrong."""
        session, problems = self._peek(known_connection(news))
        if session is not None and "deployment_id" in self._inputs.model_fields:
            news = with_live_deployment(news, session)
        known, found, wrong = read_known(self._inputs, news)
        whole: Any = found
        problems += wrong
        if problems:
            return checked(news, problems)
        old: Any = earlier_inputs(self._inputs, _olds)
        with self._step("check", self.noun):
            values, problems = self.examine(CheckRequest[I](known, whole, old), session)
        return checked(filled(self._inputs, news, {**known, **values}), problems)

    def create(self, props: Props) -> dynamic.CreateResult:
        """Inputs to a new object."""
        with self._step("create", self.noun):
            want: Any = parse(self._inputs, props)
        with self._step("create", self.label(want)):
            session = self._session(want, {})
            with changing(session):
                state = self.create_object(session, want)
        return dynamic.CreateResult(self.identify(state), outputs(state, {}))

    def read(self, id_: str, props: Props) -> dynamic.ReadResult:
        """The object as it is, as outputs and as inputs, so that the engine can name a drift."""
        known = self._known("read", props)
        with self._step("read", self.label(known)):
            session = self._session(known, props)
            now = self.observe(session, known)
        if now is None:
            return gone()
        outs = outputs(now, props)
        inputs = {name: outs[name] for name in self._inputs.model_fields if name in outs}
        return dynamic.ReadResult(self.identify(now), outs, inputs)

    def update(self, _id: str, _olds: Props, _news: Props) -> dynamic.UpdateResult:
        """New inputs to the same object; all outputs are given again, or they would be lost."""
        known = self._known("update", _olds)
        with self._step("update", self.label(known)):
            want: Any = parse(self._inputs, _news)
            session = self._session(want, _olds)
            with changing(session):
                state = self.update_object(session, want, known)
        return dynamic.UpdateResult(outputs(state, _olds))

    def delete(self, _id: str, _props: Props) -> None:
        """By what was applied, as state has it."""
        if self.only_reads:
            return
        try:
            known = self._known("delete", _props)
            with self._step("delete", self.label(known)):
                session = self._session(known, _props, may_renew=True)
                with changing(session), session.deleting() as hurried:
                    self.delete_object(hurried, known)
        except Failed as error:
            if error.again or not self.delete_is_best_effort:
                raise
            warn(f"{error} It may still be there; remove it by hand.")

    # ---------------------------------------------------------------------------------------------

    @property
    def _inputs(self) -> type[CoderdInputs]:
        return self.inputs_model

    def _session(self, model: CoderdInputs, own: Props, *, may_renew: bool = False) -> Session:
        return SESSIONS.open(model.connection, self._config, own, may_renew=may_renew)

    def _peek(self, connection: ConnectionProps | None) -> tuple[Session | None, list[Problem]]:
        """The way to coderd, if it is known."""
        if connection is None:
            return None, []
        try:
            session = SESSIONS.open(connection, self._config, {})
            session.refuse_if_insecure()
        except CoderdError as error:
            return None, [Problem("connection", f"{error.reason}: {error}")]
        return session, []
