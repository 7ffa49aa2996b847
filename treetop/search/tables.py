"""Plain text and HTML tables, for results that print and draw themselves."""

from __future__ import annotations

from html import escape


def text_table(head: list[str], cells: list[list[str]]) -> str:
    """Columns under their headings, the first one to the left, numbers to the right."""
    widths = [max(len(row[index]) for row in [head, *cells]) for index in range(len(head))]
    lines = []
    for row in [head, *cells]:
        first = row[0].ljust(widths[0])
        rest = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        lines.append("  ".join([first, *rest]).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def html_table(head: list[str], cells: list[list[str]], chosen: str) -> str:
    """The same for a notebook: the chosen move's row stands out, and each share of the visits is drawn as a bar behind its number."""
    line = "border-bottom:1px solid rgba(128,128,128,.5);"
    top = "".join(_cell("th", name, index, line) for index, name in enumerate(head))
    rows = "".join(
        f"<tr style='{'font-weight:600' if row[0] == chosen else ''}'>"
        + "".join(
            _cell("td", cell, index, _bar(cell) if head[index] == "share" else "") for index, cell in enumerate(row)
        )
        + "</tr>"
        for row in cells
    )
    style = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:0"
    return f"<table style='{style}'><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(tag: str, text: str, index: int, style: str) -> str:
    side = "right" if index else "left"
    return f"<{tag} style='text-align:{side};padding:2px 10px;{style}'>{escape(text)}</{tag}>"


def _bar(share: str) -> str:
    return f"background:linear-gradient(90deg,rgba(46,125,80,.3) {share},transparent {share});min-width:5em;"
