"""Descriptors and the resources that they describe."""

import importlib
import pkgutil
import re
from typing import Any

import pytest

from coder_stack import dynamic
from coder_stack.descriptors import DESCRIPTORS
from coder_stack.dynamic.runtime.provider import CoderdProvider, Provider
from coder_stack.dynamic.runtime.resource import CoderdResource
from coder_stack.operate.diagnosis.values import is_secret
from tests.unit.docs import table_rows


def every_provider(base: type[Provider] = Provider) -> list[type[Provider]]:
    """Return the providers of all resource files."""
    for each in pkgutil.iter_modules(dynamic.__path__, f"{dynamic.__name__}."):
        importlib.import_module(each.name)
    below = [kind for sub in base.__subclasses__() for kind in every_provider(sub)]
    return [*([base] if hasattr(base, "descriptor") else []), *below]


def listed(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


PROVIDERS = {each.descriptor.type: each for each in every_provider()}
described = pytest.mark.parametrize("type_", DESCRIPTORS)


def test_every_provider_has_a_descriptor_and_every_descriptor_a_provider() -> None:
    assert PROVIDERS.keys() == DESCRIPTORS.keys()
    assert not hasattr(CoderdProvider, "descriptor")


@described
def test_L9_a_descriptor_names_every_secret_of_its_models(type_: str) -> None:
    provider: Any = PROVIDERS[type_]
    models = (provider.inputs_model, provider.state_model)
    secret = {name for model in models for name in model.secret_fields()}
    assert secret | {"token"} == set(DESCRIPTORS[type_].secret_outputs)


@described
def test_L9_a_report_masks_every_secret(type_: str) -> None:
    each = DESCRIPTORS[type_]
    assert all(is_secret(each.name, name) for name in (*each.secret_outputs, *each.secret_inputs))


@described
def test_the_docs_list_its_outputs_its_secrets_and_its_feature(type_: str) -> None:
    each = DESCRIPTORS[type_]
    (resource,) = [kind for kind in CoderdResource.__subclasses__() if kind.__name__ == each.name]
    _, outputs, secrets, feature, *_ = table_rows("docs/coderd-resources.md")[each.name]
    assert listed(outputs) == list(resource.__annotations__)
    assert (listed(secrets), listed(feature)) == (
        list(each.secret_fields),
        [each.feature] if each.feature else [],
    )


@described
def test_a_gate_is_an_input_of_what_needs_a_feature(type_: str) -> None:
    gated = "enabled" in PROVIDERS[type_].inputs_model.model_fields
    assert gated or DESCRIPTORS[type_].feature is None
