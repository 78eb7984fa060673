"""Every vendor's releases are installed as published, and not at all if anything is amiss."""

from pathlib import Path

import pytest

from sandbox.toolchain.catalogue import CATALOGUE
from sandbox.toolchain.errors import SourceUnavailable
from sandbox.toolchain.release import Releases
from tests.unit.toolchain.machines import QUICK
from tests.unit.toolchain.published import (
    PUBLISHED,
    STAGES_YAML,
    Published,
    catalogue_with_these_stages,
    etcd,
    kwok,
    machine,
    publish,
    pulumi,
)
from tests.unit.toolchain.vendor_site import SCRIPT, Site, sums, tar_gz

every_release = pytest.mark.parametrize("published", PUBLISHED, ids=str)


def failure(site: Site, published: Published, into: Path) -> str:
    tool = catalogue_with_these_stages()[published.tool]
    with pytest.raises(SourceUnavailable) as caught:
        Releases(root=site.url, timeouts=QUICK).download(
            tool, published.platform, into, lambda _: None
        )
    return str(caught.value)


@every_release
def test_a_published_release_is_installed_and_then_asked_for_no_more(
    published: Published, site: Site, tmp_path: Path
) -> None:
    publish(site, published)
    here = machine(tmp_path, site, published)

    installed = here.toolchain().ensure([published.tool])[published.tool]

    assert installed.source == "release"
    assert installed.version == CATALOGUE[published.tool].version
    assert installed.reason == "on PATH: not found"
    assert sorted(f.name for f in installed.path.parent.iterdir()) == sorted(published.files)
    assert installed.path.read_bytes() == SCRIPT
    asked = len(site.asked)
    assert here.toolchain().ensure([published.tool])[published.tool] == installed
    assert len(site.asked) == asked


@every_release
def test_a_file_with_another_checksum_is_not_taken(
    published: Published, site: Site, tmp_path: Path
) -> None:
    publish(site, published)
    site.files[published.asset] = published.content + b"\n# and something of mine"

    why = failure(site, published, tmp_path)

    assert "does not match its published checksum" in why
    assert published.asset.rsplit("/", 1)[1] in why


@every_release
def test_a_download_that_breaks_off_is_not_taken(
    published: Published, site: Site, tmp_path: Path
) -> None:
    publish(site, published)
    site.truncated.add(published.asset)

    assert "broke off" in failure(site, published, tmp_path)


@every_release
def test_a_missing_asset_is_named(published: Published, site: Site, tmp_path: Path) -> None:
    publish(site, published)
    del site.files[published.asset]

    assert f"answers 404 for {published.asset.rsplit('/', 1)[1]}" in failure(
        site, published, tmp_path
    )


@every_release
def test_without_a_published_checksum_nothing_is_downloaded(
    published: Published, site: Site, tmp_path: Path
) -> None:
    publish(site, published)
    site.files[published.checksums] = b"{}"

    assert "publishes no checksum of" in failure(site, published, tmp_path)
    assert published.asset not in site.asked


def test_stages_that_are_not_the_pinned_ones_are_not_taken(site: Site, tmp_path: Path) -> None:
    published = kwok("linux", "amd64")
    publish(site, published)

    with pytest.raises(SourceUnavailable, match=r"stages.yaml does not have the content"):
        Releases(root=site.url, timeouts=QUICK).download(
            CATALOGUE["kwok"], published.platform, tmp_path, lambda _: None
        )


def test_an_archive_without_the_executable_is_not_taken(site: Site, tmp_path: Path) -> None:
    published = pulumi("linux", "amd64", "x64")
    content = tar_gz({"pulumi/pulumi": SCRIPT})
    name = published.asset.rsplit("/", 1)[1]
    site.files |= {published.asset: content, published.checksums: sums(**{name: content})}

    assert "does not hold pulumi/pulumi-language-python" in failure(site, published, tmp_path)


def test_something_that_is_no_archive_is_not_taken(site: Site, tmp_path: Path) -> None:
    published = etcd("darwin", "arm64")
    name = published.asset.rsplit("/", 1)[1]
    site.files |= {published.asset: b"<html>", published.checksums: sums(**{name: b"<html>"})}

    assert "cannot be unpacked" in failure(site, published, tmp_path)


def test_stages_yaml_is_the_concatenation_in_order(site: Site, tmp_path: Path) -> None:
    published = kwok("linux", "arm64")
    publish(site, published)

    installed = machine(tmp_path, site, published).toolchain().ensure(["kwok"])["kwok"]

    assert (installed.path.parent / "stages.yaml").read_bytes() == STAGES_YAML
