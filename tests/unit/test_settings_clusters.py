"""Several clusters, and a coderd that is there already: what the config must say about them."""

from typing import Any

import pytest

from coder_stack.settings import Settings
from coder_stack.settings.references import needed_namespaces, needed_objects
from tests.unit.config_problems import paths, problems

URL: dict[str, Any] = {"accessUrl": "https://coder.example.com"}
SYDNEY: dict[str, Any] = {"sydney": {"context": "sydney"}}
AU: dict[str, Any] = {"name": "au", "cluster": "sydney"}
FAR: dict[str, Any] = {**AU, "accessUrl": "https://far.example.com"}
NO_WAY = (
    "controlPlane.deploy: false needs a way to coderd: set accessUrl, or "
    "access.throughApiServer: true and name and namespace of its Service"
)


def of_another_cluster(field: str) -> str:
    return f"needs controlPlane.accessUrl, or {field} here: coderd's Service is in another cluster"


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (
            {
                "controlPlane": URL,
                "clusters": {**SYDNEY, "rome": {"context": "rome"}},
                "provisioners": [AU, {"name": "it", "cluster": "roma"}],
            },
            "provisioners[1].cluster: clusters has no roma; it has: rome, sydney",
        ),
        (
            {"controlPlane": URL, "proxies": [FAR]},
            "proxies[0].cluster: clusters has no sydney; it has: none",
        ),
        (
            {"clusters": SYDNEY, "provisioners": [{"name": "eu"}]},
            (
                "clusters.sydney: is never used: name it in provisioners[].cluster or "
                "proxies[].cluster, or remove it"
            ),
        ),
        (
            {
                "kubernetes": {"context": "sydney"},
                "controlPlane": URL,
                "clusters": SYDNEY,
                "provisioners": [AU],
            },
            "clusters.sydney: is the same cluster as kubernetes: set another kubeconfig or context",
        ),
        (
            {
                "controlPlane": URL,
                "clusters": {**SYDNEY, "rome": {"context": "sydney"}},
                "provisioners": [AU, {"name": "it", "cluster": "rome"}],
            },
            (
                "clusters.rome: is the same cluster as clusters.sydney: set another kubeconfig or "
                "context"
            ),
        ),
        (
            {"clusters": SYDNEY, "provisioners": [AU]},
            f"provisioners[0].cluster: {of_another_cluster('url')}",
        ),
        (
            {"clusters": SYDNEY, "proxies": [FAR]},
            f"proxies[0].cluster: {of_another_cluster('primaryUrl')}",
        ),
    ],
)
def test_B1_M1_a_cluster_that_does_not_fit_is_the_only_mistake_and_is_told_with_its_path(
    config: dict[str, Any], sentence: str
) -> None:
    assert problems(config) == [sentence]


@pytest.mark.parametrize(
    "config",
    [
        {"controlPlane": URL, "provisioners": [AU], "proxies": [FAR]},
        {"provisioners": [{**AU, "url": "https://coder.example.com"}]},
        {"proxies": [{**FAR, "primaryUrl": "https://coder.example.com"}]},
        {"controlPlane": {"fromStack": "org/coder-stack/prod"}, "provisioners": [AU]},
    ],
)
def test_M1_a_part_in_another_cluster_needs_one_way_to_coderd(config: dict[str, Any]) -> None:
    assert problems({"clusters": SYDNEY, **config}) == []


def test_B1_M1_nothing_is_concluded_from_a_cluster_or_a_part_that_is_wrong() -> None:
    """A part with mistakes may be the one that uses the cluster, or the one that names the URL."""
    wrong_part = {"controlPlane": URL, "clusters": SYDNEY, "provisioners": [{"cluster": "sydney"}]}
    assert paths(wrong_part) == ["provisioners[0].name"]
    wrong_cluster = {"controlPlane": URL, "clusters": {"sydney": 1}, "provisioners": [AU]}
    assert paths(wrong_cluster) == ["clusters.sydney"]
    wrong_url = {"controlPlane": {"accessUrl": "x"}, "clusters": SYDNEY, "provisioners": [AU]}
    assert paths(wrong_url) == ["controlPlane.accessUrl"]


def test_B1_M1_a_name_of_a_cluster_is_a_label() -> None:
    config = {"controlPlane": URL, "clusters": {"Sydney": {}}, "provisioners": [AU]}
    assert any(line.startswith("clusters.Sydney") for line in problems(config))


# Objects of parts in several clusters -------------------------------------------------------------


def test_M1_equal_names_in_two_clusters_do_not_clash() -> None:
    """coderd's database and a proxy's Secret have one name and namespace, and two clusters."""
    plane = {**URL, "database": {"secretName": "s"}}
    proxy = {**FAR, "secretName": "s"}
    assert problems({"controlPlane": plane, "clusters": SYDNEY, "proxies": [proxy]}) == []
    at_home = {**proxy, "cluster": None}
    assert paths({"controlPlane": plane, "proxies": [at_home]}) == ["proxies[0].secretName"]


