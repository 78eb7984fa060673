"""What the config refers to and the cluster lacks is told before anything is registered (F2)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coder_stack.cluster.references import missing_references
from coder_stack.naming import OWNER
from coder_stack.settings import Settings
from tests.provider.api_server import write_kubeconfig
from tests.unit.referring_config import (
    DATABASE,
    LICENSE,
    MARK,
    THEIRS,
    Api,
    serving,
)


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with serving(tmp_path) as api:
        yield api


def absent(what: str, command: str) -> str:
    return f"{what} does not exist; create it: kubectl {command}"


def test_F2_W2_certificates_of_a_proxy_are_looked_for_in_its_namespace(api: Api) -> None:
    api.namespace("coder", ours=True)
    api.namespace("edge")
    api.secret("edge/half", "tls.crt")
    sydney = {
        "name": "sydney",
        "namespace": "edge",
        "accessUrl": "https://sydney.test",
        "wildcardAccessUrl": "*.sydney.test",
        "tls": {"secretNames": ["cert"]},
        "ingress": {"tlsSecretName": "cert", "wildcardTlsSecretName": "half"},
    }
    missing, incomplete = api.missing(proxies=[sydney])
    assert missing == absent(
        "proxies[0].tls.secretNames[0], proxies[0].ingress.tlsSecretName: Secret edge/cert",
        "--namespace edge create secret tls cert --cert=… --key=…",
    )
    where = "proxies[0].ingress.wildcardTlsSecretName: Secret edge/half"
    assert incomplete.startswith(f'{where} has no key "tls.key"; add it: ')


def test_F2_all_that_is_missing_is_told_at_once_with_the_commands_in_their_order(
    api: Api,
) -> None:
    found = api.missing(
        {
            **THEIRS,
            **DATABASE,
            "workspaceNamespaces": ["labs"],
            "accessUrl": "https://coder.test",
            "tls": {"secretNames": ["cert"]},
            "ingress": {"tlsSecretName": "cert"},
            "image": {"pullSecrets": ["pull"]},
            "caBundles": [{"name": "ca", "key": "ca.crt"}],
        },
        license=LICENSE,
        provisioners=[
            {
                "name": "eu",
                "namespace": "builders",
                "secretEnv": {"A": {"name": "env", "key": "one"}, "B": {"name": "env", "key": "b"}},
                "volumes": [{"name": "m", "configMap": {"name": "mirror"}}],
            }
        ],
    )
    pull = "docker-registry pull --docker-server=… --docker-username=… --docker-password=…"
    assert found == [
        absent("controlPlane.namespace: namespace coder", "create namespace coder"),
        absent("controlPlane.workspaceNamespaces[0]: namespace labs", "create namespace labs"),
        absent("provisioners[0].namespace: namespace builders", "create namespace builders"),
        absent(
            "controlPlane.caBundles[0]: Secret coder/ca",
            "--namespace coder create secret generic ca --from-file=ca.crt=…",
        ),
        absent(
            "controlPlane.tls.secretNames[0], controlPlane.ingress.tlsSecretName: "
            "Secret coder/cert",
            "--namespace coder create secret tls cert --cert=… --key=…",
        ),
        absent(
            "controlPlane.image.pullSecrets[0]: Secret coder/pull",
            f"--namespace coder create secret {pull}",
        ),
        absent(
            "controlPlane.database.secretName: Secret coder/db",
            "--namespace coder create secret generic db --from-literal=url=…",
        ),
        absent(
            "license.secret: Secret coder/paid",
            "--namespace coder create secret generic paid --from-literal=license=…",
        ),
        absent(
            "provisioners[0].secretEnv.A, provisioners[0].secretEnv.B: Secret builders/env",
            "--namespace builders create secret generic env "
            "--from-literal=b=… --from-literal=one=…",
        ),
        absent(
            "provisioners[0].volumes[0]: ConfigMap builders/mirror",
            "--namespace builders create configmap mirror --from-file=…",
        ),
        absent(
            "controlPlane.image.pullSecrets[0]: Secret builders/pull",
            f"--namespace builders create secret {pull}",
        ),
    ]


def test_F2_what_exists_is_asked_for_once_and_is_no_mistake(api: Api) -> None:
    api.namespace("coder")
    api.secret("coder/db", "url", "more")
    assert api.missing({**THEIRS, **DATABASE}) == []
    assert api.asked == ["coder", "coder/secrets/db"]


def test_F2_the_commands_are_for_the_cluster_of_the_config(api: Api, tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path, f"http://127.0.0.1:{api.port}")
    context = Path(path).read_text().partition("current-context: ")[2].split()[0]
    cluster = {"kubeconfig": path, "context": context}
    whole = {"kubernetes": cluster, "controlPlane": THEIRS}
    (line,) = missing_references(Settings.model_validate(whole, by_name=False), MARK)
    wanted = f"kubectl --kubeconfig {path} --context {context} create namespace coder"
    assert line.endswith(f": {wanted}")


def test_F2_a_key_that_a_secret_lacks_is_named_and_no_value_of_it(api: Api) -> None:
    api.namespace("coder")
    api.secret("coder/db", "URL")
    (line,) = api.missing({**THEIRS, **DATABASE})
    assert line == (
        'controlPlane.database.secretName: Secret coder/db has no key "url"; add it: '
        """kubectl --namespace coder patch secret db --patch '{"stringData": {"url": "…"}}'"""
    )


# The namespace that the stack creates ------------------------------------------------------------


def test_F2_a_namespace_of_the_stack_that_is_to_hold_secrets_of_others_says_the_ways_out(
    api: Api,
) -> None:
    namespace, secret = api.missing(DATABASE)
    assert namespace == (
        "controlPlane.createNamespace: namespace coder does not exist yet, and cannot hold what is "
        "missing below; on a first deployment set createNamespace: false and create it: "
        "kubectl create namespace coder; or leave the fields below out of the first `pulumi up`"
    )
    assert secret.startswith("controlPlane.database.secretName: Secret coder/db does not exist")


def test_F2_a_namespace_of_the_stack_without_such_secrets_comes_with_the_first_run(
    api: Api,
) -> None:
    fleet = [{"name": "eu", "namespace": "coder"}]
    assert api.missing(provisioners=fleet) == []
    assert api.missing(license=LICENSE) == [], "the update itself says SecretMissing"
    assert set(api.asked) == {"coder"}


def test_F2_a_namespace_that_somebody_else_created_is_told_with_the_ways_out(api: Api) -> None:
    api.namespace("coder")
    (line,) = api.missing()
    assert line == (
        "controlPlane.createNamespace: namespace coder exists, and this stack did not create it; "
        "set createNamespace: false, or, if this stack is to own and delete it: "
        f"kubectl annotate namespace coder {OWNER}={MARK}"
    )


def test_F2_a_namespace_of_this_stack_is_recognized_by_its_mark(api: Api) -> None:
    api.namespace("coder", ours=True)
    assert api.missing() == []


def test_F2_an_imported_or_renamed_stack_is_marked_by_its_next_update(api: Api) -> None:
    api.namespace("coder")
    api.deployment()
    assert api.missing() == []


@pytest.mark.parametrize(
    ("way", "field"),
    [
        ({"deploy": False, "accessUrl": "https://coder.example.com"}, "deploy"),
        ({"fromStack": "organization/coder-stack/first"}, "fromStack"),
    ],
)
def test_M3_F2_what_the_stack_has_deployed_of_coderd_is_not_deleted_unasked(
    api: Api, way: dict[str, Any], field: str
) -> None:
    api.namespace("coder")
    api.deployment()
    assert api.missing(way) == []
    api.deployment(ours=True)
    (line,) = api.missing(way)
    assert line == (
        f"controlPlane.{field}: this stack has created deployment coder, and the update would "
        "delete it; leave the field out, or take coderd's objects out of the state (pulumi state "
        "delete) and the mark off this one: kubectl --namespace coder annotate deployment coder "
        f"{OWNER}-"
    )
    api.namespace("coder", ours=True)
    assert [line.split(",")[0].split(" ")[-2:] for line in api.missing(way)] == [
        ["namespace", "coder"],
        ["deployment", "coder"],
    ]


# Secrets whose absence is a condition ------------------------------------------------------------


@pytest.mark.parametrize(
    "parts",
    [
        {"license": LICENSE},
        {"access": {"tokenSecret": {"name": "paid"}}},
        {"access": {"passwordSecret": {"name": "paid"}}},
        {
            "provisioners": [
                {"name": "eu", "key": {"name": "k", "exactName": True, "adoptSecret": "paid"}}
            ]
        },
    ],
)
def test_F2_L1_CP6_a_secret_with_a_condition_is_looked_for_before_the_first_deployment_only(
    api: Api, parts: dict[str, Any]
) -> None:
    api.namespace("coder")
    (line,) = api.missing(THEIRS, **parts)
    assert "Secret coder/paid does not exist" in line
    api.deployment()
    assert api.missing(THEIRS, **parts) == []


def test_F2_the_namespace_of_such_a_secret_is_treated_alike(api: Api) -> None:
    api.namespace("coder", ours=True)
    away = {"secret": {"name": "paid", "namespace": "vault"}}
    namespace, secret = api.missing(license=away)
    assert namespace.startswith("license.secret.namespace: namespace vault does not exist")
    assert secret.startswith("license.secret: Secret vault/paid does not exist")
    api.deployment()
    assert api.missing(license=away) == []
