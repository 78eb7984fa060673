"""Write the first Pulumi.<stack>.yaml from a few answers, with comments on what to change. Pure.

Holds no secrets: Pulumi adds them to the file, and keeps its comments.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from coder_stack.config_keys import CONFIG
from coder_stack.settings import SECRETS

SECRET, BUILT_IN, CLOUD_NATIVE_PG = "secret", "built-in", "cloud-native-pg"
DATABASES = (SECRET, CLOUD_NATIVE_PG, BUILT_IN)
"""The choices of a database, the usual one first."""
_SCHEMA = "# yaml-language-server: $schema=docs/configuration.schema.json"


@dataclass(frozen=True, kw_only=True)
class FirstStack:
    """What a first config depends on."""

    project: str
    stack: str
    """As in the name of the file, without organization and project."""
    database: str
    """One of DATABASES."""
    database_secret: str = "coder-database"  # noqa: S105  # the name of a Secret
    context: str | None = None
    kubeconfig: str | None = None
    namespace: str = "coder"
    access_url: str | None = None
    ingress_class: str | None = None
    tls_secret: str | None = None
    license_secret: str | None = None
    username: str = "admin"
    email: str = "admin@example.com"


def render(first: FirstStack) -> str:
    """Return the file's text."""
    # The schema is for the keys of the project `coder-stack`.
    lines = [_SCHEMA] if first.project == CONFIG else []
    lines += [*_head(first), "config:", *_kubernetes(first), *_control_plane(first)]
    # A key comes last: Pulumi, which appends secrets, would indent comments below it.
    lines += [*_provisioners(first), *_license(first), *_access(first)]
    return _text(lines)


def kept(text: str, old: str, project: str) -> str:
    """Return a new text with what is not ours to write: secrets, and keys of other projects.

    Also how Pulumi decrypts the secrets: without that, a stack would lose them.
    """
    document: dict[str, Any] = yaml.safe_load(old) or {}
    config: Mapping[str, Any] = document.pop("config", None) or {}
    inside = {key: value for key, value in config.items() if not _is_setting(key, project)}
    return f"{text}{_text([*(f'  {line}' for line in _dumped(inside)), *_dumped(document)])}"


def _is_setting(key: str, project: str) -> bool:
    namespace, _, name = key.rpartition(":")
    return namespace in ("", project, CONFIG) and name not in SECRETS


def _head(first: FirstStack) -> list[str]:
    file = f"Pulumi.{first.stack}.yaml"
    return [
        f"# Config of the stack {first.stack}.",
        "# docs/configuration.md lists all fields, and examples/ has complete stacks.",
        f"# Check it without a cluster: coder-stack config check {file}",
        "# Pulumi encrypts secrets into this file: pulumi config set --secret initialPassword",
    ]


def _kubernetes(first: FirstStack) -> list[str]:
    given = {"kubeconfig": first.kubeconfig, "context": first.context}
    if not any(given.values()):
        return [f"  # {first.project}:kubernetes:", "  #   context: my-cluster # set it"]
    return [
        "  # The cluster. Without a context it is kubectl's current one, which may change.",
        f"  {first.project}:kubernetes:",
        *(f"    {name}: {_scalar(value)}" for name, value in given.items() if value),
    ]


def _control_plane(first: FirstStack) -> list[str]:
    url = f"accessUrl: {_scalar(first.access_url or 'https://coder.example.com')} # people open it"
    return [
        "  # coderd itself.",
        f"  {first.project}:controlPlane:",
        f"    namespace: {_scalar(first.namespace)}",
        *_namespace_of_others(first),
        f"    {url}" if first.access_url else f"    # {url}",
        *_DATABASE_LINES[first.database](first),
        *_ingress(first),
        "    # replicas: 2 # more than one needs a license",
    ]


def _namespace_of_others(first: FirstStack) -> list[str]:
    """Leave the namespace to the user where it must hold Secrets before the first update."""
    needs_secret = first.database == SECRET or first.tls_secret or first.license_secret
    line = "    createNamespace: false # it holds your Secrets: create it with them before `up`"
    return [line] if needs_secret else []


def _ingress(first: FirstStack) -> list[str]:
    if first.ingress_class is None:
        return [
            "    # ingress: # for the host of accessUrl; or httpRoute, for the Gateway API",
            "    #   className: nginx",
        ]
    return [
        "    ingress:",
        f"      className: {_scalar(first.ingress_class)}",
        _tls(first.tls_secret),
    ]


def _tls(secret: str | None) -> str:
    if secret:
        return f"      tlsSecretName: {_scalar(secret)}"
    return "      # tlsSecretName: coder-tls # a certificate for the host"


def _existing_secret(first: FirstStack) -> list[str]:
    return [
        f"    database: # PostgreSQL: its URL is under `url` in this Secret in {first.namespace}",
        f"      secretName: {_scalar(first.database_secret)}",
    ]


def _cloud_native_pg(first: FirstStack) -> list[str]:
    return [
        "    database: # PostgreSQL of the operator CloudNativePG, which the cluster must have",
        "      cloudNativePg:",
        "        instances: 3",
        "        storage: 10Gi",
    ]


def _built_in(first: FirstStack) -> list[str]:
    return [
        "    # coderd's built-in database is for trials: it is lost with the pod. For PostgreSQL:",
        "    # database:",
        "    #   secretName: coder-database # a Secret with the URL under `url`",
    ]


_DATABASE_LINES = {SECRET: _existing_secret, CLOUD_NATIVE_PG: _cloud_native_pg, BUILT_IN: _built_in}


def _access(first: FirstStack) -> list[str]:
    return [
        "  # How Pulumi connects to coderd, and coderd's first user.",
        f"  {first.project}:access:",
        "    throughApiServer: true # needs only the kubeconfig, no DNS name",
        f"    username: {_scalar(first.username)}",
        f"    email: {_scalar(first.email)}",
    ]


def _license(first: FirstStack) -> list[str]:
    if first.license_secret is None:
        return ["  # The license: pulumi config set --secret licenseJwt < license.jwt"]
    return [
        f"  {first.project}:license:",
        "    secret: # has the license under `license`",
        f"      name: {_scalar(first.license_secret)}",
    ]


def _provisioners(first: FirstStack) -> list[str]:
    return [
        "  # External provisioners need a license; docs/keys-and-proxies.md explains keys.",
        f"  # {first.project}:provisioners:",
        "  #   - name: builders",
        "  #     organization: coder",
        "  #     key:",
        "  #       tags:",
        "  #         region: eu",
    ]


def _dumped(content: Mapping[str, Any]) -> list[str]:
    dumped = yaml.safe_dump(dict(content), sort_keys=False, width=10_000) if content else ""
    return dumped.splitlines()


def _scalar(value: str) -> str:
    """Return the text as YAML, in quotes if it needs them."""
    return yaml.safe_dump(value, width=10_000).removesuffix("...\n").strip()


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
