"""The page on policies says what the rules say."""

from reference import PAGE, page


def test_the_page_on_policies_is_current() -> None:
    written = PAGE.read_text() if PAGE.exists() else ""
    assert written == page(), "write it anew: .venv/bin/python policies/reference.py"
