"""Reports as one HTML page that needs nothing else: no script, no font from outside.

The page is report.html.jinja beside this module; this module prepares what it shows.
"""

from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from coder_stack.operate import overview
from coder_stack.operate.report import Report

__all__ = ["render"]

_PAGE = Environment(
    loader=PackageLoader("coder_stack.operate", package_path=""),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
).get_template("report.html.jinja")


def render(reports: Sequence[Report]) -> str:
    """The whole page."""
    return _PAGE.render(reports=reports, overview=overview)
