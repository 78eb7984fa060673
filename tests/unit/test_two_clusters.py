"""How many clusters the sandbox runs, and what its stack's file says for one and for two."""

from contextlib import nullcontext
from pathlib import Path

import pytest
import yaml

from sandbox import stack_file, two_clusters
from sandbox.breakage import BREAKAGES, break_it, possible
from sandbox.errors import SandboxError
from sandbox.paths import SECOND, SandboxPaths

ONE = stack_file.with_clusters(stack_file.FILE.read_text(), 1)
TWO = stack_file.with_clusters(ONE, 2)


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SandboxPaths:
    """A sandbox with a stack's file of its own, for one cluster."""
    monkeypatch.delenv("CODER_STACK_KUBECONFIG", raising=False)
    file = tmp_path / "Pulumi.sandbox.yaml"
    file.write_text(ONE)
    monkeypatch.setattr(stack_file, "FILE", file)
    return SandboxPaths(tmp_path / "sandbox")


def test_two_clusters_add_four_settings_and_one_takes_them_out_again() -> None:
    one, two = (yaml.safe_load(text)["config"] for text in (ONE, TWO))
    assert two.pop("coder-stack:clusters") == {
        SECOND: {"kubeconfig": f".sandbox/{SECOND}/kubeconfig"}
    }
    assert two["coder-stack:controlPlane"].pop("accessUrl") == "https://coder.example.com"
    assert two["coder-stack:proxies"][0].pop("cluster") == SECOND
    assert one == two
    assert stack_file.with_clusters(TWO, 2) == TWO
    assert stack_file.with_clusters(TWO, 1) == ONE


def test_a_stack_file_without_the_lines_says_how_to_get_them_back() -> None:
    with pytest.raises(SandboxError, match=r"git checkout Pulumi\.sandbox\.yaml"):
        stack_file.with_clusters("config: {}\n", 2)
    assert stack_file.with_clusters("config: {}\n", 1) == "config: {}\n"


@pytest.mark.parametrize("given", ["0", "3", "x", "-1"])
def test_any_other_number_is_one_sentence(paths: SandboxPaths, given: str) -> None:
    with pytest.raises(SandboxError) as raised:
        two_clusters.wanted(paths, given)
    assert str(raised.value) == f"CLUSTERS (--clusters) is '{given}'; it must be 1 or 2"


def test_without_a_number_there_are_as_many_as_before(paths: SandboxPaths) -> None:
    assert two_clusters.wanted(paths, None) == 1
    paths.second.folder.mkdir(parents=True)
    paths.second.kubeconfig.write_text("{}")
    assert two_clusters.wanted(paths, None) == 1, "the stack does not use it"
    stack_file.switch(2)
    assert two_clusters.wanted(paths, None) == 2
    assert two_clusters.wanted(paths, "1") == 1


def test_another_cluster_of_the_user_has_no_second(
    paths: SandboxPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").write_text("{}")
    monkeypatch.setenv("CODER_STACK_KUBECONFIG", str(tmp_path / "other"))
    assert two_clusters.wanted(paths, None) == 1
    with pytest.raises(SandboxError, match="unset CODER_STACK_KUBECONFIG"):
        two_clusters.wanted(paths, "2")


def test_only_two_clusters_have_one_to_switch_off(paths: SandboxPaths) -> None:
    assert possible(paths) == [each for each in BREAKAGES if each != "cluster"]
    paths.folder.mkdir()
    paths.kubeconfig.write_text("{}")
    with pytest.raises(SandboxError, match=r"start one with: make up CLUSTERS=2$"):
        break_it(paths, "cluster")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Clusters start at once, as files; their folders in the order of their start."""
    folders: list[Path] = []

    def start(paths: SandboxPaths, *_: object, **__: object) -> Path:
        folders.append(paths.folder)
        paths.folder.mkdir(exist_ok=True)
        paths.kubeconfig.write_text("{}")
        return paths.kubeconfig

    def skip(*_: object) -> nullcontext[None]:
        return nullcontext()

    monkeypatch.setattr(two_clusters.cluster, "up", start)
    monkeypatch.setattr(two_clusters.api, "client", skip)
    monkeypatch.setattr(two_clusters.api, "ensure_namespace", skip)
    return folders


def silent(_: str) -> None:
    """Discard progress messages."""


def test_M1_another_number_is_a_move_until_the_stack_has_followed(
    paths: SandboxPaths, started: list[Path]
) -> None:
    two_clusters.up(paths, {}, None, 2, silent)
    assert started == [paths.folder, paths.second.folder]
    assert not two_clusters.is_moving(paths), "nothing is deployed that could move"
    paths.state.mkdir()
    two_clusters.up(paths, {}, None, 2, silent)
    assert not two_clusters.is_moving(paths), "the same number"

    two_clusters.up(paths, {}, None, 1, silent)
    assert started[-1] == paths.second.folder, "its objects cannot be deleted otherwise"
    two_clusters.up(paths, {}, None, 1, silent)
    assert two_clusters.is_moving(paths), "the first deployment may have been interrupted"
    two_clusters.moved(paths, silent)
    assert not two_clusters.is_moving(paths)
    assert not paths.second.folder.exists()


def test_down_restores_the_stack_file_unless_the_data_are_kept(
    paths: SandboxPaths, started: list[Path]
) -> None:
    two_clusters.up(paths, {}, None, 2, silent)
    two_clusters.down(paths, keep=True)
    assert stack_file.clusters() == 2
    two_clusters.down(paths, keep=False)
    assert stack_file.FILE.read_text() == ONE


def test_status_has_a_second_cluster_only_if_there_is_one(
    paths: SandboxPaths, started: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert two_clusters.status_of_second(paths) is None
    two_clusters.up(paths, {}, None, 2, silent)
    second = two_clusters.status_of_second(paths)
    assert second is not None
    assert (second.kubeconfig, second.ready) == (paths.second.kubeconfig, False)
    (tmp_path / "other").write_text("{}")
    monkeypatch.setenv("CODER_STACK_KUBECONFIG", str(tmp_path / "other"))
    assert two_clusters.status_of_second(paths) is None
