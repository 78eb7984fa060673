"""Pulumi's provider protocol: properties in and out, typed models in between.

`Provider` is the base of every dynamic provider; `CoderdProvider` adds the session with coderd. A
resource file subclasses one and says what is true of one object, on typed models. The state keeps a
reference to the class and nothing of an instance. Four threads share one instance.
"""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, TypeVar, get_args, get_origin

import pulumi
from pulumi import dynamic
from pydantic import ValidationError

from coder_stack.coderd.errors import CoderdError
from coder_stack.coderd.reasons import Reason
from coder_stack.config_keys import CONFIG, IN_USE
from coder_stack.console import warn
from coder_stack.descriptors import Descriptor
from coder_stack.dynamic.runtime.check import CheckRequest, check
from coder_stack.dynamic.runtime.config import StackConfig
from coder_stack.dynamic.runtime.errors import Failed, one_sentence_errors, tell_bug
from coder_stack.dynamic.runtime.licensed import NOT_PROVISIONED
from coder_stack.dynamic.runtime.props import Problem, Props, parse, to_props
from coder_stack.dynamic.runtime.session import SESSIONS, CoderdInputs, Session

I = TypeVar("I", bound=CoderdInputs)  # noqa: E741  # Inputs and State, as Pulumi's docs call them
S = TypeVar("S", bound=CoderdInputs)


class Provider(dynamic.ResourceProvider):
    """The base of all: the stack's config, a `diff` that names replacements, one-sentence errors.

    The models are PropsModels; State inherits from Inputs or is the same.
    """

    serialize_as_secret_always = False

    descriptor: ClassVar[Descriptor]
    replace_on: ClassVar[tuple[str, ...]] = ()
    """Inputs whose change makes another object. A key that old state lacks is no change (K7)."""
    inputs_model: ClassVar[type[Any]]
    state_model: ClassVar[type[Any]]
    _config: StackConfig = StackConfig()

    @property
    def noun(self) -> str:
        """Name the kind of object in messages."""
        return self.descriptor.noun

    def reason(self, error: CoderdError) -> Reason:
        """Map an error to a Reason; override to narrow it."""
        return error.reason

    def configure(self, req: dynamic.ConfigureRequest) -> None:
        """Read the stack's config, once per process and before anything else."""
        one_sentence_errors()
        self._config = StackConfig.read(req.config.get, os.environ.get("PULUMI_PROJECT", CONFIG))
        IN_USE.namespace = self._config.namespace

    def is_due(self, olds: Props, news: Props) -> bool:
        """Tell whether an update is due though no input changed. Not asked while any is unknown."""
        return False

    def diff(self, _id: str, _olds: Props, _news: Props) -> dynamic.DiffResult:
        """Name what replaces and nothing else: the engine compares the inputs itself.

        A placeholder is replaced once the license allows the object, and for nothing else.
        """
        if _id == NOT_PROVISIONED:
            allowed = _news.get("enabled") is not False  # an unknown entitlement may allow it
            return dynamic.DiffResult(replaces=["enabled"] if allowed else None)
        replaces = [
            name
            for name in self.replace_on
            if name in _olds
            and _olds[name] != _news.get(name)
            # Not yet known is no proof of another object; the engine shows it as a change.
            and not pulumi.contains_unknowns(_news.get(name))
        ]
        result = dynamic.DiffResult(replaces=replaces or None)
        if not pulumi.contains_unknowns(_news) and self.is_due(_olds, _news):
            result.changes = True
        return result

    def _known(self, step: str, props: Props) -> Any:
        """Parse what the state holds."""
        with self._step(step, self.noun):
            return parse(self.state_model, props)

    @contextmanager
    def _step(self, step: str, label: str) -> Generator[None]:
        """Turn whatever goes wrong inside into one sentence about this object and this step."""
        try:
            yield
        except CoderdError as error:
            raise Failed(self.reason(error), label, step, str(error)) from None
        except ValidationError as error:
            fields = ", ".join(".".join(map(str, each["loc"])) for each in error.errors())
            why = f"what Pulumi keeps of it cannot be used: {fields}; refresh or import it again."
            raise Failed(Reason.ERROR, label, step, why) from None
        except Failed:
            raise
        except Exception as bug:
            tell_bug(bug)
            raise


