"""Versions of Coder (V1, V2)."""

import pytest

from coder_stack.coderd.versions import TRIED, Version, outside_range, parse


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v2.30.0", Version(2, 30, 0)),
        ("2.30.1", Version(2, 30, 1)),
        ("v2.30.0+abc1234", Version(2, 30, 0)),
        ("v2.31.0-rc.1", Version(2, 31, 0)),
        (" v2.9.10\n", Version(2, 9, 10)),
    ],
)
def test_V2_tags_and_coderds_answers_are_read(text: str, version: Version) -> None:
    assert parse(text) == version


@pytest.mark.parametrize(
    "text", ["", "latest", "main", "v2.30", "sha256:0123", "v0.0.0-devel+abc1234", "v2.30.0/x"]
)
def test_V2_what_names_no_release_is_unknown(text: str) -> None:
    assert parse(text) is None
    assert outside_range(text) == ""


def test_V2_versions_compare_by_their_numbers() -> None:
    assert Version(2, 9, 1) < Version(2, 30, 0) < Version(3, 0, 0)
    assert str(Version(2, 9, 1)) == "v2.9.1"


def test_V1_the_tried_versions_are_in_order() -> None:
    versions = [parse(each) for each in TRIED]
    assert None not in versions
    assert versions == sorted(versions, key=lambda each: each or Version(0, 0, 0))


@pytest.mark.parametrize("text", [*TRIED, "v2.30.7+abc1234", "v2.25.3"])
def test_V1_what_lies_between_the_tried_versions_needs_no_warning(text: str) -> None:
    assert outside_range(text) == ""


@pytest.mark.parametrize("text", ["v2.19.9", "v2.31.0", "v3.0.0+abc"])
def test_V1_a_version_outside_the_range_is_named(text: str) -> None:
    told = outside_range(text)
    assert text.partition("+")[0] in told
    assert f"tried with {TRIED[0]} to {TRIED[-1]}" in told
