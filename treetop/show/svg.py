"""A search tree as an SVG picture: boxes coloured by value, edges as wide as their visits.

The tree grows from left to right, and the first child of a node, the most visited one, stands at its height: so the
principal variation is the straight line at the top.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from xml.sax.saxutils import escape

from treetop.search.result import SearchResult
from treetop.show.labels import UNKNOWN, Label, label_of, plain, value_colour
from treetop.show.trees import tree_of
from treetop.show.views import game_title

_HEIGHT, _ROW = 36, 46  # of a box, and from one to the next
_GAP, _MARGIN, _TOP = 54, 24, 66
_BOTTOM = 66  # for the legend
_LONGEST = 26  # characters of a move in a box
_WIDEST = 20.0  # the edge of all visits
_LEAST_WIDTH = 700
_INK, _MUTE, _EDGE, _PAPER, _GOLD = "#22252a", "#5f656d", "#c3c9c4", "#fbfbf9", "#e0a800"
_STYLE = (
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;dominant-baseline:central}"
    f".move{{font-size:13px;font-weight:600;fill:#fff}}.facts{{font-size:11px;fill:#fff}}"
    f".title{{font-size:17px;font-weight:600;fill:{_INK}}}.note{{font-size:12px;fill:{_MUTE}}}"
    f".edge{{fill:none;stroke:{_EDGE}}}"
)
_MARKS = {
    "chance": "chance node",
    "simultaneous": "simultaneous moves",
    "terminal": "end of the game",
    "proven": "proven",
    "folded": "folded: its children were removed",
    "shared": "transposition: its children are below another node",
}


@dataclass
class _Box:
    """A node with its place."""

    label: Label
    parent: int
    depth: int
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0


def svg_of(result: SearchResult, nodes: int) -> str:
    """Return the most visited nodes of the tree of a result as SVG text.

    >>> import treetop as tt
    >>> svg_of(tt.search("tic_tac_toe", simulations=500, seed=1), 5).startswith("<svg xmlns=")
    True
    """
    found = tree_of(result, nodes)
    boxes = list[_Box]()
    for node in found["nodes"]:
        depth = 0 if node["parent"] < 0 else boxes[node["parent"]].depth + 1
        boxes.append(_Box(label_of(result.position, node), node["parent"], depth))
    _place(boxes)
    title = f"{plain(game_title(result), 60)}: {plain(result.move, 60)}"
    legend, legend_width = _legend(boxes)
    width = max(box.x + box.width for box in boxes) + _MARGIN
    width = max(width, legend_width, _LEAST_WIDTH)
    height = max(box.y for box in boxes) + _HEIGHT / 2 + _BOTTOM
    note = (
        f"{result.root_visits:,} simulations, value {result.value:+.3f} for player {result.player}; "
        f"{len(boxes):,} of {found['size']:,} nodes, the most visited ones"
    )
    size = f'width="{width:.0f}" height="{height:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style>",
            f'<rect width="100%" height="100%" rx="8" fill="{_PAPER}"/>',
            f'<text class="title" x="{_MARGIN}" y="22">{escape(title)}</text>',
            f'<text class="note" x="{_MARGIN}" y="42">{escape(note)}</text>',
            *(_edge(boxes[box.parent], box, boxes[0].label.visits) for box in boxes if box.parent >= 0),
            *map(_drawn, boxes),
            f'<g transform="translate({_MARGIN} {height - 24:.0f})">{legend}</g>',
            "</svg>\n",
        ]
    )


def _place(boxes: list[_Box]) -> None:
    """Give each box its place: a column for each depth, as wide as its widest box, and a row for each leaf."""
    widths: dict[int, float] = {}
    for box in boxes:
        widths[box.depth] = max(widths.get(box.depth, 64.0), _width(box.label))
    lefts = {0: float(_MARGIN)}
    for depth in range(1, len(widths)):
        lefts[depth] = lefts[depth - 1] + widths[depth - 1] + _GAP
    children: dict[int, list[int]] = {}
    for index, box in enumerate(boxes):
        children.setdefault(box.parent, []).append(index)
    row, waiting = 0, [0]
    while waiting:  # a node, then what is below its first child, then below its second child, ...
        index = waiting.pop()
        box, below = boxes[index], children.get(index, [])
        box.x, box.width, box.y = lefts[box.depth], widths[box.depth], _TOP + _HEIGHT / 2 + row * _ROW
        waiting.extend(reversed(below))
        row += 0 if below else 1


def _width(label: Label) -> float:
    """Return about how wide the texts of a label are."""
    wide = sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in plain(label.move, _LONGEST))
    return 20 + max(8.0 * wide, 6.3 * len(label.facts))


def _edge(start: _Box, end: _Box, total: int) -> str:
    left, right = start.x + start.width, end.x
    middle = (left + right) / 2
    thickness = max(1.0, _WIDEST * end.label.visits / max(1, total))
    curve = f"M{left:.1f} {start.y:.1f}C{middle:.1f} {start.y:.1f} {middle:.1f} {end.y:.1f} {right:.1f} {end.y:.1f}"
    return f'<path class="edge" stroke-width="{thickness:.1f}" d="{curve}"/>'


def _drawn(box: _Box) -> str:
    """Return the box of a node, with its move, visits and value."""
    label, x = box.label, box.x + 10
    about = "; ".join([f"{label.move}: {label.facts}", *(_MARKS[mark] for mark in _MARKS if mark in label.marks)])
    return (
        f'<g class="node"><title>{escape(about)}</title>'
        + _shape(label.marks, label.colour, box.x, box.y - _HEIGHT / 2, box.width, _HEIGHT)
        + f'<text class="move" x="{x:.1f}" y="{box.y - 7.5:.1f}">{escape(plain(label.move, _LONGEST))}</text>'
        f'<text class="facts" x="{x:.1f}" y="{box.y + 8.5:.1f}">{escape(label.facts)}</text></g>'
    )


def _shape(marks: frozenset[str], colour: str, x: float, y: float, width: float, height: float) -> str:
    """Return a box: square at the end of the game, round at a chance node, with the borders of the marks."""
    corner = 0 if "terminal" in marks else height / 2 if "chance" in marks else 6
    line = ""
    if "proven" in marks:
        line = f' stroke="{_GOLD}" stroke-width="3"'
    elif "terminal" in marks:
        line = f' stroke="{_INK}" stroke-width="2"'
    elif marks & {"simultaneous", "folded", "shared"}:
        dashes = "5 3" if "simultaneous" in marks else "1.5 2.5"
        line = f' stroke="{_INK}" stroke-width="1.5" stroke-dasharray="{dashes}"'
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} rx="{corner:g}" fill="{colour}"{line}/>'


def _legend(boxes: list[_Box]) -> tuple[str, float]:
    """Return the legend, and its width: the colours, and the marks that occur."""
    parts = [
        '<text class="note" x="0" y="0">worst</text>',
        *(f'<rect x="{38 + 12 * n}" y="-6" width="12" height="12" fill="{value_colour(n / 8)}"/>' for n in range(9)),
    ]
    text = "best, for the player who chose the move"
    parts.append(f'<text class="note" x="152" y="0">{text}</text>')
    x = 152 + 6.0 * len(text) + 26
    used = frozenset[str]().union(*(box.label.marks for box in boxes))
    for mark, text in _MARKS.items():
        if mark in used:
            parts.append(_shape(frozenset({mark}), UNKNOWN, x, -7, 22, 14))
            parts.append(f'<text class="note" x="{x + 30:.0f}" y="0">{text}</text>')
            x += 30 + 6.2 * len(text) + 22
    return "".join(parts), x + _MARGIN
