"""What every dynamic provider of ours has, whether its facts come from coderd or from Kubernetes.

Models of its inputs and its state, the stack's config, a `diff` that names replacements only, and
one way to turn errors into reasons. Providers hold nothing else: state keeps a short reference to
the class. Four threads share one instance.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, ClassVar

import pulumi
from pulumi import dynamic
from pydantic import ValidationError

from coder_stack.coderd import CoderdError, Reason
from coder_stack.dynamic.runtime.config import StackConfig
from coder_stack.dynamic.runtime.errors import Failed, one_sentence_errors, tell_bug
from coder_stack.dynamic.runtime.props import Props, parse

__all__ = ["Provider"]


class Provider(dynamic.ResourceProvider):
    """One kind of object. The models are WireModels; State inherits from Inputs or is the same."""

    serialize_as_secret_always = False

    noun: ClassVar[str]
    """The object in messages: `license`."""
    replace_on: ClassVar[tuple[str, ...]] = ()
    """Inputs whose change makes another object. A key that old state lacks is no change (K7)."""
    replace_by_deleting_first: ClassVar[bool] = False

    inputs_model: ClassVar[type[Any]]
    state_model: ClassVar[type[Any]]
    _config: StackConfig = StackConfig()

    def reason(self, error: CoderdError) -> Reason:
        """Map an error to a Reason; override to narrow it."""
        return error.reason

    def configure(self, req: dynamic.ConfigureRequest) -> None:
        """Once per process, before anything else."""
        one_sentence_errors()
        self._config = StackConfig.read(req.config.get)

    def diff(self, _id: str, _olds: Props, _news: Props) -> dynamic.DiffResult:
        """Names what replaces and nothing else: the engine compares the inputs itself."""
        replaces = [
            name
            for name in self.replace_on
            if name in _olds
            and _olds[name] != _news.get(name)
            # Not yet known is no proof of another object; the engine shows it as a change.
            and not pulumi.contains_unknowns(_news.get(name))
        ]
        first = self.replace_by_deleting_first if replaces else None
        return dynamic.DiffResult(replaces=replaces or None, delete_before_replace=first)

    def _known(self, step: str, props: Props) -> Any:
        """What state holds, as a model."""
        with self._step(step, self.noun):
            return parse(self.state_model, props)

    @contextmanager
    def _step(self, step: str, label: str) -> Generator[None]:
        """Whatever goes wrong inside ends as one sentence about this object and this step."""
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
