"""Which Kubernetes plugin the engine gets, and how little a closed machine waits for it."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.toolchain.errors import ToolchainError
from sandbox.toolchain.provider_plugin import EXECUTABLE, PluginChoice, PluginFinder
from sandbox.toolchain.store import Installed
from tests.unit.toolchain.machines import NOBODY, Machine, executable
from tests.unit.toolchain.vendor_site import Site

INSTALLS = """
[ "$*" = 'plugin install resource kubernetes 4.34.2 --non-interactive' ] || exit 64
folder=$PULUMI_HOME/plugins/resource-kubernetes-v4.34.2
/bin/mkdir -p $folder
printf '#!/bin/sh\\necho official' > $folder/pulumi-resource-kubernetes
/bin/chmod 755 $folder/pulumi-resource-kubernetes
"""


@dataclass
class PluginSetup:
    """A machine with a stand-in, an engine, and Pulumi's sites in reach or not."""

    machine: Machine
    site: str
    asked: Path
    seconds: float = 20.0

    @property
    def stand_in(self) -> Path:
        return self.machine.root / "stand-in"

    def pulumi(self, script: str = INSTALLS) -> Installed:
        path = executable(self.machine.root / "pulumi", f"echo asked >> {self.asked}\n{script}")
        return Installed("pulumi", "3.220.0", "build", path, "")

    def finder(self, version: str = "4.34.2") -> PluginFinder:
        return PluginFinder(
            toolchain=self.machine.toolchain(),
            version=version,
            stand_in=self.stand_in,
            sites=(self.site,),
            connect_seconds=1.0,
            install_seconds=self.seconds,
        )

    def times_asked(self) -> int:
        return len(self.asked.read_text().splitlines()) if self.asked.exists() else 0


@pytest.fixture(autouse=True)
def no_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CODER_STACK_PLUGIN_RETRY", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def plugin_setup(tmp_path: Path, site: str | None = None) -> PluginSetup:
    made = PluginSetup(Machine(tmp_path), site or NOBODY, tmp_path / "asked")
    made.stand_in.mkdir()
    executable(made.stand_in / EXECUTABLE, "echo stand-in")
    return made


def test_the_official_plugin_on_path_wins(tmp_path: Path) -> None:
    here = plugin_setup(tmp_path)
    where = here.machine.has(EXECUTABLE, "echo official")

    choice = here.finder().choose(here.pulumi())

    assert choice == PluginChoice("official-path", "unknown", where.parent, "on PATH")
    assert here.times_asked() == 0


def test_the_stand_in_on_path_is_not_mistaken_for_the_official_one(tmp_path: Path) -> None:
    here = plugin_setup(tmp_path)
    (here.machine.bin / EXECUTABLE).symlink_to(here.stand_in / EXECUTABLE)

    assert here.finder().choose(here.pulumi()).source == "stand-in"


def test_the_stand_in_of_another_checkout_is_not_mistaken_either(tmp_path: Path) -> None:
    here = plugin_setup(tmp_path)
    other = tmp_path / "other" / "sandbox" / "kubernetes_plugin" / "bin"
    other.mkdir(parents=True)
    executable(other / EXECUTABLE, "echo stand-in")
    (here.machine.bin / EXECUTABLE).symlink_to(other / EXECUTABLE)

    assert here.finder().choose(here.pulumi()).bin_dir == here.stand_in


def test_the_version_of_a_plugin_on_path_is_read_from_pulumis_own_folder(tmp_path: Path) -> None:
    here = plugin_setup(tmp_path)
    folder = tmp_path / "plugins" / "resource-kubernetes-v4.30.1"
    folder.mkdir(parents=True)
    executable(folder / EXECUTABLE, "true")
    (here.machine.bin / EXECUTABLE).symlink_to(folder / EXECUTABLE)

    assert here.finder().find().version == "4.30.1"


