"""Write the range of tried versions into the docs: `python -m coder_stack.coderd.version_pages`.

docs/versions.md is generated, and so is the line of README.md between the two marks.
"""

import re
from pathlib import Path

from coder_stack.coderd.versions import TRIED, tried_range

_CHECKOUT = Path(__file__).parents[2]
_LINE = re.compile(r"(?<=<!-- versions -->\n).*(?=\n<!-- /versions -->)")
_PAGE = """\
<!-- Made by `make docs` from coder_stack/coderd/versions.py; do not edit. -->

# Versions of Coder

This program was tried with the API of Coder {oldest} to {newest}. Patches of {minor} count as
tried, too. The contract tests also run [unmodified servers](toolchain.md#engines-that-were-tried).

Coder's source has a document of its API. The tests compare those of
{versions}
with every call that this program can make: path and method, parameters, body, status codes, and
every field that is read, with its type and whether it may be missing. The answers of the
[simulated coderd](simulated-coderd.md) are compared with the same documents.
[CONTRIBUTING](../CONTRIBUTING.md#adding-a-version-of-coder) says how to add a version.

## Other versions

Nothing is refused. If coderd's version is outside of the range,

- `preview` and `up` print one warning with the version and the range;
- the message of the [condition](outputs.md#conditions) `ControlPlaneReady` has the same sentence.
  Its status and reason stay;
- the [policies](policies.md#versions) `coder-image-version` and `coder-version` advise against it.
  Set them to `mandatory` to stop it.

A tag or a build that names no release, such as `latest`, a digest or `v0.0.0-devel`, is unknown
and gets no warning.
"""


def versions_page() -> str:
    """Return docs/versions.md."""
    oldest, newest = tried_range()
    versions = f"{', '.join(TRIED[:-1])} and {newest}"
    minor = newest.rpartition(".")[0]
    return _PAGE.format(oldest=oldest, newest=newest, minor=minor, versions=versions)


def readme(text: str) -> str:
    """Return README.md with the current range."""
    oldest, newest = tried_range()
    line = f"Tried with the API of Coder {oldest} to {newest} ([versions](docs/versions.md))."
    return _LINE.sub(line, text)


if __name__ == "__main__":
    (_CHECKOUT / "docs" / "versions.md").write_text(versions_page())
    page = _CHECKOUT / "README.md"
    page.write_text(readme(page.read_text()))
