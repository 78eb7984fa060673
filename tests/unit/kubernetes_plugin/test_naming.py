"""Automatic names: stable for a seed, kept over updates, given only where none is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.kubernetes_plugin import naming
from sandbox.kubernetes_plugin.errors import PluginError
from sandbox.kubernetes_plugin.objects import name_of
from sandbox.kubernetes_plugin.urns import Urn
from sandbox.kubernetes_plugin.values import UNKNOWN, Object


@given(st.binary(min_size=1), st.from_regex(r"[a-z]{1,20}", fullmatch=True))
def test_a_seed_always_gives_the_same_name(seed: bytes, base: str) -> None:
    first = naming.give_name({}, base, seed)
    assert first == naming.give_name({}, base, seed)
    assert re.fullmatch(rf"{base}-[0-9a-f]{{8}}", name_of(first))
    assert naming.is_autonamed(first)


def test_without_a_seed_names_differ() -> None:
    assert len({name_of(naming.give_name({}, "x", b"")) for _ in range(20)}) == 20


@pytest.mark.parametrize("name", ["mine", UNKNOWN])
def test_a_name_of_the_programs_own_stays(name: str) -> None:
    inputs: Object = {"metadata": {"name": name}}
    assert naming.give_name(inputs, "x", b"seed") == inputs
    assert naming.keep_name(inputs, naming.give_name({}, "x", b"seed")) == inputs


def test_only_an_automatic_name_is_kept() -> None:
    old = naming.give_name({}, "x", b"seed")
    assert name_of(naming.keep_name({}, old)) == name_of(old)
    assert naming.keep_name({}, {"metadata": {"name": "chosen"}}) == {}


def test_the_engines_naming_settings_count() -> None:
    proposed = naming.give_name({}, "x", b"", "team-x", naming.Mode.ENFORCE)
    assert name_of(proposed) == "team-x"
    with pytest.raises(PluginError, match="automatic naming is disabled"):
        naming.give_name({}, "x", b"", "", naming.Mode.DISABLE)


def test_a_urn_gives_type_and_name_even_below_parents() -> None:
    text = "urn:pulumi:s::p::coder:index:Stack$kubernetes:core/v1:Secret::a::b"
    assert Urn(text).type == "kubernetes:core/v1:Secret"
    assert Urn(text).kind.key == "v1/Secret"
    assert Urn(text).name == "a::b"
