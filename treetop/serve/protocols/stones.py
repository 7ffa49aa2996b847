"""Stones on a board by the names of their points: handicaps, chains, and positions that are set up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from treetop.boards import Grid
from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.players.gtp import vertex_of

Points = Mapping[str, str]
"""The piece on each point, "" for none; the top row first."""


def points_of(position: Position) -> dict[str, str]:
    """Return the points of a board; raise ConfigError where a game has none.

    >>> import treetop as tt
    >>> [name for name, piece in points_of(tt.position("go(size=5)", moves="C3 pass D4")).items() if piece]
    ['D4', 'C3']
    """
    grid = _grid(position)
    names = [name for row in grid.cell_names or () for name in row]
    return dict(zip(names, (cell for row in grid.rows for cell in row), strict=True))


def set_up(game: Game, points: Points, player: int) -> Position:
    """Return a position with these stones and a player to move; raise ConfigError where a game reads no diagrams.

    >>> import treetop as tt
    >>> start = tt.position("go(size=5)")
    >>> set_up(start.game, {**points_of(start), "C3": "X"}, 1).player
    1
    """
    width = len(_grid(Position.start(game)).rows[0])
    cells = [piece or "." for piece in points.values()]
    rows = ["".join(cells[start : start + width]) for start in range(0, len(cells), width)]
    return Position.parse(game, "/".join([*rows, "XO"[player]]))


def with_turn(position: Position, player: int) -> Position:
    """Return the stones of a position with a player to move, as a game that begins there."""
    return set_up(position.game, points_of(position), player)


def of_other_rules(line: Sequence[Position], game: Game) -> list[Position]:
    """Return the positions of a game, played again by other rules with the same moves, such as another komi."""
    found = list[Position]()
    before: Position | None = None
    for old in line:
        known = 0 if before is None else len(before.actions)
        same = before is not None and bytes(before.start) == bytes(old.start)
        if same and before is not None and old.actions[:known] == before.actions:
            position, rest = found[-1], old.actions[known:]
        else:
            start = Position(old.game, old.start)
            position = set_up(game, points_of(start), start.player) if old.was_set_up else Position.start(game)
            rest = old.actions
        for action in rest:
            position = position.apply(action)
        found.append(position)
        before = old
    return found


def chains(points: Points, piece: str) -> list[list[str]]:
    """Return the chains of a player: stones that are connected along the lines.

    >>> chains({"A2": "X", "B2": "", "A1": "X", "B1": "O"}, "X")
    [['A2', 'A1']]
    """
    names = [name for name, found in points.items() if found == piece]
    places = {(name[0], int(name[1:])): name for name in names}
    found = list[list[str]]()
    letters = sorted({name[0] for name in points})
    while places:
        waiting, chain = [next(iter(places))], list[str]()
        while waiting:
            place = waiting.pop()
            if place not in places:
                continue
            chain.append(places.pop(place))
            column, row = letters.index(place[0]), place[1]
            beside = [letters[next_] for next_ in (column - 1, column + 1) if 0 <= next_ < len(letters)]
            waiting += [(place[0], row - 1), (place[0], row + 1), *((letter, row) for letter in beside)]
        found.append(chain)
    return found


def handicap(size: int, count: int) -> list[str]:
    """Return the points of a fixed handicap, as the Go Text Protocol has them; raise ConfigError for another number.

    >>> handicap(9, 3), handicap(19, 2)
    (['C3', 'G7', 'C7'], ['D4', 'Q16'])
    """
    most = most_handicap(size)
    if not 2 <= count <= most:
        raise ConfigError(f"a board of size {size} has a handicap of 2 to {most} stones, not {count}")
    low, middle = (2 if size < 13 else 3), size // 2
    high = size - 1 - low
    corners = [(low, low), (high, high), (low, high), (high, low)]
    sides = [(low, middle), (high, middle), (middle, low), (middle, high)]
    points = [*corners[:count], *sides[: max(0, count - 4) // 2 * 2]]
    if count in (5, 7, 9):
        points.append((middle, middle))
    return [vertex_of(*point) for point in points]


def most_handicap(size: int) -> int:
    """Return the most stones of a fixed handicap."""
    if size < 7:
        return 0
    return 9 if size % 2 and size > 7 else 4


def _grid(position: Position) -> Grid:
    grids = [part for part in position.picture().parts if isinstance(part, Grid)] if position.game.has("board") else []
    if len(grids) != 1:
        raise ConfigError(f"{position.game.name} has no board of points")
    return grids[0]
