"""Openings from a file or a list: lines of moves, positions, or positions with moves after them.

::

    # a comment
    e2e4 e7e5 g1f3                      # moves from the start of the game, by any text that the game reads
    4k3/8/8/8/8/8/4P3/4K3 w - - 0 1     # a position: FEN, EPD, SFEN, or a diagram in one line
    4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 moves e2e4 e8e7

Files that end with .pgn or .sgf hold whole games, of which the first moves are used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from treetop import checks
from treetop.arena.seeds import BOOK, derive
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, IllegalMoveError, TreetopError
from treetop.files import read_bytes
from treetop.game.definition import Game
from treetop.game.moves import split_moves
from treetop.game.notation.pgn import read_pgn
from treetop.game.notation.recorded import setup_text
from treetop.game.notation.sgf import read_sgf
from treetop.game.position import Position

ORDERS = ("file", "random")
_MOVES = " moves "
_MOST_BYTES = 100_000_000
_PLIES_OF_GAMES = 16
_READERS = {".pgn": read_pgn, ".sgf": read_sgf}


class Opening(NamedTuple):
    """An opening: where it begins, and the moves played from there."""

    actions: tuple[Any, ...]
    setup: str | None = None
    """The position at which it begins, as text; None: the start of the game."""


def at_opening(start: Position, opening: Opening) -> Position:
    """Return the position after an opening; `start` is where it begins unless it was set up.

    >>> import treetop as tt
    >>> at_opening(tt.position("tic_tac_toe"), Opening((4,))).moves()
    ['b2']
    """
    begin = start if opening.setup is None else Position.parse(start.game, opening.setup)
    return begin.play(opening.actions)


@dataclass(frozen=True)
class Book:
    """Openings to be used in turn, each for a pair of games; after the last one they begin again.

    >>> import treetop as tt
    >>> book = read_book(["a1 b2", "b2 a1 # another one"], tt.load_game("tic_tac_toe"))
    >>> len(book.openings), book.openings[0].actions
    (2, (0, 4))
    """

    openings: tuple[Opening, ...]
    order: str = "file"
    """`file`: in the order of the file; `random`: in an order drawn by the seed of the match, another one each time."""

    def __post_init__(self) -> None:
        checks.one_of("the order of openings", self.order, ORDERS)

    def to_dict(self, game: Game) -> dict[str, Any]:  # noqa: ARG002 - as for openings that are made
        """Return plain values for a match's file: a digest of the openings, which every game of the file contains."""
        content = json.dumps([[opening.setup, list(opening.actions)] for opening in self.openings])
        digest = hashlib.sha256(content.encode()).hexdigest()[:16]
        return {"book": digest, "openings": len(self.openings), "order": self.order}

    def chooser(self, game: Game, seed: int, known: Mapping[int, Opening]) -> Callable[[int], Opening]:  # noqa: ARG002
        """Return the function that gives the opening of each pair."""
        orders: dict[int, list[int]] = {}

        def choose(pair: int) -> Opening:
            cycle, place = divmod(pair, len(self.openings))
            if cycle not in orders:
                orders[cycle] = self._order(seed, cycle)
            return self.openings[orders[cycle][place]]

        return choose

    def _order(self, seed: int, cycle: int) -> list[int]:
        order = list(range(len(self.openings)))
        if self.order == "random":
            rng = Rng(derive(seed, BOOK, cycle))
            for last in range(len(order) - 1, 0, -1):
                other = rng.below(last + 1)
                order[last], order[other] = order[other], order[last]
        return order


