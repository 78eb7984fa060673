"""Clusters that a run leaves out, because they do not answer. Pure.

The variable tells the program not to ask them, and Pulumi's options keep the engine from touching
what is in them: both are needed. `drift` and `reconcile` set both; people get the command.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from coder_stack.conditions import Condition
from coder_stack.naming import at_cluster

VARIABLE = "CODER_STACK_WITHOUT_CLUSTERS"
"""Environment variable with the names, separated by commas."""


def left_out(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the clusters to leave out."""
    names = (name.strip() for name in environment.get(VARIABLE, "").split(","))
    return tuple(dict.fromkeys(filter(None, names)))


def provider_name(stack: str, cluster: str | None) -> str:
    """Return the name of the Kubernetes provider; None: the cluster of `kubernetes`."""
    return at_cluster(f"{stack}-cluster", cluster)


def engine_options(clusters: Iterable[str]) -> list[str]:
    """Return Pulumi's options that leave alone all that depends on the clusters' providers."""
    patterns = [f"urn:pulumi:**pulumi:providers:kubernetes::*-cluster@{each}" for each in clusters]
    excluded = [word for pattern in patterns for word in ("--exclude", pattern)]
    return [*excluded, "--exclude-dependents"] if excluded else []


def unseen(condition: Condition, cluster: str) -> Condition:
    """Take nothing for true of a component in a cluster that the run has left out."""
    why = f"Cluster {cluster} was left out of the last run; nothing in it was looked at."
    seen = {"status": "Unknown", "reason": "ClusterLeftOut", "message": why}
    return condition.model_copy(update=seen)


FLEETING: Mapping[str, Any] = {
    "health": "unknown",
    "version": "",
    "report": "",
    "daemons": None,
    "versions": [],
}
"""What a component's summary says of its pods, as long as nobody has looked at them."""


def unseen_summary(facts: Mapping[str, Any], cluster: str) -> dict[str, Any]:
    """Return a component's summary without what only its cluster could show."""
    known = {name: FLEETING.get(name, value) for name, value in facts.items()}
    return {**known, "leftOut": cluster}


def command(clusters: Iterable[str]) -> str:
    """Return the command that updates everything but what is in these clusters."""
    names = list(dict.fromkeys(clusters))
    words = [f"'{word}'" if "*" in word else word for word in engine_options(names)]
    return f"{VARIABLE}={','.join(names)} pulumi up {' '.join(words)}"
