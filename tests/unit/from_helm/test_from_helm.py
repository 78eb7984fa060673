"""Values of the Helm charts as a stack's config: what is translated, and what is listed."""

import pytest

from coder_stack.components.parts import pod
from coder_stack.settings import SecretRef, Settings
from coder_stack.start.from_helm import Kind, RefusedError, Target, report, stack_file
from coder_stack.start.from_helm.values import NotValuesError
from coder_stack.start.from_helm.workloads import CONTAINER_DEFAULTS
from sandbox.paths import CHECKOUT
from tests.unit.from_helm import values
from tests.unit.from_helm.translating import (
    BESIDE,
    REPLACE,
    lines,
    settings_of,
    translation_of,
    unaccounted,
)

ALL = {
    "minimal": values.MINIMAL,
    "everything": values.EVERYTHING,
    "provisioner": values.PROVISIONER,
    "psk": values.WITH_PSK,
    "odd": values.ODD,
}


@pytest.mark.parametrize("target", [BESIDE, REPLACE], ids=["beside", "replace"])
@pytest.mark.parametrize("name", ALL)
def test_B2_every_value_has_an_end_and_the_config_is_valid(name: str, target: Target) -> None:
    coderd = () if name in ("minimal", "everything", "odd") else (values.MINIMAL,)
    translation = translation_of(*coderd, ALL[name], target=target)
    assert unaccounted(values.parsed(ALL[name]), translation.outcomes) == []
    assert isinstance(settings_of(translation), Settings)
    told = stack_file(translation) + report(translation)
    assert values.SECRET not in told
    assert "permitted" not in told, "a table names a field that the config does not have"


def test_B2_beside_helm_only_what_the_stack_must_know_is_written() -> None:
    translation = translation_of(values.EVERYTHING)
    assert translation.config == {
        "controlPlane": {
            "deploy": False,
            "name": "coder",
            "namespace": "coder",
            "image": {
                "repository": "registry.example.com/coder",
                "tag": "v2.29.1",
                "pullPolicy": "Always",
                "pullSecrets": ["registry-login"],
            },
            "accessUrl": "https://coder.example.com",
        }
    }
    assert translation.of(Kind.UNMATCHED) == []
    assert "stays with Helm" in lines(translation, Kind.UNNEEDED)["coder.ingress"]


def test_B2_without_an_access_url_coderd_is_reached_through_the_api_server() -> None:
    settings = settings_of(translation_of(values.PROVISIONER))
    assert settings.control_plane.access_url is None
    assert settings.access.through_api_server


def test_B2_in_place_of_helm_the_whole_control_plane_is_written() -> None:
    plane = settings_of(translation_of(values.EVERYTHING, target=REPLACE)).control_plane
    assert plane.image.reference == "registry.example.com/coder:v2.29.1"
    assert (plane.replicas, plane.create_namespace) == (3, False)
    assert plane.access_url == "https://coder.example.com"
    assert plane.wildcard_access_url == "*.coder.example.com"
    assert plane.database_secret == ("coder-db-url", "dsn")
    assert plane.env == {
        "CODER_VERBOSE": "true",
        "CODER_DISABLE_PASSWORD_AUTH": "true",
        "CODER_MAX_TOKEN_LIFETIME": "720h",
    }
    assert plane.secret_env == {
        "CODER_OIDC_CLIENT_ID": SecretRef(name="oidc", key="id"),
        "CODER_PROVISIONER_DAEMON_PSK": SecretRef(name="coder-psk", key="psk"),
    }
    assert plane.service.type == "NodePort"
    assert plane.tls is not None
    assert plane.tls.secret_names == ("coder-tls",)
    assert plane.ingress is not None
    assert (plane.ingress.class_name, plane.ingress.tls_secret_name) == ("nginx", "coder-cert")
    assert plane.ingress.wildcard_tls_secret_name == "coder-wildcard-cert"
    assert plane.http_route is None
    assert plane.workspace_deployments is False
    assert plane.workspace_namespaces == ("workspaces", "labs")
    assert plane.security_context == {"readOnlyRootFilesystem": True}
    assert plane.resources.requests == {"cpu": "2", "memory": "4Gi"}
    assert plane.pod_disruption_budget is not None
    assert plane.pod_disruption_budget.min_available == 2
    assert plane.liveness_probe.enabled
    assert plane.priority_class_name == "important"
    assert plane.service_account_annotations.keys() == {"eks.amazonaws.com/role-arn"}