def read_book(source: str | Path | Sequence[str], game: Game, *, order: str = "file", plies: int | None = None) -> Book:
    """Return the openings of a file, or of a list of lines as in such a file. Openings that occur twice are used once.

    `plies` is the most moves of each opening that are played (default: all, and 16 of a game in PGN or SGF). A line
    that the rules do not allow is a `ConfigError` with the line and the move.

    >>> import treetop as tt
    >>> read_book(["a1 b2 c3"], tt.load_game("tic_tac_toe"), plies=2).openings
    (Opening(actions=(0, 4), setup=None),)
    >>> read_book(["a1 a1"], tt.load_game("tic_tac_toe"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    treetop.errors.ConfigError: the openings, line 1: move 2, 'a1' is not a legal move here; ...
    """
    checks.whole("the most moves of an opening", plies, 0, optional=True)
    if isinstance(source, (str, Path)):
        name, path = str(source), Path(source)
        if path.suffix.lower() in _READERS:
            found = _from_games(path, game, _PLIES_OF_GAMES if plies is None else plies)
        else:
            found = _from_lines(_lines_of(path), game, name, plies)
    else:
        name = "the openings"
        found = _from_lines(_texts(source), game, name, plies)
    openings = tuple(dict.fromkeys(found))
    if not openings:
        raise ConfigError(f"{name} has no opening: write one in each line, such as moves from the start of {game.name}")
    return Book(openings, order)


def _texts(lines: Sequence[str]) -> Sequence[str]:
    if not all(isinstance(line, str) for line in lines):
        raise ConfigError(f"openings must be a file or a list of texts, not {checks.shorten(lines)}")
    return lines


def _lines_of(path: Path) -> list[str]:
    content = read_bytes(path)
    if len(content) > _MOST_BYTES:
        raise ConfigError(f"{path} has {len(content):,} bytes, and a file of openings at most {_MOST_BYTES:,}")
    try:
        return content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not text in UTF-8: {error.reason} at byte {error.start}") from None


def _from_lines(lines: Iterable[str], game: Game, name: str, plies: int | None) -> Iterator[Opening]:
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            yield _opening(text, game, plies)
        except TreetopError as error:
            reason, _, board = str(error).partition("\n")
            raise ConfigError(
                f"{name}, line {number}: {reason}; correct the line, or begin it with # to leave it out"
                + (f"\n{board}" if board else "")
            ) from None


def _from_games(path: Path, game: Game, plies: int) -> Iterator[Opening]:
    """Yield the beginnings of recorded games, without those that are over by then."""
    for recorded in _READERS[path.suffix.lower()](path, game=game):
        actions = recorded.actions[:plies]
        if not recorded.start.play(actions).is_terminal:
            is_set_up = recorded.end.was_set_up or game.has("deal")
            yield Opening(actions, setup_text(recorded.start) if is_set_up else None)


def _opening(text: str, game: Game, plies: int | None) -> Opening:
    """Return the opening of a line."""
    setup, separator, moves = text.partition(_MOVES)
    start = Position(game)
    if separator or _is_position(text, start):
        setup = " ".join(setup.split())
        if ";" in setup:  # of an EPD with operations, the position is the first four words
            setup = " ".join(setup.split()[:4])
        start = Position.parse(game, setup)
        return Opening(_played(start, moves, plies), setup)
    if game.has("deal"):
        raise ConfigError(
            f"{game.name} deals its start, so moves need a position before them: POSITION moves {checks.shorten(text)}"
        )
    return Opening(_played(start, text, plies))


def _is_position(text: str, start: Position) -> bool:
    """Return whether a line is a position: it has ranks between slashes and does not begin with a legal move."""
    if "/" not in text or not start.game.has("parse"):
        return False
    try:
        start.parse_move(split_moves(text)[0])
    except IllegalMoveError:
        return True
    return False


def _played(start: Position, text: str, plies: int | None) -> tuple[Any, ...]:
    """Return the actions of moves as text, the first `plies` of them."""
    position = start
    words = split_moves(text)
    comment = next((place for place, word in enumerate(words) if word.startswith("#")), len(words))
    for number, word in enumerate(words[:comment][:plies], start=1):
        try:
            position = position.play(word)
        except IllegalMoveError as error:
            raise ConfigError(f"move {number}, {error!s}") from None
    if position.is_terminal:
        raise ConfigError(f"the game is over after the {len(position.actions)} moves of the opening: use fewer")
    return position.actions