def test_B1_M1_equal_names_in_one_other_cluster_clash_and_it_is_named() -> None:
    config = {
        "controlPlane": URL,
        "clusters": SYDNEY,
        "provisioners": [{**AU, "key": {"secretName": "s"}}],
        "proxies": [{**FAR, "secretName": "s"}],
    }
    assert problems(config) == [
        (
            "proxies[0].secretName: Secret s in namespace coder of cluster sydney already "
            "belongs to provisioners[0]"
        )
    ]


def settings(**parts: Any) -> Settings:
    return Settings.model_validate(parts, by_alias=True, by_name=False)


def test_M1_what_a_part_refers_to_is_needed_in_its_own_cluster() -> None:
    env = {"secretEnv": {"A": {"name": "env", "key": "a"}}}
    found = settings(
        controlPlane={**URL, "image": {"pullSecrets": ["pull"]}},
        clusters=SYDNEY,
        provisioners=[{"name": "eu", **env}, {**AU, **env}],
    )
    needed = {(each.cluster, each.namespace, each.object.name) for each in needed_objects(found)}
    assert needed == {
        (cluster, "coder", name) for cluster in (None, "sydney") for name in ("env", "pull")
    }
    # The stack creates coderd's namespace in coderd's cluster alone.
    namespaces = [(each.cluster, each.name, each.path) for each in needed_namespaces(found)]
    assert namespaces == [("sydney", "coder", "provisioners[1].namespace")]


def test_M1_an_object_of_the_stack_stands_for_no_other_of_that_name_in_another_cluster() -> None:
    volume = {"volumes": [{"name": "v", "secret": {"secretName": "eu-provisioner-key"}}]}
    found = settings(
        controlPlane=URL,
        clusters=SYDNEY,
        provisioners=[{"name": "eu"}, {"name": "us", **volume}, {**AU, **volume}],
    )
    assert [each.path for each in needed_objects(found)] == ["provisioners[2].volumes[0]"]


def test_M1_clusters_are_in_use_in_the_order_of_the_parts_coderds_first() -> None:
    found = settings(
        controlPlane=URL,
        clusters={**SYDNEY, "rome": {"context": "rome"}},
        provisioners=[{"name": "it", "cluster": "rome"}, AU, {"name": "eu"}],
        proxies=[FAR],
    )
    assert found.clusters_in_use == [None, "rome", "sydney"]


# The kubeconfigs of the reconcile job -------------------------------------------------------------

JOB: dict[str, Any] = {
    "image": "registry.example.com/coder-stack:1.2.0",
    "backend": {"name": "pulumi", "key": "backend"},
}
FILE: dict[str, Any] = {"sydney": {"kubeconfig": "sydney.yaml"}}
SECRET: dict[str, Any] = {"name": "sydney", "key": "kubeconfig"}


def of_job(kubeconfigs: Any, clusters: dict[str, Any] = FILE, **parts: Any) -> dict[str, Any]:
    job = {**JOB, "kubeconfigs": kubeconfigs}
    return {
        "controlPlane": URL,
        "clusters": clusters,
        "provisioners": [AU],
        "reconcileJob": job,
        **parts,
    }


@pytest.mark.parametrize(
    ("config", "sentences"),
    [
        (of_job({"sydney": SECRET}), []),
        (of_job({"sydney": SECRET}, SYDNEY), []),
        (of_job({}, {}, provisioners=[]), []),
        (
            of_job({}),
            [
                (
                    "reconcileJob.kubeconfigs: cluster sydney needs one: name an existing Secret "
                    "and its key"
                )
            ],
        ),
        (
            of_job({"sydney": SECRET, "rome": SECRET}),
            ["reconcileJob.kubeconfigs.rome: clusters has no rome; it has: sydney"],
        ),
        (
            of_job({"sydney": SECRET}, provisioners=[]),
            [
                (
                    "clusters.sydney: is never used: name it in provisioners[].cluster or "
                    "proxies[].cluster, or remove it"
                )
            ],
        ),
        (
            of_job({"sydney": SECRET}, {"sydney": {}}, kubernetes={"context": "home"}),
            [
                (
                    "clusters.sydney.context: reconcileJob needs this or kubeconfig: its current "
                    "context is that of its pod"
                )
            ],
        ),
        (
            of_job(
                {"sydney": SECRET, "rome": {**SECRET, "name": "rome"}},
                {
                    name: {"kubeconfig": "fleet.yaml", "context": name}
                    for name in ("sydney", "rome")
                },
                provisioners=[AU, {"name": "it", "cluster": "rome"}],
            ),
            [
                (
                    "reconcileJob.kubeconfigs.sydney: fleet.yaml is the file of clusters.rome, "
                    "too: name the same Secret and key"
                )
            ],
        ),
    ],
)
def test_B1_M5_the_job_has_one_kubeconfig_for_each_other_cluster_in_use(
    config: dict[str, Any], sentences: list[str]
) -> None:
    assert problems(config) == sentences