def test_B2_what_has_no_counterpart_is_listed_with_what_to_do() -> None:
    listed = lines(translation_of(values.EVERYTHING, target=REPLACE), Kind.UNMATCHED)
    assert set(listed) == {
        "CODER_OIDC_CLIENT_ID",
        "CODER_OIDC_CLIENT_SECRET",
        "CODER_SCIM_AUTH_HEADER",
        "CODER_TLS_ENABLE",
        "HTTPS_PROXY",
        "NODE",
        "coder.commandArgs",
        "coder.initContainers",
        "coder.lifecycle",
        "coder.service.httpNodePort",
        "coder.service.loadBalancerIP",
        "coder.service.sessionAffinity",
        "coder.serviceAccount.extraRules",
        "coder.serviceAccount.labels",
        "coder.serviceAccount.workspaceNamespaces[1].enableDeployments",
        "extraTemplates",
        "nameOverride",
    }
    assert listed["CODER_OIDC_CLIENT_SECRET"] == (
        "coder.env[6] (CODER_OIDC_CLIENT_SECRET): a secret in plain text: put it into a Secret and "
        "name it under controlPlane.secretEnv.CODER_OIDC_CLIENT_SECRET"
    )
    assert "RoleBinding for ServiceAccount coder" in listed["coder.serviceAccount.extraRules"]


def test_B2_daemons_keep_their_key_and_the_image_is_shared() -> None:
    translation = translation_of(values.EVERYTHING, values.PROVISIONER)
    (daemons,) = settings_of(translation).provisioners
    assert (daemons.name, daemons.organization) == ("coder-provisioner", "research")
    assert daemons.key.adopt_secret == "builder-key"
    assert (daemons.key.secret_key, daemons.key.exact_name) == ("token", True)
    assert daemons.url == "https://coder.example.com"
    assert (daemons.replicas, daemons.termination_grace_period_seconds) == (4, 1800)
    assert daemons.args == ("--poll-interval=1s",)
    assert daemons.env == {"TF_LOG": "debug"}
    assert daemons.secret_env == {"AWS_SECRET_ACCESS_KEY": SecretRef(name="aws", key="secret")}
    assert daemons.image is not None, "its pull policy differs from coderd's"
    assert any("provisioners[0].key.name" in each for each in translation.notes)


def test_B2_the_control_planes_own_image_is_left_out() -> None:
    coderd = {"coder": {"service": {}, "image": {"tag": "v2.29.1"}}}
    daemons = {"coder": {"image": {"tag": "v2.29.1"}}, "provisionerDaemon": {"keySecretName": "k"}}
    translation = translation_of(coderd, daemons)
    assert "image" not in translation.config["provisioners"][0]
    assert "the control plane's" in lines(translation, Kind.UNNEEDED)["coder.image.tag"]


def test_B2_a_mirror_without_a_tag_has_the_control_planes_tag() -> None:
    coderd = {"coder": {"service": {}, "image": {"tag": "v2.29.1"}}}
    daemons = {"coder": {"image": {"repo": "mirror/coder"}}, "provisionerDaemon": {"tags": {}}}
    assert translation_of(coderd, daemons).config["provisioners"][0]["image"] == {
        "repository": "mirror/coder",
        "tag": "v2.29.1",
    }


def test_B2_a_psk_has_no_counterpart_because_the_stack_creates_a_key() -> None:
    translation = translation_of(values.WITH_PSK)
    (daemons,) = settings_of(translation).provisioners
    assert daemons.key.adopt_secret is None
    assert daemons.key.tags == {"region": "eu", "owner.example.com": "build"}
    assert "creates a key" in lines(translation, Kind.UNMATCHED)["provisionerDaemon.pskSecretName"]


def test_B2_the_key_and_tags_may_be_variables() -> None:
    secret = {"secretKeyRef": {"name": "builder-key", "key": "token"}}
    env = [
        {"name": "CODER_URL", "value": "https://coder.example.com"},
        {"name": "CODER_PROVISIONER_DAEMON_KEY", "valueFrom": secret},
        {"name": "CODER_PROVISIONERD_TAGS", "value": "region=eu,size=big"},
    ]
    (daemons,) = settings_of(translation_of({"coder": {"env": env}})).provisioners
    assert (daemons.key.adopt_secret, daemons.key.secret_key) == ("builder-key", "token")
    assert daemons.key.tags == {"region": "eu", "size": "big"}


def test_B2_each_file_of_daemons_is_a_provisioner_with_a_name_of_its_own() -> None:
    named = {"nameOverride": "gpu", "provisionerDaemon": {"tags": {"gpu": "yes"}}}
    translation = translation_of(values.WITH_PSK, values.PROVISIONER, named)
    settings = settings_of(translation)
    assert [each.name for each in settings.provisioners] == [
        "coder-provisioner",
        "coder-provisioner-2",
        "gpu",
    ]
    assert report(translation).count("0.yaml: ") > 1, "a line says which file it is about"


