"""One value in a Kubernetes Secret that somebody else makes: a license, or an adopted key (L1).

`check` reads the Secret and returns the value as an input: a changed Secret shows in a plain
preview, and what depends on the value knows it in the same preview. A missing Secret fails the
update here, before anything that depends on it; the last value stays. Writes nothing.
"""

import hashlib
from typing import Any

import pulumi
from pulumi import dynamic
from pulumi.output import Unknown

from coder_stack.cluster.secret import SecretAbsent, SecretKeyRef, read_value
from coder_stack.coderd.errors import CoderdError
from coder_stack.coderd.reasons import Reason
from coder_stack.console import warn
from coder_stack.descriptors import SECRET_VALUE
from coder_stack.dynamic.runtime.check import checked, earlier_inputs, filled
from coder_stack.dynamic.runtime.errors import Failed
from coder_stack.dynamic.runtime.props import (
    Props,
    PropsModel,
    PropsSecret,
    parse,
    read_known,
    to_props,
)
from coder_stack.dynamic.runtime.provider import Provider
from coder_stack.dynamic.runtime.resource import CoderdResource


class Content(PropsModel):
    """What was found. `value` is left out until there is one: dependants must not see it empty."""

    value: PropsSecret | None = None
    fingerprint: str = ""
    """Tells one value from another and gives nothing of it away."""
    reason: str = ""
    """SecretMissing, or why a first look was not possible; else empty."""
    message: str = ""
    """The reason in a sentence."""


class SecretValueState(SecretKeyRef, Content):
    """The program gives the place, `check` the content; there is nothing else to keep."""


class SecretValueProvider(Provider):
    """Reads; there is nothing to create or delete."""

    descriptor = SECRET_VALUE
    replace_on = ("namespace", "name", "key")
    inputs_model = SecretValueState
    state_model = SecretValueState

    def check(self, _olds: Props, news: Props) -> dynamic.CheckResult:
        """Read the Secret."""
        known, want, problems = read_known(SecretValueState, news)
        if problems:
            return checked(news, problems)
        if want is None:
            values: dict[str, Any] = dict.fromkeys(Content.model_fields, Unknown())
        else:
            old = earlier_inputs(SecretValueState, _olds)
            last = old if old is not None and _location(old) == _location(want) else None
            with self._step("check", want.label):
                values = dict(self._read("check", want, last))
        return checked(filled(SecretValueState, news, {**known, **values}), [])

    def is_due(self, olds: Props, news: Props) -> bool:
        """Fail the next update for a Secret that a refresh has found missing (L1)."""
        return bool(news.get("reason"))

    def create(self, props: Props) -> dynamic.CreateResult:
        """Store what `check` found; fail if it found nothing."""
        state = self._settled("create", props)
        return dynamic.CreateResult(f"{state.namespace}/{state.name}/{state.key}", to_props(state))

    def update(self, _id: str, _olds: Props, _news: Props) -> dynamic.UpdateResult:
        """Store what `check` found; fail if it found nothing, and keep the last value."""
        return dynamic.UpdateResult(to_props(self._settled("update", _news)))

    def read(self, id_: str, props: Props) -> dynamic.ReadResult:
        """Read it. It is never reported as gone, since others depend on the last value."""
        known: SecretValueState = self._known("read", props)
        with self._step("read", known.label):
            now = known.model_copy(update=dict(self._read("read", known, known)))
        return dynamic.ReadResult(id_, to_props(now), to_props(now))

    def delete(self, _id: str, _props: Props) -> None:
        """Do nothing: the Secret is somebody else's."""

    def _read(self, step: str, place: SecretKeyRef, last: Content | None) -> Content:
        kept = _content(last) if last is not None else Content()
        try:
            value = read_value(place, self._config.kubernetes)
        except SecretAbsent as absent:
            warn(f"{Reason.SECRET_MISSING}: {place.label}: {absent}")
            found = {"reason": str(Reason.SECRET_MISSING), "message": str(absent)}
            return kept.model_copy(update=found)
        except CoderdError as error:
            warn(f"{error.reason}: {place.label}, {step}: {error}")
            if last is not None:
                return kept
            return Content(reason=str(error.reason), message=str(error))
        text = value.get_secret_value()
        return Content(value=value, fingerprint=hashlib.sha256(text.encode()).hexdigest()[:12])

    def _settled(self, step: str, props: Props) -> SecretValueState:
        with self._step(step, self.noun):
            want = parse(SecretValueState, props)
        if want.reason or want.value is None:
            raise Failed(want.reason or Reason.ERROR, want.label, step, want.message)
        return want


def _location(state: SecretValueState) -> tuple[Any, ...]:
    return tuple(getattr(state, name) for name in SecretKeyRef.model_fields)


def _content(state: Content) -> Content:
    return Content(**{name: getattr(state, name) for name in Content.model_fields})


class SecretValue(CoderdResource, descriptor=SECRET_VALUE):
    """`value` is a secret; it is known in previews as soon as the Secret is there."""

    value: pulumi.Output[str]
    fingerprint: pulumi.Output[str]
    reason: pulumi.Output[str]
    message: pulumi.Output[str]

    def __init__(
        self,
        resource_name: str,
        *,
        namespace: pulumi.Input[str],
        name: pulumi.Input[str],
        key: pulumi.Input[str],
        kubeconfig: pulumi.Input[str] | None = None,
        context: pulumi.Input[str] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        props = {
            "kubeconfig": kubeconfig,
            "context": context,
            "namespace": namespace,
            "name": name,
            "key": key,
            # A placeholder: what `check` answers is kept as a secret only if an input of that name
            # was one.
            "value": "",
        }
        super().__init__(SecretValueProvider(), resource_name, props, opts)
