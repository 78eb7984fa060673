"""Values of the chart `coder` to `controlPlane`: all of them, or what a stack beside it must know.

Values that are empty never reach a rule. Pure.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from coder_stack.environment import ACCESS_URL
from coder_stack.start.from_helm.outcomes import (
    Outcome,
    Path,
    Place,
    shown,
    translated,
    unmatched,
    unneeded,
)
from coder_stack.start.from_helm.rules import (
    Rule,
    Scope,
    Switch,
    Table,
    each_to,
    items,
    none,
    only,
    present,
    to,
    unused,
)
from coder_stack.start.from_helm.variables import Variable, plain_to, secret_to, variables
from coder_stack.start.from_helm.workloads import IMAGE, WORKLOAD

_WILDCARD = "CODER_WILDCARD_ACCESS_URL"
DATABASE_URL = "CODER_PG_CONNECTION_URL"
DAEMON_PSK = "CODER_PROVISIONER_DAEMON_PSK"


def variable(scope: Scope, name: str) -> str | None:
    """Return the plain value of a variable of coderd; the last one wins."""
    found: str | None = None
    for each in items(scope.value("coder.env")):
        match each:
            case {"name": str(given), "value": str(value)} if given == name:
                found = value
            case _:
                pass
    return found or None


def _host(of_ingress: bool) -> Rule:
    """Compare with the host of the access URL, which every route has here."""

    def rule(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
        url = variable(scope, ACCESS_URL)
        field = shown((*scope.home, "accessUrl"))
        if url is not None and isinstance(value, str) and _hostname(url) == value.lower():
            yield unneeded(path, f"is the host of {field}")
        elif url is None and of_ingress and isinstance(value, str):
            scheme = "https" if scope.value("coder.ingress.tls.enable") is True else "http"
            yield translated(path, scope.place("accessUrl", f"{scheme}://{value}"))
        else:
            yield unmatched(path, f"the host is that of {field}: set it to the URL people open")

    return rule


def _hostname(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _wildcard_host(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
    field = shown((*scope.home, "wildcardAccessUrl"))
    if value == variable(scope, _WILDCARD):
        yield unneeded(path, f"is {field}")
    else:
        yield unmatched(path, f"the host is {field}: set it")


def _cluster_access_url(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
    if variable(scope, ACCESS_URL) or value is True:
        yield unneeded(path, "coderd always has an access URL here, by default its Service's")
    else:
        field = shown((*scope.home, "accessUrl"))
        yield unmatched(path, f"set {field} to the URL that envFrom gives coderd")


def _psk(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
    secret = {"name": value, "key": "psk"}
    yield translated(path, scope.place(("secretEnv", DAEMON_PSK), secret))


def _set_here(scope: Scope, path: Path, item: Any) -> Iterator[Outcome]:
    yield unneeded(path, "the stack sets it")


def _certificate(scope: Scope, path: Path, item: Any) -> Iterator[Outcome]:
    field = shown((*scope.home, "tls", "secretNames"))
    yield unmatched(path, f"put the certificate into a Secret of type kubernetes.io/tls: {field}")


_OWN: dict[str, Variable] = {
    ACCESS_URL: plain_to("accessUrl"),
    _WILDCARD: plain_to("wildcardAccessUrl"),
    DATABASE_URL: secret_to("database.secretName", "database.secretKey"),
    "CODER_HTTP_ADDRESS": _set_here,
    "CODER_DERP_SERVER_RELAY_URL": _set_here,
    "KUBE_POD_IP": _set_here,
    **{
        f"CODER_TLS_{name}": _certificate for name in ("ADDRESS", "ENABLE", "CERT_FILE", "KEY_FILE")
    },
}

_PROBE = ("enabled", "initialDelaySeconds", "periodSeconds", "timeoutSeconds", "failureThreshold")
_ROUTE_OFF = "the chart does not create it"
_ADDRESS = "set an annotation of your cloud under controlPlane.service.annotations"
_NODE_PORT = "Kubernetes chooses the port here: use an Ingress or a LoadBalancer"
_BUDGET_OFF = Switch("enabled", "the chart does not create it", default=True)

REPLACE: Table = {
    **WORKLOAD,
    "coder.env": variables(_OWN),
    "coder.envUseClusterAccessURL": _cluster_access_url,
    "coder.workspaceProxy": only(False, "declare a workspace proxy under proxies"),
    "coder.commandArgs": none("set the variable of each option under controlPlane.env"),
    "coder.tls.secretNames": to("tls.secretNames"),
    "coder.service.enable": only(True, "the stack always creates a Service"),
    "coder.service.type": to("service.type"),
    "coder.service.annotations": each_to("service.annotations"),
    "coder.service.sessionAffinity": only("None", "the Service has no session affinity here"),
    "coder.service.externalTrafficPolicy": only("Cluster", _ADDRESS),
    "coder.service.loadBalancerIP": none(_ADDRESS),
    "coder.service.loadBalancerClass": none(_ADDRESS),
    "coder.service.httpNodePort": none(_NODE_PORT),
    "coder.service.httpsNodePort": none(_NODE_PORT),
    "coder.ingress": Switch("enable", _ROUTE_OFF),
    "coder.ingress.enable": present("ingress"),
    "coder.ingress.className": to("ingress.className"),
    "coder.ingress.annotations": each_to("ingress.annotations"),
    "coder.ingress.host": _host(of_ingress=True),
    "coder.ingress.wildcardHost": _wildcard_host,
    "coder.ingress.tls": Switch("enable", "TLS of the Ingress is off"),
    "coder.ingress.tls.enable": unused("the names of the Secrets enable it"),
    "coder.ingress.tls.secretName": to("ingress.tlsSecretName"),
    "coder.ingress.tls.wildcardSecretName": to("ingress.wildcardTlsSecretName"),
    "coder.httproute": Switch("enable", _ROUTE_OFF),
    "coder.httproute.enable": present("httpRoute"),
    "coder.httproute.host": _host(of_ingress=False),
    "coder.httproute.wildcardHost": _wildcard_host,
    "coder.httproute.parentRefs": to("httpRoute.parentRefs"),
    "coder.httproute.annotations": each_to("httpRoute.annotations"),
    "coder.listenerset": Switch("enable", _ROUTE_OFF),
    "coder.listenerset.enable": none("create the ListenerSet yourself"),
    "coder.podDisruptionBudget": _BUDGET_OFF,
    "coder.podDisruptionBudget.enabled": present("podDisruptionBudget"),
    "coder.podDisruptionBudget.minAvailable": to("podDisruptionBudget.minAvailable"),
    "coder.podDisruptionBudget.maxUnavailable": to("podDisruptionBudget.maxUnavailable"),
    **{f"coder.readinessProbe.{field}": to(f"readinessProbe.{field}") for field in _PROBE},
    **{f"coder.livenessProbe.{field}": to(f"livenessProbe.{field}") for field in _PROBE},
    "coder.readinessProbe.successThreshold": only(1, "one success is enough here"),
    "coder.livenessProbe.successThreshold": only(1, "one success is enough here"),
    "provisionerDaemon.pskSecretName": _psk,
    "nameOverride": none("give the name with --name"),
}
"""The whole control plane."""


def helms(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
    """Leave the value to Helm, which keeps the control plane."""
    yield unneeded(path, "stays with Helm, which deploys the control plane")


BESIDE: Table = {
    **IMAGE,
    "coder.env": variables({ACCESS_URL: plain_to("accessUrl")}, helms),
    "coder.envUseClusterAccessURL": _cluster_access_url,
}
"""What the stack must know of a control plane that Helm deploys; the rest is `helms`."""


def chart_defaults(scope: Scope) -> Iterator[Place]:
    """Return what the chart does without a value, where the default here differs."""
    if scope.value("coder.service.type") is None:
        yield scope.place("service.type", "LoadBalancer")