def test_B2_files_of_the_control_plane_are_merged_as_helm_does() -> None:
    later = {"coder": {"replicaCount": 5, "tls": None, "image": {"tag": "v2.30.0"}}}
    translation = translation_of(values.EVERYTHING, later, target=REPLACE)
    plane = settings_of(translation).control_plane
    assert (plane.replicas, plane.tls) == (5, None)
    assert plane.image.repository == "registry.example.com/coder"
    assert unaccounted(values.parsed(values.EVERYTHING), translation.outcomes) == []
    overridden = [each.line for each in translation.outcomes if "overrides" in each.text]
    assert overridden == [
        "coder.replicaCount: 1.yaml overrides it",
        "coder.tls.secretNames[0]: 1.yaml overrides it",
        "coder.image.tag: 1.yaml overrides it",
    ]


def test_B2_what_the_chart_does_without_a_value_is_written_where_it_differs() -> None:
    plane = settings_of(translation_of(values.MINIMAL, target=REPLACE)).control_plane
    assert plane.service.type == "LoadBalancer"


def test_B2_what_the_values_leave_open_is_a_note() -> None:
    beside = " ".join(translation_of({"coder": {"service": {}}}).notes)
    for words in ("controlPlane.image.tag", "controlPlane.accessUrl", "add provisioners"):
        assert words in beside
    replaced = " ".join(translation_of({"coder": {"service": {}}}, target=REPLACE).notes)
    for words in ("another --name", "controlPlane.database", "controlPlane.resources"):
        assert words in replaced


def test_B2_odd_values_are_listed_and_the_others_translated() -> None:
    translation = translation_of(values.ODD, target=REPLACE)
    plane = settings_of(translation).control_plane
    assert plane.env == {"A": "2"}
    assert plane.pod_labels == {"good": "label"}
    assert plane.ca_bundles == (SecretRef(name="ca", key="k"),)
    assert plane.workspace_namespaces == ("a",)
    assert plane.ingress is None
    listed = lines(translation, Kind.UNMATCHED)
    assert "needs accessUrl" in listed["coder.ingress.className"]
    assert "must be a mapping" in listed["coder.tls"]
    assert "is not known" in listed["coder.madeUp"]
    assert "is not known" in listed["global"]
    assert listed["coder.replicaCount"].startswith(
        "coder.replicaCount: controlPlane.replicas refuses it: input should be a valid integer"
    )
    assert "controlPlane.database.secretName" in listed["CODER_PG_CONNECTION_URL"]


def test_B2_an_ingress_names_the_access_url_if_nothing_else_does() -> None:
    route = {"enable": True, "host": "coder.example.com", "tls": {"enable": True}}
    plane = settings_of(translation_of({"coder": {"ingress": route}}, target=REPLACE)).control_plane
    assert plane.access_url == "https://coder.example.com"
    assert plane.ingress is not None


def test_B2_a_route_for_another_host_is_listed() -> None:
    env = [{"name": "CODER_ACCESS_URL", "value": "https://coder.example.com"}]
    route = {"enable": True, "host": "other.example.com", "parentRefs": [{"name": "gateway"}]}
    translation = translation_of({"coder": {"env": env, "httproute": route}}, target=REPLACE)
    assert list(lines(translation, Kind.UNMATCHED)) == ["coder.httproute.host"]
    plane = settings_of(translation).control_plane
    assert plane.http_route is not None
    assert plane.http_route.parent_refs == ({"name": "gateway"},)


def test_B2_the_defaults_of_a_container_are_those_of_the_pods() -> None:
    assert pod.CONTAINER_CONTEXT == CONTAINER_DEFAULTS


def test_B2_provisioners_alone_replace_nothing() -> None:
    with pytest.raises(NotValuesError, match="--replace needs the values of the chart coder"):
        translation_of(values.PROVISIONER, target=REPLACE)


def test_B2_a_name_that_is_no_name_is_refused() -> None:
    with pytest.raises(RefusedError, match=r"controlPlane\.namespace: must be a Kubernetes name"):
        translation_of(values.MINIMAL, target=Target(namespace="Not A Name"))


def test_B2_the_example_has_the_form_of_what_is_written_beside_helm() -> None:
    document = values.parsed((CHECKOUT / "examples/beside-helm.yaml").read_text())
    plane = document["config"]["coder-stack:controlPlane"]
    assert plane.keys() <= translation_of(values.EVERYTHING).config["controlPlane"].keys()