def test_B1_M5_nothing_is_concluded_from_a_job_or_a_cluster_that_is_wrong() -> None:
    assert paths(of_job("x")) == ["reconcileJob.kubeconfigs"]
    assert paths(of_job({"sydney": SECRET}, {"sydney": {"kubeconfig": 1}})) == [
        "clusters.sydney.kubeconfig"
    ]
    unused = of_job({}, reconcileJob={"kubeconfigs": {}}, provisioners=[])
    assert paths(unused) == ["clusters.sydney", "reconcileJob.backend", "reconcileJob.image"]


def test_M5_F2_the_kubeconfigs_are_needed_beside_the_job_unless_it_is_suspended() -> None:
    """A token for one can be made only when the suspended job's account is there."""
    config = of_job({"sydney": SECRET})
    needed = {
        each.path: (each.cluster, each.namespace, each.object.name, each.object.keys)
        for each in needed_objects(settings(**config))
    }
    assert needed["reconcileJob.kubeconfigs.sydney"] == (None, "coder", "sydney", ("kubeconfig",))
    config["reconcileJob"]["suspended"] = True
    assert list(needed_objects(settings(**config))) == []


# A coderd that is there already -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "sentences"),
    [
        ({"controlPlane": {"deploy": False}}, [NO_WAY]),
        (
            {"controlPlane": {"deploy": False}, "access": {"throughApiServer": False}},
            [NO_WAY],
        ),
        (
            {"controlPlane": {"fromStack": "org/coder-stack/prod", "deploy": True}},
            ["controlPlane.deploy: is unused with fromStack: remove one of them"],
        ),
        (
            {"controlPlane": {"fromStack": "org/coder-stack/prod", "deploy": False}},
            ["controlPlane.deploy: is unused with fromStack: remove one of them"],
        ),
        (
            {"controlPlane": {"fromStack": "org/coder-stack/prod", **URL}},
            ["controlPlane.accessUrl: is unused with fromStack: remove one of them"],
        ),
        (
            {"controlPlane": {"deploy": False, **URL, "replicas": 2, "createNamespace": False}},
            [
                "controlPlane.createNamespace: is unused with deploy: false: remove one of them",
                "controlPlane.replicas: is unused with deploy: false: remove one of them",
            ],
        ),
    ],
)
def test_B1_M3_M4_what_says_nothing_about_an_existing_coderd_is_a_mistake(
    config: dict[str, Any], sentences: list[str]
) -> None:
    assert problems(config) == sentences


@pytest.mark.parametrize(
    "config",
    [
        {"controlPlane": {"deploy": False, **URL}},
        {"controlPlane": {"deploy": False}, "access": {"url": "https://coder.example.com"}},
        {"controlPlane": {"deploy": False, "name": "c"}, "access": {"throughApiServer": True}},
        {"controlPlane": {"fromStack": "org/coder-stack/prod", "image": {"tag": "v2.30.0"}}},
        {"controlPlane": {"deploy": True, "replicas": 2}},
    ],
)
def test_M3_M4_each_way_to_an_existing_coderd_will_do(config: dict[str, Any]) -> None:
    assert problems(config) == []


@pytest.mark.parametrize("plane", [{"deploy": False, **URL}, {"fromStack": "org/coder-stack/prod"}])
def test_M3_M4_nothing_of_an_existing_coderd_is_claimed_or_created(plane: dict[str, Any]) -> None:
    """A provisioner may have the name of what the stack would deploy, and the namespace exists."""
    at = {"name": "eu-provisioner", "namespace": "helm"}
    config = {"controlPlane": {**plane, **at}, "provisioners": [{"name": "eu"}]}
    assert problems(config) == []
    found = settings(**config)
    assert found.control_plane.exists_already
    assert [each[:2] for each in needed_namespaces(found)] == [("controlPlane.namespace", "helm")]
    assert list(needed_objects(found)) == []


def test_M3_the_image_of_an_existing_coderd_still_needs_its_pull_secrets_in_the_cluster() -> None:
    plane = {"deploy": False, **URL, "image": {"pullSecrets": ["pull"]}}
    found = settings(controlPlane=plane, provisioners=[{"name": "eu"}])
    (needed,) = needed_objects(found)
    assert (needed.path, needed.object.name) == ("controlPlane.image.pullSecrets[0]", "pull")
