"""What the watcher knows of a stack: read from a state that Pulumi exported (N1)."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.watch.exported_state import read_facts
from coder_stack.operate.watch.facts import ABSENT, Facts, Seen
from sandbox.paths import CHECKOUT

EXPORTED = (CHECKOUT / "tests/engine/earlier_stack/state.json").read_text()
SECRET = "4dabf18193072939515e22adb298388d"


@pytest.fixture(scope="module")
def facts() -> Facts:
    return read_facts(EXPORTED)


def changed(change: Callable[[dict[str, Any]], object], type_: str = "") -> str:
    """The exported state with its resources changed, or those of one type."""
    exported = json.loads(EXPORTED)
    for each in exported["deployment"]["resources"]:
        if type_ in ("", each["type"]):
            change(each)
    return json.dumps(exported)


def ciphertexts(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["ciphertext"]} if SECRET in value else set[str]()
        return own.union(*map(ciphertexts, value.values()))
    return set[str]().union(*map(ciphertexts, value)) if isinstance(value, list) else set()


def test_N1_every_object_with_a_namespace_and_every_object_in_coderd_is_a_fact(
    facts: Facts,
) -> None:
    kinds = {each.collection.rpartition("/")[2] for each in facts.objects}
    assert {"deployments", "secrets", "roles", "rolebindings", "services", "cronjobs"} <= kinds
    assert "clusterroles" not in kinds
    assert {each.label for each in facts.coderd if each.listed_in.startswith("keys/")} == {
        "key `eu-c900bc190e`",
        next(each.label for each in facts.coderd if "ml" in each.label),
    }
    assert "proxies" in facts.lists
    assert "licenses" in facts.lists
    assert [each.label for each in facts.answers] == [
        "the API server of coder-cluster",
        "coderd",
        "the operator's token",
    ]
    assert facts.namespace == "earlier"
    assert facts.connection == {
        "allow_insecure": False,
        "credential": {"key": "token", "name": "coder-operator", "namespace": "earlier"},
        "url": "http://coderd.invalid",
    }


@pytest.mark.parametrize("name", ["kubeconfig", "context"])
def test_N1_a_secret_kubeconfig_is_one_sentence(name: str) -> None:
    exported = changed(
        lambda each: each["inputs"].update({name: {SECRET: "1b47", "ciphertext": "v1:x"}}),
        "pulumi:providers:kubernetes",
    )
    with pytest.raises(OperationError) as refused:
        read_facts(exported)
    assert str(refused.value) == (
        f"The {name} of provider `coder-cluster` is a secret in the state, so its cluster cannot "
        "be watched."
    )
    assert f"Give the provider a {name} that is no secret" in refused.value.told("dev")


def test_N1_the_lease_is_in_the_first_cluster_that_has_objects() -> None:
    """Coderd's own may have none, where coderd was there before."""

    def move(each: dict[str, Any]) -> None:
        each["provider"] = each.get("provider", "").replace("::coder-cluster::", "::b@us::")

    there = read_facts(EXPORTED)
    assert (there.lease_cluster, there.namespace) == ("coder-cluster", "earlier")
    elsewhere = read_facts(changed(move))
    assert (elsewhere.lease_cluster, elsewhere.namespace) == ("b@us", "earlier")


def test_N1_there_is_one_stream_for_each_kind_and_namespace_however_many_objects(
    facts: Facts,
) -> None:
    deployments = [each for each in facts.streams if each.collection.endswith("/deployments")]
    (stream,) = deployments
    assert len([each for each in facts.objects if each.collection == stream.collection]) > 1
    labels = "app.kubernetes.io/managed-by=pulumi,app.kubernetes.io/part-of=coder"
    assert stream.selector == labels


def test_N1_facts_hold_nothing_encrypted(facts: Facts) -> None:
    """Not even in the outputs, of which the password is one."""
    secrets = ciphertexts(json.loads(EXPORTED))
    assert secrets, "there is something to leave out"
    assert not any(each in repr(facts) for each in secrets)


def test_N1_a_spec_counts_and_a_status_does_not(facts: Facts) -> None:
    fact = next(each for each in facts.objects if each.collection.endswith("/deployments"))
    assert fact.generation is not None
    seen = Seen(fact.uid, "999999", fact.generation, {**fact.labels, "x": "y"}, fact.annotations)

    assert fact.look_of(seen) == fact.expected, "another resourceVersion, and a foreign label"
    for changed in (
        replace(seen, generation=fact.generation + 1),
        replace(seen, uid="another"),
        replace(seen, labels={}),
    ):
        assert fact.look_of(changed) != fact.expected
    assert fact.look_of(None) == ABSENT


def test_N1_of_a_secret_every_change_counts(facts: Facts) -> None:
    fact = next(each for each in facts.objects if each.collection.endswith("/secrets"))
    seen = Seen(fact.uid, fact.resource_version)
    assert fact.look_of(seen) == fact.expected
    assert fact.look_of(replace(seen, resource_version="999999")) != fact.expected


def test_N1_the_order_of_tags_does_not_count(facts: Facts) -> None:
    fact = replace(
        next(each for each in facts.coderd if each.listed_in.startswith("keys/")),
        fields={"name": "eu", "tags": {"a": "1", "b": "2"}},
    )
    assert fact.look_of({"tags": {"b": "2", "a": "1"}, "name": "eu"}) == fact.expected
    assert fact.look_of({"tags": {"a": "1"}, "name": "eu"}) != fact.expected


def test_N2_the_end_of_the_license_is_known(facts: Facts) -> None:
    assert facts.license is not None
    assert facts.license.license_expires == datetime(2126, 10, 24, 18, 53, 23, tzinfo=UTC)
    assert facts.license.warn_days == 30


def test_N1_a_stack_that_was_never_deployed_has_no_facts() -> None:
    deployments = ("{}", "null", '{"resources": []}')
    for empty in ('{"version": 3}', *(f'{{"deployment": {each}}}' for each in deployments)):
        facts = read_facts(empty)
        assert (facts.objects, facts.coderd, facts.outputs) == ((), (), {})
