"""The cause of each difference, in words that a person understands (D2)."""

from typing import Any

import pytest

from coder_stack.descriptors.descriptor import Origin, StackFacts
from coder_stack.operate.diagnosis.causes import cause
from coder_stack.operate.diagnosis.findings import Finding
from coder_stack.operate.report.model import Difference, Kind
from tests.unit.operate.engine_events import CODER, urn_of

KUBERNETES = "kubernetes:"
LICENSED, BARE = StackFacts(licensed=True), StackFacts(licensed=False)


def found(
    type_: str,
    kind: Kind,
    *paths: str,
    origin: Origin = "refresh",
    parents: str = "",
    declared: dict[str, Any] | None = None,
    actual: dict[str, Any] | None = None,
) -> Finding:
    properties = tuple(Difference(path=path, recorded="old", actual="5") for path in paths)
    urn = urn_of(type_, "it", parents)
    return Finding(urn, type_, kind, origin, properties, declared or {}, actual or {})


def key(
    kind: Kind,
    *paths: str,
    origin: Origin = "refresh",
    actual: dict[str, Any] | None = None,
    **declared: Any,
) -> Finding:
    facts = {"name": "gpu-eu-3f9a", "organization": "coder", **declared}
    type_ = f"{CODER}ProvisionerKey"
    return found(type_, kind, *paths, origin=origin, declared=facts, actual=actual or {})


def proxy(kind: Kind, *paths: str, **actual: Any) -> Finding:
    type_ = f"{CODER}WorkspaceProxyRegistration"
    return found(type_, kind, *paths, declared={"name": "paris"}, actual=actual)


def deployment(*paths: str) -> Finding:
    named = {"metadata": {"name": "coder"}}
    return found("kubernetes:apps/v1:Deployment", "changed", *paths, declared=named)


def secret(kind: Kind, parents: str = "") -> Finding:
    named = {"metadata": {"name": "x"}}
    paths = () if kind == "missing" else ("data.key",)
    return found("kubernetes:core/v1:Secret", kind, *paths, parents=parents, declared=named)


def entitlements(
    before: dict[str, Any], now: dict[str, Any], *paths: str, kind: Kind = "changed"
) -> Finding:
    return found(f"{CODER}Entitlements", kind, *paths, declared=before, actual=now)


def features(**entitlement: str) -> dict[str, Any]:
    return {"features": {name: {"entitlement": word} for name, word in entitlement.items()}}


ACCESS, LICENSE = f"{CODER}OperatorAccess", f"{CODER}License"
GATE = f"{CODER}FeatureGate"


