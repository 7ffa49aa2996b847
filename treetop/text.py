"""Write results as text: JSON, tables, lists of facts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any


def json_text(value: Any) -> str:
    """Return a value as JSON. JSON has no infinity and no NaN: they become "inf", "-inf" and null.

    >>> json_text({"temperature": math.inf, "value": math.nan})
    '{"temperature": "inf", "value": null}'
    """
    return json.dumps(_finite(value), allow_nan=False)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless it is one.

    >>> counted(1, "step"), counted(1200, "step")
    ('1 step', '1,200 steps')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def vector_text(numbers: Iterable[float]) -> str:
    """Return a continuous action as text.

    >>> vector_text((0.25, -1.0))
    '0.25:-1'
    """
    return ":".join(f"{number:.4g}" for number in numbers)


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as text: a line under the headings, the first column aligned left, the others right.

    >>> print(text_table(["move", "visits"], [["e4", "1,200"], ["d4", "90"]]))
    move  visits
    ----  ------
    e4     1,200
    d4        90
    """
    widths = [max(len(row[index]) for row in [head, *rows]) for index in range(len(head))]
    lines = []
    for row in [head, *rows]:
        first = row[0].ljust(widths[0])
        rest = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        lines.append("  ".join([first, *rest]).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def text_facts(facts: Mapping[str, str]) -> str:
    """Return names and their texts in two columns, one line each.

    >>> print(text_facts({"seed": "1", "games": "20"}))
    seed   1
    games  20
    """
    width = max(map(len, facts), default=0)
    return "\n".join(f"{name.ljust(width)}  {text}" for name, text in facts.items())


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], chosen: str) -> str:
    """Return a table for a notebook: the row of the chosen move is bold, and the column "share" has a bar behind each
    cell.
    """
    line = "border-bottom:1px solid rgba(128,128,128,.5);"
    top = "".join(_cell("th", name, index, line) for index, name in enumerate(head))
    body = "".join(
        f"<tr style='{'font-weight:600' if row[0] == chosen else ''}'>"
        + "".join(
            _cell("td", cell, index, _bar(cell) if head[index] == "share" else "") for index, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    style = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:0"
    return f"<table style='{style}'><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def html_board(text: str) -> str:
    """Return the text of a position for a notebook: preformatted and escaped.

    >>> html_board("<b>").endswith(">&lt;b&gt;</pre>")
    True
    """
    return f"<pre style='line-height:1.3;font-size:1.15em;margin:0'>{escape(text)}</pre>"


def html_lines(lines: Iterable[str]) -> str:
    """Return lines of text for a notebook, each escaped and on a line of its own."""
    inside = "".join(f"<div>{escape(line)}</div>" for line in lines)
    return f"<div style='margin-top:.8em;line-height:1.5'>{inside}</div>"


def _cell(tag: str, text: str, index: int, style: str) -> str:
    side = "right" if index else "left"
    return f"<{tag} style='text-align:{side};padding:2px 10px;{style}'>{escape(text)}</{tag}>"


def _bar(share: str) -> str:
    return f"background:linear-gradient(90deg,rgba(46,125,80,.3) {share},transparent {share});min-width:5em;"


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value
