"""Why an object in the cluster differs, in one sentence. Pure; see causes.py."""

from coder_stack.descriptors.descriptor import few
from coder_stack.operate.diagnosis.findings import Finding
from coder_stack.operate.diagnosis.values import keys_of

DATABASE_TYPE = "kubernetes:postgresql.cnpg.io/v1:Cluster"


def is_lost_database(type_: str, kind: str, origin: str) -> bool:
    """Tell whether somebody deleted coderd's database: an update creates an empty one."""
    return (type_, kind, origin) == (DATABASE_TYPE, "missing", "refresh")


def kubernetes_cause(finding: Finding) -> str | None:
    """Say what happened to it, by its kind and the name that `kubectl` shows."""
    thing = f"{finding.resource} `{_own_name(finding)}`"
    if finding.origin == "plan":
        return _of_plan(finding, thing)
    if is_lost_database(finding.type, finding.kind, finding.origin):
        return f"{thing}, coderd's database, was deleted in the cluster with its data."
    if finding.kind == "missing":
        return f"{thing} was deleted in the cluster."
    if finding.resource == "Secret" and any(_top(p) in _DATA for p in finding.paths):
        return _secret(finding, thing)
    if finding.resource == "Deployment":
        return _deployment(finding, thing)
    return f"{thing} was changed in the cluster: {few(finding.paths)}."


_DATA = ("data", "stringData")


def _secret(finding: Finding, thing: str) -> str:
    if "coder-stack:index:Provisioner$" in finding.urn:
        return f"{thing} no longer holds the key that coderd knows."
    if "coder-stack:index:WorkspaceProxy$" in finding.urn:
        return f"{thing} no longer holds the token of its proxy."
    return f"{thing} holds other data."


def _deployment(finding: Finding, thing: str) -> str:
    said: list[str] = []
    others: list[str] = []
    for each in finding.properties:
        keys = keys_of(each.path)
        if keys[-1:] == ["image"]:
            said.append("runs another image")
        elif keys == ["spec", "replicas"]:
            said.append(f"is scaled to {each.actual}")
        elif "env" in keys:
            said.append("has another environment")
        else:
            others.append(each.path)
    said = list(dict.fromkeys(said))
    if others:
        said.append(f"was changed in the cluster: {few(tuple(others))}")
    return f"{thing} {' and '.join(said)}."


def _of_plan(finding: Finding, thing: str) -> str | None:
    match finding.kind:
        case "missing":
            return f"{thing} is declared, but was not created yet."
        case "unexpected":
            return f"{thing} is still in the cluster, but no longer declared."
        case "replaced":
            return f"{thing} has to be made anew: {few(finding.paths)}."
        case _:
            return f"The program asks for another {thing}: {few(finding.paths)}."


def _own_name(finding: Finding) -> str:
    for facts in (finding.declared, finding.actual):
        metadata = facts.get("metadata")
        if isinstance(metadata, dict) and "name" in metadata:
            return str(metadata["name"])  # pyright: ignore[reportUnknownArgumentType]
    return finding.name


def _top(path: str) -> str:
    return str(next(iter(keys_of(path)), ""))