@pytest.mark.parametrize(
    ("finding", "sentence"),
    [
        (key("missing"), "Key `gpu-eu-3f9a` was deleted in coderd."),
        (key("replaced", "tags.region"), "Key `gpu-eu-3f9a` has other tags in coderd."),
        (
            key("changed", "organization", actual={"organization": "lab"}),
            "The organization of key `gpu-eu-3f9a` was renamed in coderd to `lab`.",
        ),
        (key("replaced", "name"), "Key `gpu-eu-3f9a` was renamed in coderd."),
        (
            key("replaced", "material_valid", "tags.a"),
            "Coderd no longer accepts what the state holds as key `gpu-eu-3f9a`.",
        ),
        (
            key("missing", origin="plan"),
            "Key `gpu-eu-3f9a` is declared in organization `coder`, but was not created yet.",
        ),
        (
            key("replaced", "name", "issued_on", origin="plan"),
            "Key `gpu-eu-3f9a` is old enough to be rotated.",
        ),
        (
            key("replaced", "name", "trigger", origin="plan"),
            "A rotation of key `gpu-eu-3f9a` was asked for and has not happened yet.",
        ),
        (
            key("changed", "enabled", origin="plan", enabled=False),
            "The license no longer allows key `gpu-eu-3f9a`.",
        ),
        (
            key("replaced", "deployment_id", origin="plan"),
            "Another deployment of coderd answers, and key `gpu-eu-3f9a` is not known there.",
        ),
        (proxy("missing"), "Proxy `paris` was deleted in coderd."),
        (proxy("changed", "icon"), "Proxy `paris` has another icon in coderd."),
        (proxy("changed", "name", name="rome"), "Proxy `paris` was renamed in coderd to `rome`."),
        (found(ACCESS, "changed", "accepted"), "Coderd refuses the operator's token."),
        (
            found(ACCESS, "missing", origin="plan"),
            "The operator's access to coderd was not created yet.",
        ),
        (
            found(ACCESS, "changed", "connection.url", origin="plan"),
            "The config reaches coderd in another way than at the last update.",
        ),
        (
            found(GATE, "changed", "entitled", "open", declared={"feature": "high_availability"}),
            "The license no longer allows high_availability.",
        ),
        (
            found(ACCESS, "changed", "accepted", actual={"reason": "SecretMissing"}),
            "The Secret with the operator's token is gone, or holds none.",
        ),
        (
            found(ACCESS, "changed", "password_hash"),
            "The config has another password for the first user, which has not been tried yet.",
        ),
        (
            found(ACCESS, "changed", "deployment_id", actual={"url": "https://a.example"}),
            "Another deployment of coderd answers at https://a.example.",
        ),
        (
            found(LICENSE, "replaced", "jwt", origin="plan"),
            "The config has another license than the one that was uploaded.",
        ),
        (secret("missing"), "Secret `x` was deleted in the cluster."),
        (secret("changed"), "Secret `x` holds other data."),
        (
            secret("changed", "coder-stack:index:Provisioner$"),
            "Secret `x` no longer holds the key that coderd knows.",
        ),
        (
            secret("changed", "coder-stack:index:WorkspaceProxy$"),
            "Secret `x` no longer holds the token of its proxy.",
        ),
        (
            deployment("spec.template.spec.containers[0].image"),
            "Deployment `coder` runs another image.",
        ),
        (
            deployment("spec.replicas", "spec.template.spec.containers[0].env[1].value"),
            "Deployment `coder` is scaled to 5 and has another environment.",
        ),
        (
            deployment("spec.paused"),
            "Deployment `coder` was changed in the cluster: spec.paused.",
        ),
        (
            found("kubernetes:core/v1:Service", "unexpected", origin="plan"),
            "Service `it` is still in the cluster, but no longer declared.",
        ),
        (found("other:index:Thing", "missing"), "Thing `it` is gone."),
        (
            found("other:index:Thing", "changed", "a", "b", "c", "d", origin="plan"),
            "The program asks for another Thing `it`: a, b, c and 1 more.",
        ),
        (
            entitlements({}, {"reason": "Forbidden"}, "stale", kind="unknown"),
            "What the license allows could not be read: Forbidden.",
        ),
        (
            entitlements({}, {"has_license": False}, "has_license", "tier"),
            "Coderd has no license any more.",
        ),
        (
            entitlements(
                features(audit_log="entitled", workspace_proxy="entitled"),
                features(audit_log="entitled", workspace_proxy="not_entitled"),
                "features.workspace_proxy.entitlement",
            ),
            "The license no longer allows workspace_proxy.",
        ),
        (
            entitlements(
                features(a="entitled", b="not_entitled"),
                features(a="grace_period", b="entitled"),
                "features.a.entitlement",
            ),
            "The license now allows b and is in its grace period for a.",
        ),
    ],
)
def test_D2_the_cause_in_words(finding: Finding, sentence: str) -> None:
    assert cause(finding, StackFacts()) == sentence


@pytest.mark.parametrize(
    ("stack", "sentence"),
    [
        (LICENSED, "The license was replaced: another license is active in coderd."),
        (BARE, "The license was removed: coderd has none now."),
        (StackFacts(), "The license is no longer in coderd."),
    ],
)
def test_L6_a_missing_license_is_told_by_what_coderd_has_instead(
    stack: StackFacts, sentence: str
) -> None:
    assert cause(found(LICENSE, "missing"), stack) == sentence
