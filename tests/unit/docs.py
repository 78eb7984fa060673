"""Tables on pages of the docs."""

from sandbox.paths import CHECKOUT


def table_rows(page: str) -> dict[str, list[str]]:
    """Return the rows of a page whose first cell is code, by that cell."""
    lines = [line for line in (CHECKOUT / page).read_text().splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): row for row in cells}
