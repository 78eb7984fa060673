"""Inputs in the server's own form, so that only real differences show."""

import base64
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sandbox.kubernetes_plugin import quantities
from sandbox.kubernetes_plugin.normalising import normalise
from sandbox.kubernetes_plugin.values import UNKNOWN, Object
from tests.unit.kubernetes_plugin.trees import OBJECTS


@pytest.mark.parametrize(
    ("given_as", "answered_as"),
    [
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1.5Gi", "1536Mi"),
        ("1024Mi", "1Gi"),
        ("1024", "1024"),
        ("1Ki", "1Ki"),
        ("512Ki", "512Ki"),
        ("0.5Ki", "512"),
        ("100000k", "100M"),
        ("1500M", "1500M"),
        ("0.581Gi", "623844k"),
        ("1e3", "1e3"),
        ("2E6", "2e6"),
        ("0", "0"),
        ("0Mi", "0"),
        ("+5", "5"),
        (".5", "500m"),
        ("not a quantity", "not a quantity"),
    ],
)
def test_quantities_take_the_servers_form(given_as: str, answered_as: str) -> None:
    assert quantities.canonical(given_as) == answered_as


QUANTITIES = st.builds(
    "{}{}".format,
    st.decimals(0, 10**6, places=3),
    st.sampled_from(["", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "E-3"]),
)


@given(QUANTITIES)
def test_the_canonical_form_is_the_same_amount_and_final(text: str) -> None:
    once = quantities.canonical(text)
    assert quantities.canonical(once) == once
    before, after = quantities.parse(text), quantities.parse(once)
    assert before is not None
    assert after is not None
    # The server rounds up: binary amounts to whole bytes, all others to a billionth.
    assert before <= after <= before + max(Decimal(1), before / 10**6)


@example({"metadata": {"labels": {}, "annotations": None}, "env": {"data": ""}}, "v1/Pod")
@given(OBJECTS, st.sampled_from(["v1/Pod", "apps/v1/Deployment", "example.com/v1/Widget"]))
def test_normalising_twice_changes_nothing_more(body: dict[str, Any], kind: str) -> None:
    version, _, name = kind.rpartition("/")
    once = normalise({**body, "apiVersion": version, "kind": name})
    assert normalise(once) == once


@given(st.dictionaries(st.text("abc", min_size=1), st.text(max_size=5), min_size=1))
def test_string_data_of_a_secret_becomes_data(string_data: dict[str, Any]) -> None:
    secret: Object = {"apiVersion": "v1", "kind": "Secret", "stringData": string_data}
    normalised = normalise(secret)
    assert "stringData" not in normalised
    data = normalised["data"]
    assert isinstance(data, dict)
    assert {key: base64.b64decode(str(value)).decode() for key, value in data.items()} == (
        string_data
    )


def test_a_secret_with_unknown_values_waits_for_them() -> None:
    secret: Object = {"apiVersion": "v1", "kind": "Secret", "stringData": {"a": UNKNOWN}}
    assert normalise(secret) == secret


def test_a_custom_resource_passes_untouched() -> None:
    widget: Object = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "spec": {"limits": {"cpu": "1000m"}, "args": [], "hostNetwork": False},
    }
    assert normalise(widget) == widget


def test_names_that_belong_to_the_user_are_never_taken_for_fields() -> None:
    config: Object = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "data": {"value": "", "limits": "1000m", "args": ""},
    }
    assert normalise(config) == config


def test_a_false_that_means_something_stays() -> None:
    """A pointer in the Go type: absent and false differ."""
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {"automountServiceAccountToken": False, "hostNetwork": False},
    }
    assert normalise(pod)["spec"] == {"automountServiceAccountToken": False}


def test_what_the_server_decides_is_no_input() -> None:
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x", "uid": "1", "resourceVersion": "2", "managedFields": []},
    }
    assert normalise(pod)["metadata"] == {"name": "x"}
