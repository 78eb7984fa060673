"""Every requirement that is cited is defined in docs/requirements.md, once, and proven by a test.

An id is capital letters and a number. In Python it counts as a word of its own anywhere: names of
tests, docstrings, comments. Elsewhere it stands in parentheses.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.paths import CHECKOUT

PAGE = CHECKOUT / "docs/requirements.md"
ROWS = re.findall(r"^\| ([A-Z]+\d+) \| .+ \| (.+) \|$", PAGE.read_text(), re.MULTILINE)
DEFINED = [id_ for id_, _ in ROWS]
PROOFS = [(id_, link) for id_, links in ROWS for link in re.findall(r"\]\((.+?)\)", links)]

# A family is the letters in front: L for the license. Three digits are a rule of ruff.
_FAMILY = "|".join(sorted({id_.rstrip("0123456789") for id_ in DEFINED}))
_ID = rf"(?:{_FAMILY})[1-9]\d?"
_WORD = re.compile(rf"(?<![A-Za-z0-9])({_ID})(?![A-Za-z0-9])")
_IN_PARENTHESES = re.compile(rf"\(({_ID}(?:[-, ]+{_ID})*)\)")
# In the name of a test, letters that no rule begins with are an id too.
_NAME = re.compile(r"def test((?:_[A-Z]+\d+)+)_")


def cited(path: Path) -> set[str]:
    text = path.read_text()
    places = [text] if path.suffix == ".py" else _IN_PARENTHESES.findall(text)
    words = {word for place in places for word in _WORD.findall(place)}
    return words | {word for name in _NAME.findall(text) for word in name.split("_")[1:]}


def sources() -> Iterator[Path]:
    for suffix in ("py", "md", "yaml", "yml"):
        yield from CHECKOUT.glob(f"*.{suffix}")
        for folder in (
            "coder_stack",
            "policies",
            "sandbox",
            "tests",
            "docs",
            "examples",
            ".github",
        ):
            yield from (CHECKOUT / folder).rglob(f"*.{suffix}")


def test_every_id_that_is_cited_is_defined() -> None:
    unknown = {
        str(path.relative_to(CHECKOUT)): ids
        for path in sources()
        if (ids := cited(path) - set(DEFINED))
    }
    assert not unknown


def test_every_id_is_defined_once() -> None:
    assert sorted(DEFINED) == sorted(set(DEFINED))


@pytest.mark.parametrize(("id_", "link"), PROOFS)
def test_a_linked_module_has_a_test_with_the_id_in_its_name(id_: str, link: str) -> None:
    names = _NAME.findall((PAGE.parent / link).read_text())
    assert any(id_ in name.split("_") for name in names)


def test_every_rule_links_to_a_test() -> None:
    assert {id_ for id_, _ in PROOFS} == set(DEFINED)
