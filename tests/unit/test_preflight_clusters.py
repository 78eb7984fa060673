"""Several clusters before anything is registered: each answers, is another one, has what it needs.

The checks of one cluster are in test_kubeconfig.py and test_cluster_references.py.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from coder_stack.cluster.preflight import check_answers
from coder_stack.cluster.references import survey
from coder_stack.left_out import VARIABLE, command
from coder_stack.settings import ConfigError, Settings
from tests.unit.referring_config import MARKS, Api, serving
from tests.unit.test_kubeconfig import server, write_kubeconfig

AWAY = "http://127.0.0.1:1"
AU: dict[str, Any] = {"name": "au", "cluster": "sydney"}


def folder(path: Path, name: str) -> Path:
    (path / name).mkdir(exist_ok=True)
    return path / name


def settings(near: Path, far: dict[str, Any], **parts: Any) -> Settings:
    whole = {
        "kubernetes": {"kubeconfig": str(near)},
        "clusters": {"sydney": far},
        "controlPlane": {"accessUrl": "https://coder.test"},
        "provisioners": [AU],
        **parts,
    }
    return Settings.model_validate(whole, by_alias=True, by_name=False)


def problems(wanted: Settings, *without: str) -> list[str]:
    try:
        check_answers(wanted, {}, without)
    except ConfigError as error:
        return error.problems
    return []


@pytest.fixture
def near(tmp_path: Path) -> Iterator[Path]:
    with server(200) as url:
        yield write_kubeconfig(folder(tmp_path, "near"), url)


def test_B1_M2_a_silent_cluster_is_named_with_the_command_that_goes_on_without_it(
    tmp_path: Path, near: Path
) -> None:
    far = write_kubeconfig(folder(tmp_path, "far"), AWAY)
    wanted = settings(near, {"kubeconfig": str(far)})
    assert problems(wanted) == [
        (
            f"clusters.sydney.kubeconfig: the API server {AWAY} of {far} does not answer "
            f"(Connection refused); to go on without it: {command(['sydney'])}"
        )
    ]
    assert problems(wanted, "sydney") == []


def test_B1_M2_nothing_goes_on_without_the_cluster_of_coderd(tmp_path: Path) -> None:
    with server(200) as url:
        near = write_kubeconfig(folder(tmp_path, "near"), AWAY)
        far = write_kubeconfig(folder(tmp_path, "far"), url)
        (only,) = problems(settings(near, {"kubeconfig": str(far)}))
    assert only.startswith("kubernetes.kubeconfig: the API server")
    assert VARIABLE not in only


def test_B1_M1_the_path_of_a_context_that_does_not_exist_names_the_cluster(
    tmp_path: Path, near: Path
) -> None:
    far = write_kubeconfig(folder(tmp_path, "far"), AWAY)
    found = problems(settings(near, {"kubeconfig": str(far), "context": "prod"}))
    assert found == [f"clusters.sydney.context: {far} has no context 'prod'; it has: here"]
    none = write_kubeconfig(folder(tmp_path, "none"), AWAY, **{"current-context": ""})
    (only,) = problems(settings(near, {"kubeconfig": str(none)}))
    assert only.endswith("set clusters.sydney.context to one of: here")


def test_B1_M1_two_names_of_one_api_server_are_a_mistake(tmp_path: Path, near: Path) -> None:
    """Two providers would fight for the same objects."""
    url = near.read_text().partition("server: ")[2].split()[0]
    far = write_kubeconfig(folder(tmp_path, "far"), url)
    wanted = settings(near, {"kubeconfig": str(far)})
    said = f"clusters.sydney.context: leads to {url}, the API server of kubernetes; "
    assert problems(wanted) == [f"{said}set another context"]


def test_B1_M2_a_misspelt_name_in_the_variable_lists_the_known_ones(
    tmp_path: Path, near: Path
) -> None:
    far = write_kubeconfig(folder(tmp_path, "far"), AWAY)
    found = problems(settings(near, {"kubeconfig": str(far)}), "sidney")
    assert found == [f"{VARIABLE}: clusters has no sidney; it has: sydney"]


def test_B1_M1_mistakes_of_all_clusters_are_told_at_once(tmp_path: Path) -> None:
    near = write_kubeconfig(folder(tmp_path, "near"), AWAY)
    found = problems(settings(near, {"kubeconfig": str(tmp_path / "nowhere")}))
    assert [line.split(": ")[0] for line in found] == [
        "kubernetes.kubeconfig",
        "clusters.sydney.kubeconfig",
    ]


# What must exist in them --------------------------------------------------------------------------


@pytest.fixture
def both(tmp_path: Path) -> Iterator[tuple[Api, Api]]:
    """The API servers of `kubernetes` and of `sydney`."""
    with ExitStack() as servers:
        places = (folder(tmp_path, "near"), folder(tmp_path, "far"))
        near, far = (servers.enter_context(serving(place)) for place in places)
        yield near, far


def missing(near: Api, far: Api, without: tuple[str, ...] = (), **parts: Any) -> list[str]:
    files = [write_kubeconfig(each.folder, f"http://127.0.0.1:{each.port}") for each in (near, far)]
    wanted = settings(files[0], {"kubeconfig": str(files[1])}, **parts)
    found = survey(wanted, MARKS, images=False, without=without).missing
    return [line.replace(str(files[1]), "FAR") for line in found]


def test_F2_M1_what_is_missing_is_told_with_the_command_for_its_cluster(
    both: tuple[Api, Api],
) -> None:
    near, far = both
    near.namespace("coder", ours=True)
    (line,) = missing(near, far)
    assert line == (
        "provisioners[0].namespace: namespace coder does not exist in cluster sydney; create it: "
        "kubectl --kubeconfig FAR create namespace coder"
    )
    far.namespace("coder")
    assert missing(near, far) == []
    env = {"secretEnv": {"A": {"name": "env", "key": "a"}}}
    near.secret("coder/env", "a")
    (line,) = missing(near, far, provisioners=[{**AU, **env}])
    assert line.startswith(
        "provisioners[0].secretEnv.A: Secret coder/env does not exist in cluster sydney; "
    )


def test_M2_a_cluster_that_is_left_out_is_not_asked(both: tuple[Api, Api]) -> None:
    near, far = both
    near.namespace("coder", ours=True)
    assert missing(near, far, without=("sydney",)) == []
    assert far.asked == []


ADOPTING = {**AU, "key": {"name": "k", "exactName": True, "adoptSecret": "old"}}


def test_F2_M1_whether_coderd_is_deployed_is_asked_in_its_own_cluster(
    both: tuple[Api, Api],
) -> None:
    """Once it is, a Secret with a condition that is missing elsewhere stops no run."""
    near, far = both
    near.namespace("coder", ours=True)
    far.namespace("coder")
    (line,) = missing(near, far, provisioners=[ADOPTING])
    assert "Secret coder/old does not exist in cluster sydney" in line
    near.deployment()
    assert missing(near, far, provisioners=[ADOPTING]) == []


def test_F2_M3_beside_an_existing_coderd_a_secret_with_a_condition_stops_no_run(
    both: tuple[Api, Api],
) -> None:
    """Its Deployment may be anywhere, under any name."""
    near, far = both
    near.namespace("coder")
    far.namespace("coder")
    plane = {"deploy": False, "accessUrl": "https://coder.test"}
    parts = {"controlPlane": plane, "license": {"secret": {"name": "paid"}}}
    assert missing(near, far, provisioners=[ADOPTING], **parts) == []
