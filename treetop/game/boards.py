"""What a position looks like, as data: grids, cards, dice, piles, tracks, shapes, tables and text.

The method `board` of a game returns rows of cells, one of these parts, or a list of them; `board_for(player)` returns
the same without what is hidden from a player. Programs draw them; a game needs no code for the screen. Things that can
be touched have names. A move is made by touching the names that occur in its text, in order: `a2`, then `b3`, for the
move `a2b3`.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from treetop import checks
from treetop.errors import ConfigError

_MOST_CELLS = 4096
_MOST_THINGS = 1000  # of one part
_LONGEST_TEXT = 10_000


@dataclass(frozen=True)
class Element:
    """A part of a picture.

    >>> isinstance(Grid([["X"]]), Element)
    True
    """

    kind: ClassVar[str] = ""

    def names(self) -> Iterator[str]:
        """Yield the names of the things that can be touched."""
        yield from ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class Grid(Element):
    """Cells in rows, the top row first; a cell is the text of its piece, "" if it is empty.

    A cell is named by the letter of its column and the number of its row, counted from `origin`, "bottom" or "top".
    `cell_names` gives other names, in rows of the same shape: cells of one name are touched as one, as the columns of
    Connect Four. In a grid of hexagons each row begins half a cell further to the right than the row above.

    >>> grid = Grid([["", "X"], ["O", ""]])
    >>> list(grid.names())
    ['a2', 'b2', 'a1', 'b1']
    """

    kind: ClassVar[str] = "grid"

    rows: Sequence[Sequence[str]]
    shape: str = "square"
    """square or hex."""
    surface: str = "plain"
    """plain, checkered, lines (pieces stand on crossings) or holes."""
    pieces: str = "discs"
    """How pieces are drawn: discs (X and O, or digits, in the colours of the players), marks (X and O as strokes),
    tiles (numbers on coloured tiles) or text."""
    origin: str = "bottom"
    cell_names: Sequence[Sequence[str]] | None = None
    edges: Sequence[str] = ()
    """For the players whose sides these are: the pieces that belong to top, right, bottom and left."""

    def __post_init__(self) -> None:
        checks.one_of("shape", self.shape, ("square", "hex"))
        checks.one_of("surface", self.surface, ("plain", "checkered", "lines", "holes"))
        checks.one_of("pieces", self.pieces, ("discs", "marks", "tiles", "text"))
        checks.one_of("origin", self.origin, ("bottom", "top"))
        rows = _texts_in_rows("rows", self.rows)
        object.__setattr__(self, "rows", rows)
        shape = [len(row) for row in rows]
        if not rows or min(shape) < 1 or len(set(shape)) > 1 or sum(shape) > _MOST_CELLS:
            raise ConfigError(f"a grid has rows of one length and at most {_MOST_CELLS:,} cells, not {shape[:8]}")
        names = self._coordinates() if self.cell_names is None else _texts_in_rows("cell_names", self.cell_names)
        if [len(row) for row in names] != shape:
            raise ConfigError("cell_names must have the shape of the rows")
        object.__setattr__(self, "cell_names", names)
        if len(self.edges) not in (0, 4):
            raise ConfigError("edges are the pieces of the top, the right, the bottom and the left side")
        object.__setattr__(self, "edges", tuple(self.edges))

    def __iter__(self) -> Iterator[Sequence[str]]:
        """Yield the rows: a grid is read as they are."""
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> Sequence[str]:
        return self.rows[row]

    def _coordinates(self) -> tuple[tuple[str, ...], ...]:
        height, width = len(self.rows), len(self.rows[0])
        files = string.ascii_lowercase[:width] if width <= 26 else [f"c{column + 1}r" for column in range(width)]
        ranks = range(height, 0, -1) if self.origin == "bottom" else range(1, height + 1)
        return tuple(tuple(f"{file}{rank}" for file in files) for rank in ranks)

    def names(self) -> Iterator[str]:
        """Yield the names of the cells, row by row."""
        for row in self.cell_names or ():
            yield from row


@dataclass(frozen=True)
class Card:
    """A card: its face, such as `10♠`, or "" if it lies face down.

    >>> Card("10♠", note="monster").face
    '10♠'
    """

    face: str
    name: str = ""
    """What is touched to play it; "" if it cannot be touched."""
    note: str = ""
    """A word about it: `monster`."""

    def __post_init__(self) -> None:
        _refuse_other_texts(self)


@dataclass(frozen=True)
class Cards(Element):
    """Cards side by side, with a title: a hand, the open cards. A text is a card of that face and name.

    >>> Cards(["K♠", ""], "your hand").to_dict()["cards"][0]["face"]
    'K♠'
    """

    kind: ClassVar[str] = "cards"

    cards: Sequence[Card | str]
    title: str = ""

    def __post_init__(self) -> None:
        cards = tuple(card if isinstance(card, Card) else Card(card, card) for card in self.cards)
        object.__setattr__(self, "cards", _few("cards", cards))
        _refuse_other_texts(self)

    def names(self) -> Iterator[str]:
        """Yield the names of the cards."""
        for card in self.cards:
            if isinstance(card, Card) and card.name:
                yield card.name


@dataclass(frozen=True)
class Dice(Element):
    """Dice side by side; 0 is a die that is not rolled yet, and `name` is what is touched to roll them.

    >>> Dice([6, 2]).to_dict()["values"]
    (6, 2)
    """

    kind: ClassVar[str] = "dice"

    values: Sequence[int]
    title: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        values = _few("dice", tuple(self.values))
        object.__setattr__(self, "values", tuple(checks.whole("a die", int(value), 0, 1000) for value in values))
        _refuse_other_texts(self)

    def names(self) -> Iterator[str]:
        """Yield the name of the dice, if they can be touched."""
        if self.name:
            yield self.name


@dataclass(frozen=True)
class Pile:
    """Some equal pieces on each other: `count` times `piece`.

    >>> Pile(3, "X").count
    3
    """

    count: int
    piece: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", checks.whole("count", int(self.count), 0, 10**6))
        _refuse_other_texts(self)


@dataclass(frozen=True)
class Piles(Element):
    """Rows of piles, the top row first. With the style "points" they are those of backgammon.

    >>> list(Piles([[Pile(3, name="1"), Pile(5, name="2")]]).names())
    ['1', '2']
    """

    kind: ClassVar[str] = "piles"

    rows: Sequence[Sequence[Pile]]
    title: str = ""
    style: str = "heaps"
    """heaps or points."""

    def __post_init__(self) -> None:
        checks.one_of("style", self.style, ("heaps", "points"))
        rows = tuple(_few("piles", tuple(row)) for row in self.rows)
        if not all(isinstance(pile, Pile) for row in rows for pile in row):
            raise ConfigError("piles are given as rows of treetop.boards.Pile")
        object.__setattr__(self, "rows", rows)
        _refuse_other_texts(self)

    def names(self) -> Iterator[str]:
        """Yield the names of the piles."""
        for row in self.rows:
            for pile in row:
                if pile.name:
                    yield pile.name


@dataclass(frozen=True)
class Track(Element):
    """Markers on the way to a goal: scores, a race.

    >>> Track({"X": 12, "O": 40}, 100).to_dict()["markers"]
    {'X': 12.0, 'O': 40.0}
    """

    kind: ClassVar[str] = "track"

    markers: Mapping[str, float]
    length: float
    title: str = ""

    def __post_init__(self) -> None:
        checks.number("length", self.length, above=0)
        markers = {str(name): checks.number("a marker", float(place)) for name, place in self.markers.items()}
        object.__setattr__(self, "markers", dict(_few("markers", tuple(markers.items()))))
        _refuse_other_texts(self)


@dataclass(frozen=True)
class Shape:
    """A circle, line, box or text on a free layout; lengths are in the units of the layout, y grows downwards.

    A circle has the middle (x, y) and the radius `width`; a line goes from (x, y) to (x + width, y + height).

    >>> Shape("circle", 1, 2, 0.5).width
    0.5
    """

    kind: str
    x: float
    y: float
    width: float = 0.0
    height: float = 0.0
    text: str = ""
    player: int = -1
    """The player whose colour it has; -1 is none."""
    name: str = ""

    def __post_init__(self) -> None:
        checks.one_of("kind", self.kind, ("circle", "line", "box", "text"))
        for name in ("x", "y", "width", "height"):
            object.__setattr__(self, name, checks.number(name, float(getattr(self, name)), low=-1e6, high=1e6))
        checks.whole("player", self.player, -1, 100)
        _refuse_other_texts(self, "kind")


@dataclass(frozen=True)
class Shapes(Element):
    """A free layout of shapes, `width` by `height` units.

    >>> len(Shapes(2, 2, [Shape("circle", 1, 1, 0.5)]).shapes)
    1
    """

    kind: ClassVar[str] = "shapes"

    width: float
    height: float
    shapes: Sequence[Shape]
    title: str = ""

    def __post_init__(self) -> None:
        for name in ("width", "height"):
            checks.number(name, getattr(self, name), above=0)
        shapes = _few("shapes", tuple(self.shapes))
        if not all(isinstance(shape, Shape) for shape in shapes):
            raise ConfigError("shapes are given as treetop.boards.Shape")
        object.__setattr__(self, "shapes", shapes)
        _refuse_other_texts(self)

    def names(self) -> Iterator[str]:
        """Yield the names of the shapes."""
        for shape in self.shapes:
            if shape.name:
                yield shape.name


@dataclass(frozen=True)
class Table(Element):
    """Names and values in a small table: health, pot, score.

    >>> Table({"health": 20}).to_dict()["rows"]
    {'health': '20'}
    """

    kind: ClassVar[str] = "table"

    rows: Mapping[str, Any]
    title: str = ""

    def __post_init__(self) -> None:
        rows = {str(name): str(value)[:_LONGEST_TEXT] for name, value in self.rows.items()}
        object.__setattr__(self, "rows", dict(_few("rows", tuple(rows.items()))))
        _refuse_other_texts(self)


@dataclass(frozen=True)
class Text(Element):
    """A position as text, in letters of one width: what a game without `board` has.

    >>> Text("3 left").to_dict()
    {'kind': 'text', 'text': '3 left'}
    """

    kind: ClassVar[str] = "text"

    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", str(self.text)[:_LONGEST_TEXT])


@dataclass(frozen=True)
class Picture:
    """The parts of a position, from top to bottom.

    >>> picture = Picture.of([["", "X"], ["", ""]])
    >>> picture.path("a1b2")
    ['a1', 'b2']
    """

    parts: tuple[Element, ...]

    @classmethod
    def of(cls, given: Any) -> Picture:
        """Return the picture that a game describes: rows of cells, a part, or several; raise ConfigError for others."""
        if isinstance(given, Element):
            return cls((given,))
        if isinstance(given, list | tuple) and given:
            if all(isinstance(part, Element) for part in given):
                return cls(tuple(given))
            if all(isinstance(row, list | tuple) for row in given):
                return cls((Grid(given),))
        raise ConfigError(
            "a board is rows of texts, one for each cell, or parts of treetop.boards, such as Grid and Cards, not "
            f"{checks.shorten(given)}"
        )

    def rows(self) -> list[list[str]] | None:
        """Return the cells of its grid; None if it has none, or several."""
        grids = [part for part in self.parts if isinstance(part, Grid)]
        return [list(row) for row in grids[0].rows] if len(grids) == 1 else None

    def path(self, move: str) -> list[str]:
        """Return the names that are touched to make a move: those that occur in its text, in order."""
        names = sorted({name for part in self.parts for name in part.names()}, key=len, reverse=True)
        found, start = list[str](), 0
        while start < len(move):
            name = next((name for name in names if _stands_at(move, start, name)), None)
            if name is not None:
                found.append(name)
            start += len(name) if name else 1
        return found

    def to_dict(self) -> list[dict[str, Any]]:
        """Return plain values, ready for JSON."""
        return [part.to_dict() for part in self.parts]

    def svg(self) -> str:
        """Return the picture as SVG text: grids, cards, dice and layouts drawn, other parts as text.

        >>> Picture.of([["X", ""], ["", "O"]]).svg().startswith("<svg")
        True
        """
        from treetop.game.board_svg import svg_of

        return svg_of(self)

    def _repr_svg_(self) -> str:
        return self.svg()


def _stands_at(text: str, start: int, name: str) -> bool:
    """Return whether a name stands at a place of a text, and is not a part of a longer number or word there."""
    end = start + len(name)
    if text[start:end] != name:
        return False
    before, after = text[start - 1 : start], text[end : end + 1]
    same = (str.isdigit, str.isalpha) if name.isalpha() else (str.isdigit,)
    return not any((kind(before) and kind(name[0])) or (kind(after) and kind(name[-1])) for kind in same)


def _texts_in_rows(name: str, rows: Any) -> tuple[tuple[str, ...], ...]:
    found = tuple(tuple(row) for row in rows)
    if not all(isinstance(cell, str) for row in found for cell in row):
        raise ConfigError(f"{name} must be rows of texts, one for each cell, not {checks.shorten(rows)}")
    return found


def _few(what: str, things: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(things) > _MOST_THINGS:
        raise ConfigError(f"a part has at most {_MOST_THINGS:,} {what}, not {len(things):,}")
    return things


def _refuse_other_texts(part: Any, *known: str) -> None:
    """Raise ConfigError where a field that must be a text is not one."""
    texts: Iterable[str] = (field.name for field in fields(part) if field.type == "str" and field.name not in known)
    for name in texts:
        if not isinstance(getattr(part, name), str):
            raise ConfigError(f"{name} must be a text, not {checks.shorten(getattr(part, name))}")
