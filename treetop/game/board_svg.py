"""Boards as SVG text: grids, cards, dice and layouts are drawn, other parts are lines of text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from treetop.game.boards import Cards, Dice, Grid, Picture, Shapes

_CELL, _MARGIN, _GAP, _LINE = 44.0, 16.0, 14.0, 20.0
_HEX = 0.56  # the radius of a hexagon, in cells
_INK, _MUTE, _PAPER, _GRID, _SOFT, _FELT = (
    "#22252a", "#5f656d", "#fbfbf9", "#c9cfc8", "#e9eee9", "#cfe0d4",
)  # fmt: skip
_WOOD, _WOOD_DARK, _BLUE, _HOLE, _FACE = "#e8d9b8", "#c8a97a", "#3c6ea5", "#f5f6f4", "#fffdf8"
_DISCS, _STONES, _HEXES, _MARKS = (
    ("#d9593d", "#f2c14e"), ("#1f2226", "#fafaf7"), ("#1f2226", "#f2c14e"), ("#d9593d", "#3c6ea5"),
)  # fmt: skip
_OWNERS = {"X": 0, "1": 0, "O": 1, "2": 1}
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML
_Drawn = tuple[float, float, str]
"""The width and the height of a part, and its elements."""


def svg_of(picture: Picture) -> str:
    """Return the parts of a picture, one below the other, as SVG text.

    >>> from treetop.game.boards import Picture
    >>> svg_of(Picture.of([["X", ""], ["", "O"]])).count("<circle")
    2
    """
    top, width, body = _MARGIN, 0.0, list[str]()
    for part in picture.parts:
        wide, high, drawn = _DRAW.get(part.kind, _text)(part)
        body.append(f'<g transform="translate({_MARGIN:g} {top:g})">{drawn}</g>')
        top, width = top + high + _GAP, max(width, wide)
    size = f"{width + 2 * _MARGIN:g}", f"{top - _GAP + _MARGIN:g}"
    style = "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;dominant-baseline:central}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
        f'viewBox="0 0 {size[0]} {size[1]}" role="img"><style>{style}</style>'
        f'<rect width="100%" height="100%" rx="8" fill="{_PAPER}"/>{"".join(body)}</svg>\n'
    )


def _grid(grid: Grid) -> _Drawn:
    """Draw the cells of a grid, and the names of its columns and rows where each cell has its own."""
    if grid.shape == "hex":
        return _hex_grid(grid)
    rows, columns, names = len(grid.rows), len(grid.rows[0]), grid.cell_names or ()
    width, height = columns * _CELL, rows * _CELL
    named = grid.pieces != "tiles" and len({name for row in names for name in row}) == rows * columns and columns <= 26
    fill = {"holes": _BLUE, "lines": _WOOD}.get(grid.surface, _PAPER)
    found = [_box(0, 0, width, height, fill, "none", 10 if grid.surface == "holes" else 2)]
    if grid.surface == "lines":
        half = _CELL / 2
        lines = [f"M{half + _CELL * c:g} {half:g}V{height - half:g}" for c in range(columns)]
        lines += [f"M{half:g} {half + _CELL * r:g}H{width - half:g}" for r in range(rows)]
        found.append(f'<path d="{"".join(lines)}" stroke="#6b5a37"/>')
    for r, row in enumerate(grid.rows):
        for c, piece in enumerate(row):
            x, y = (c + 0.5) * _CELL, (r + 0.5) * _CELL
            if grid.surface in ("plain", "checkered"):
                dark = grid.surface == "checkered" and (r + c) % 2
                plain = _FELT if grid.pieces == "discs" else _PAPER
                square = plain if grid.surface == "plain" else _WOOD_DARK if dark else _WOOD
                found.append(_box(x - _CELL / 2, y - _CELL / 2, _CELL, _CELL, square, _GRID))
            elif grid.surface == "holes":
                found.append(_disc(x, y, _HOLE))
            found.append(_piece(grid, piece, x, y))
    if named:
        found += [_label(re.sub(r"\d+$", "", name), (c + 0.5) * _CELL, height + 10) for c, name in enumerate(names[0])]
        found += [_label(re.sub(r"^\D+", "", row[0]), width + 12, (r + 0.5) * _CELL) for r, row in enumerate(names)]
    return width + 20 * named, height + 16 * named, "".join(found)


def _hex_grid(grid: Grid) -> _Drawn:
    """Draw a rhombus of hexagons; the rows of each edge have a line in the colour of its player."""
    radius, step = _HEX * _CELL, math.sqrt(3) * _HEX * _CELL
    rows, columns = len(grid.rows), len(grid.rows[0])
    corners = [(radius * math.sin(math.pi / 3 * n), -radius * math.cos(math.pi / 3 * n)) for n in range(6)]

    def middle(r: int, c: int) -> tuple[float, float]:
        return step * (c + r / 2 + 0.5) + 4, 1.5 * radius * r + radius + 4

    def border(cells: list[tuple[int, int]], numbers: tuple[int, ...], piece: str) -> str:
        points = [(x + corners[n][0], y + corners[n][1]) for x, y in (middle(*cell) for cell in cells) for n in numbers]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        return f'<polyline points="{path}" fill="none" stroke="{_HEXES[_OWNERS.get(piece, 1)]}" stroke-width="5"/>'

    found = list[str]()
    for r, row in enumerate(grid.rows):
        for c, piece in enumerate(row):
            x, y = middle(r, c)
            path = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
            found.append(f'<polygon points="{path}" fill="{_SOFT}" stroke="{_PAPER}" stroke-width="2"/>')
            found.append(_piece(grid, piece, x, y))
    if grid.edges:
        top, right, bottom, left = grid.edges
        found.append(border([(0, c) for c in range(columns)], (5, 0, 1), top))
        found.append(border([(r, columns - 1) for r in range(rows)], (0, 1, 2), right))
        found.append(border([(rows - 1, c) for c in range(columns)], (4, 3, 2), bottom))
        found.append(border([(r, 0) for r in range(rows)], (5, 4, 3), left))
    return step * (columns + (rows - 1) / 2) + 8, 1.5 * radius * (rows - 1) + 2 * radius + 8, "".join(found)


def _piece(grid: Grid, piece: str, x: float, y: float) -> str:
    """Draw a piece as the grid says."""
    owner = _OWNERS.get(piece)
    if not piece:
        return ""
    if grid.pieces == "tiles":
        size = 15 if len(piece) < 4 else 11
        return _box(x - 20, y - 20, 40, 40, "#eadfc8", "none", 5) + _word(piece, x, y, size=size)
    if grid.pieces == "marks" and owner is not None:
        arm = _CELL * 0.26
        if owner == 1:
            return f'<circle cx="{x:g}" cy="{y:g}" r="{arm:g}" fill="none" stroke="{_MARKS[1]}" stroke-width="4.5"/>'
        cross = f"M{x - arm:g} {y - arm:g}L{x + arm:g} {y + arm:g}M{x + arm:g} {y - arm:g}L{x - arm:g} {y + arm:g}"
        return f'<path d="{cross}" stroke="{_MARKS[0]}" stroke-width="4.5" stroke-linecap="round"/>'
    if grid.pieces == "discs" and owner is not None:
        stones = _HEXES if grid.shape == "hex" else _STONES if grid.surface in ("lines", "plain") else _DISCS
        return _disc(x, y, stones[owner], "#00000055")
    return _word(piece, x, y, size=22)


def _cards(part: Cards) -> _Drawn:
    """Draw cards side by side, with what lies face down as a back."""
    found, top = [_title(part.title)], _LINE if part.title else 0.0
    for place, card in enumerate(part.to_dict()["cards"]):
        x, face = 64.0 * place, card["face"]
        found.append(_box(x, top, 56, 78, _FACE if face else _BLUE, "#00000040", 7))
        colour = "#b5322e" if set(face) & {"♥", "♦"} else _INK
        found.append(_word(face, x + 28, top + (32 if card["note"] else 39), colour))
        found.append(_word(card["note"], x + 28, top + 60, _MUTE if face else "#fff", 11))
    return max(64.0 * len(part.cards), 7.0 * len(part.title)), top + 78, "".join(found)


def _dice(part: Dice) -> _Drawn:
    """Draw dice as their numbers."""
    found, top = [_title(part.title)], _LINE if part.title else 0.0
    for place, value in enumerate(part.values):
        found.append(_box(48.0 * place, top, 40, 40, _FACE, "#00000040", 8))
        found.append(_word(str(value or ""), 48.0 * place + 20, top + 20))
    return max(48.0 * len(part.values), 7.0 * len(part.title)), top + 40, "".join(found)


def _shapes(part: Shapes) -> _Drawn:
    """Draw a free layout, 300 wide."""
    scale, found = 300.0 / part.width, list[str]()
    for shape in part.shapes:
        colour = _DISCS[shape.player] if 0 <= shape.player < 2 else _MUTE
        x, y, wide, high = (scale * value for value in (shape.x, shape.y, shape.width, shape.height))
        if shape.kind == "circle":
            found.append(_disc(x, y, colour, radius=wide))
        elif shape.kind == "line":
            found.append(f'<path d="M{x:.1f} {y:.1f}l{wide:.1f} {high:.1f}" stroke="{_INK}" stroke-width="3"/>')
        elif shape.kind == "box":
            found.append(_box(x, y, wide, high, colour, "none"))
        else:
            found.append(_word(shape.text, x, y))
    return 300.0, scale * part.height, "".join(found)


def _text(part: Any) -> _Drawn:
    """Draw any other part as lines of text in letters of one width."""
    lines = _lines(part.to_dict()).expandtabs().splitlines() or [""]
    style = f'font-size="14" fill="{_INK}" style="font-family:ui-monospace,monospace;white-space:pre"'
    body = "".join(f'<text x="0" y="{(n + 0.5) * _LINE:g}" {style}>{_clean(one)}</text>' for n, one in enumerate(lines))
    return 8.7 * max(map(len, lines)), _LINE * len(lines), body


def _lines(part: dict[str, Any]) -> str:
    title = [part["title"]] if part.get("title") else []
    if part["kind"] == "table":
        return "\n".join([*title, *(f"{name}: {value}" for name, value in part["rows"].items())])
    if part["kind"] == "track":
        places = part["markers"].items()
        return "\n".join([*title, *(f"{name}: {place:g} of {part['length']:g}" for name, place in places)])
    if part["kind"] == "piles":
        piles = [[_pile(pile) for pile in row if pile["count"]] for row in part["rows"]]
        return "\n".join([*title, *("  ".join(row) for row in piles)])
    return str(part.get("text", ""))


def _pile(pile: dict[str, Any]) -> str:
    name = f"{pile['name']}: " if pile["name"] else ""
    return f"{name}{pile['count']} {pile['piece'] or 'left'}"


def _box(x: float, y: float, width: float, height: float, fill: str, stroke: str, corner: int = 0) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} rx="{corner}" fill="{fill}" stroke="{stroke}"/>'


def _disc(x: float, y: float, fill: str, stroke: str = "none", radius: float = 0.39 * _CELL) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{fill}" stroke="{stroke}"/>'


def _word(text: str, x: float, y: float, fill: str = _INK, size: int = 18) -> str:
    style = f'text-anchor="middle" font-size="{size}" font-weight="600" fill="{fill}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{_clean(text)}</text>' if text else ""


def _label(text: str, x: float, y: float) -> str:
    return _word(text, x, y, _MUTE, 11)


def _title(text: str) -> str:
    return f'<text y="8" font-size="12" fill="{_MUTE}">{_clean(text)}</text>' if text else ""


def _clean(text: str) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", text))


_DRAW: dict[str, Callable[[Any], _Drawn]] = {"grid": _grid, "cards": _cards, "dice": _dice, "shapes": _shapes}
