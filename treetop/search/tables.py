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
    """The same for a notebook; the chosen move's row stands out."""
    top = "".join(f"<th style='text-align:{'left' if not index else 'right'}'>{escape(name)}</th>" for index, name in enumerate(head))
    rows = []
    for row in cells:
        style = " style='font-weight:600;background:rgba(46,125,80,.14)'" if row[0] == chosen else ""
        inside = "".join(f"<td style='text-align:{'left' if not index else 'right'}'>{escape(cell)}</td>" for index, cell in enumerate(row))
        rows.append(f"<tr{style}>{inside}</tr>")
    return f"<table style='font-variant-numeric:tabular-nums'><thead><tr>{top}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