class CoderdProvider(Provider, Generic[I, S]):
    """One kind of object in coderd. Subclass as `CoderdProvider[KeyInputs, KeyState]`."""

    delete_is_best_effort: ClassVar[bool] = False
    """A delete that fails is a warning and never blocks a destroy (K6)."""
    only_reads: ClassVar[bool] = False
    """Nothing of it is in coderd: a delete needs no session, not even a valid connection."""

    inputs_model: ClassVar[type[CoderdInputs]]
    state_model: ClassVar[type[CoderdInputs]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for base in getattr(cls, "__orig_bases__", ()):
            if get_origin(base) is CoderdProvider:
                cls.inputs_model, cls.state_model = get_args(base)

    # What a subclass says -----------------------------------------------------------------------

    def create_object(self, session: Session, want: I) -> S:
        """Create it, or adopt what a lost run left. One mutating call; no waiting after it (U3)."""
        raise NotImplementedError

    def observe(self, session: Session, known: S) -> S | None:
        """Read it; None if it is surely gone. What cannot be read is taken from `known`."""
        raise NotImplementedError

    def update_object(self, session: Session, want: I, known: S) -> S:
        """Change it in place. Default: nothing in coderd depends on the changed inputs."""
        state: Any = self.state_model.model_validate({**dict(known), **dict(want)})
        return state

    def delete_object(self, session: Session, known: S) -> None:
        """Remove it; already gone is success. Not called for what only reads."""
        raise NotImplementedError

    def identify(self, state: S) -> str:
        """Return the id for Pulumi's state: never empty, never a secret."""
        raise NotImplementedError

    def examine(
        self, request: CheckRequest[I], session: Session | None
    ) -> tuple[Mapping[str, Any], list[Problem]]:
        """Return values to put into the checked inputs, and problems.

        Runs in every preview: only cheap GETs, by `session.peek`. There is no session while the
        connection is unknown.
        """
        return {}, []

    def label(self, model: I | S) -> str:
        """Name the object in messages, with its own name if it has one."""
        return self.noun

    # What Pulumi calls --------------------------------------------------------------------------

    def check(self, _olds: Props, news: Props) -> dynamic.CheckResult:
        """Return canonical inputs, unknown ones as they came, and what is wrong."""
        with self._step("check", self.noun):
            return check(self.inputs_model, self.examine, _olds, news, self._config)

    def create(self, props: Props) -> dynamic.CreateResult:
        """Create the object."""
        with self._step("create", self.noun):
            want: Any = parse(self.inputs_model, props)
        with self._step("create", self.label(want)):
            session = self._session(want, {})
            with session.changing():
                state = self.create_object(session, want)
        return dynamic.CreateResult(self.identify(state), _outputs(state, {}))

    def read(self, id_: str, props: Props) -> dynamic.ReadResult:
        """Return it as it is, as outputs and as inputs, so that the engine can name a drift."""
        known = self._known("read", props)
        with self._step("read", self.label(known)):
            session = self._session(known, props)
            now = self.observe(session, known)
        if now is None:
            return gone()
        outs = _outputs(now, props)
        inputs = {name: outs[name] for name in self.inputs_model.model_fields if name in outs}
        return dynamic.ReadResult(self.identify(now), outs, inputs)

    def update(self, _id: str, _olds: Props, _news: Props) -> dynamic.UpdateResult:
        """Apply new inputs; all outputs are returned again, or they would be lost."""
        known = self._known("update", _olds)
        with self._step("update", self.label(known)):
            want: Any = parse(self.inputs_model, _news)
            session = self._session(want, _olds)
            with session.changing():
                state = self.update_object(session, want, known)
        return dynamic.UpdateResult(_outputs(state, _olds))

    def delete(self, _id: str, _props: Props) -> None:
        """Delete by what was applied, as the state has it."""
        if self.only_reads:
            return
        try:
            known = self._known("delete", _props)
            with self._step("delete", self.label(known)):
                session = self._session(known, _props, may_renew=True)
                with session.changing(), session.deleting() as limited:
                    self.delete_object(limited, known)
        except Failed as error:
            if error.again or not self.delete_is_best_effort:
                raise
            warn(f"{error} It may still be there; remove it by hand.")

    def _session(self, model: CoderdInputs, state: Props, *, may_renew: bool = False) -> Session:
        return SESSIONS.open(model.connection, self._config, state, may_renew=may_renew)


def gone() -> dynamic.ReadResult:
    """Say that the object is surely gone; None as properties would crash the SDK."""
    return dynamic.ReadResult("", {})


def _outputs(state: CoderdInputs, old_props: Props) -> Props:
    """Return all properties, without a token: it is kept elsewhere.

    An earlier version kept a copy in every state: that stays until an update names where it is.
    """
    token = old_props.get("token") if state.connection.credential is None else None
    return {**({"token": token} if token else {}), **to_props(state)}