def test_where_pulumis_site_answers_the_official_plugin_is_installed_once(
    site: Site, tmp_path: Path
) -> None:
    here = plugin_setup(tmp_path, site.url)

    choice = here.finder().choose(here.pulumi())

    assert (choice.source, choice.version) == ("official-install", "4.34.2")
    assert os.access(choice.bin_dir / EXECUTABLE, os.X_OK)
    assert choice.bin_dir.is_relative_to(here.machine.cache)
    assert here.finder().choose(here.pulumi()) == choice
    assert here.times_asked() == 1
    assert list((here.machine.cache / "staging").iterdir()) == []


def test_where_nothing_answers_the_stand_in_is_used_at_once(tmp_path: Path) -> None:
    here = plugin_setup(tmp_path)

    choice = here.finder().choose(here.pulumi())

    assert choice == PluginChoice(
        "stand-in",
        "4.34.2",
        here.stand_in,
        "Pulumi's sites cannot be reached (connection refused)",
    )
    assert here.times_asked() == 0, "the engine is not even started"


def test_a_refusal_is_remembered_until_someone_insists(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = plugin_setup(tmp_path)
    here.finder().choose(here.pulumi())
    here.site = site.url

    assert here.finder().choose(here.pulumi()).source == "stand-in"
    assert here.times_asked() == 0

    monkeypatch.setenv("CODER_STACK_PLUGIN_RETRY", "1")
    assert here.finder().choose(here.pulumi()).source == "official-install"


def test_doctor_insists_in_spite_of_a_refusal(site: Site, tmp_path: Path) -> None:
    here = plugin_setup(tmp_path)
    here.finder().choose(here.pulumi())
    here.site = site.url

    assert here.finder().choose(here.pulumi(), retry=True).source == "official-install"


@pytest.mark.parametrize("age", [86_500.0, -60.0])
def test_a_refusal_is_forgotten_after_a_day(
    age: float, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One from the future (the clock was set back) counts as forgotten too."""
    here = plugin_setup(tmp_path)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - age)
    here.finder().choose(here.pulumi())
    monkeypatch.setattr(time, "time", lambda: now)
    here.site = site.url

    assert here.finder().choose(here.pulumi()).source == "official-install"


def test_a_refusal_of_another_version_does_not_count(site: Site, tmp_path: Path) -> None:
    here = plugin_setup(tmp_path)
    here.finder(version="4.33.0").choose(here.pulumi())
    here.site = site.url

    assert here.finder().choose(here.pulumi()).source == "official-install"


@pytest.mark.parametrize(
    ("script", "seconds", "reason"),
    [
        ("echo 'error: 403 rate limit' >&2; exit 255", 20.0, "failed (error: 403 rate limit)"),
        ("exit 0", 20.0, "failed (silently)"),
        ("exec /bin/sleep 60", 0.3, "gave no answer within 0.3 s"),
    ],
)
def test_an_install_that_fails_or_hangs_leads_to_the_stand_in(
    script: str, seconds: float, reason: str, site: Site, tmp_path: Path
) -> None:
    here = plugin_setup(tmp_path, site.url)
    here.seconds = seconds

    choice = here.finder().choose(here.pulumi(script))

    assert (choice.source, choice.reason) == ("stand-in", f"pulumi plugin install {reason}")
    assert here.finder().choose(here.pulumi(script)) == choice
    assert here.times_asked() == 1


def test_offline_asks_nobody_and_remembers_nothing(site: Site, tmp_path: Path) -> None:
    here = plugin_setup(tmp_path, site.url)
    here.machine.offline = True

    assert "CODER_STACK_OFFLINE is set" in here.finder().choose(here.pulumi()).reason

    here.machine.offline = False
    assert here.finder().choose(here.pulumi()).source == "official-install"


def test_a_cache_that_cannot_be_written_leads_to_the_stand_in(tmp_path: Path) -> None:
    here = plugin_setup(tmp_path)
    here.machine.cache.write_text("a file where the folder should be")

    assert here.finder().choose(here.pulumi()).reason == "nothing can be installed (File exists)"


def test_without_any_plugin_one_sentence_says_so(tmp_path: Path) -> None:
    here = plugin_setup(tmp_path)
    (here.stand_in / EXECUTABLE).unlink()

    with pytest.raises(
        ToolchainError, match=r"4\.34\.2 cannot be installed: Pulumi's sites cannot be"
    ):
        here.finder().choose(here.pulumi())
