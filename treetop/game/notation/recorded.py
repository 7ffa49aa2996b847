"""A recorded game: what the readers of PGN and SGF return and the writers take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from treetop.checks import one_of, shorten
from treetop.errors import ConfigError, IllegalMoveError, SaveError, TreetopError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.text import counted

WIN, LOSS, DRAW, UNKNOWN = "1-0", "0-1", "1/2-1/2", "*"
RESULTS = (WIN, LOSS, DRAW, UNKNOWN)
"""The results of a game of two players, as PGN writes them: the first number is that of the player who moves first."""
_ENDED_BY_CLAIM = ("chess", "shogi", "minishogi", "xiangqi")
"""Games that may go on after a repetition by other rules than ours: only their mates and stalemates are beyond dispute.
"""
_SCORED_BY_AGREEMENT = ("go",)
"""Games whose players may agree on another score than that of the stones on the board."""


def _none() -> Mapping[Any, Any]:
    return MappingProxyType({})


@dataclass(frozen=True)
class Variation:
    """A line that was noted beside the game, or beside another variation.

    >>> import treetop as tt
    >>> [game] = tt.records.parse_pgn("1. e4 e5 (1... c5 2. Nf3) *", variations=True)
    >>> game.variations[0].ply, game.variations[0].moves
    (1, ['c7c5', 'g1f3'])
    """

    end: Position
    """The position at its end; its actions are all actions from the start of the game."""
    ply: int
    """The number of actions before its first own one."""
    comments: Mapping[int, str] = field(default_factory=_none)
    nags: Mapping[int, tuple[int, ...]] = field(default_factory=_none)

    @property
    def moves(self) -> list[str]:
        """Its own moves as text."""
        return self.end.moves()[self.ply :]


@dataclass(frozen=True)
class RecordedGame:
    """A game in a file of games, or to be written to one. Only the position at its end is needed.

    >>> import treetop as tt
    >>> game = tt.records.RecordedGame(tt.position("chess", moves="e4 e5"), players=("Ada", "Charles"))
    >>> game.actions == game.end.actions, game.start == tt.position("chess"), game.result
    (True, True, '*')
    """

    end: Position
    """The position after the last move, with its history."""
    players: tuple[str, str] = ("?", "?")
    """The names of the players. The first one is the player who moves first in a game that was not set up: White in
    chess, Black in Go."""
    result: str = ""
    """`1-0` if the first player won, `0-1`, `1/2-1/2`, or `*` if it is unknown. Default: what the rules say."""
    tags: Mapping[str, str] = field(default_factory=_none)
    """Further tags by name: those of PGN (`Event`, `Date`, ...), or properties of SGF (`EV`, `DT`, `RE`, ...)."""
    comments: Mapping[int, str] = field(default_factory=_none)
    """Comments by the number of actions before them: 0 is at the start."""
    nags: Mapping[int, tuple[int, ...]] = field(default_factory=_none)
    """Numeric annotation glyphs by the number of actions before them: 1 is a good move, 2 a bad one, and so on."""
    variations: tuple[Variation, ...] = ()
    """Other lines, if they were asked for."""
    notes: tuple[str, ...] = ()
    """What the reader has left out or found odd."""
    source: str = ""
    """Where it was read: the file, the number of the game and the line."""

    def __post_init__(self) -> None:
        if not self.result:
            object.__setattr__(self, "result", result_of(self.end))
        one_of("result", self.result, RESULTS)

    @property
    def game(self) -> Game:
        """The game that was played."""
        return self.end.game

    @property
    def start(self) -> Position:
        """The position at which it began."""
        return Position(self.end.game, self.end.start)

    @property
    def actions(self) -> tuple[Any, ...]:
        """The actions from the start."""
        return self.end.actions

    def positions(self) -> list[Position]:
        """Return the positions from the start to the end."""
        return self.end.positions()


def result_of(position: Position) -> str:
    """Return the result by the rules; `*` if the game is not over.

    >>> import treetop as tt
    >>> result_of(tt.position("chess", moves="f3 e5 g4 Qh4"))
    '0-1'
    """
    if not position.is_terminal:
        return UNKNOWN
    first, second = position.returns[:2]
    return DRAW if first == second else WIN if first > second else LOSS


def require_recordable(game: Game) -> None:
    """Raise ConfigError for a game whose records would need more than moves in turns."""
    lacking = (
        "two players" if game.facts.players != 2 else
        "no chance" if game.facts.num_outcomes is not None else
        "moves in turns" if game.has("apply_joint") else
        "moves that can be listed" if game.facts.action_size is not None else
        "perfect information" if game.has("determinize") else ""
    )  # fmt: skip
    if lacking:
        raise ConfigError(f"PGN and SGF hold games with {lacking}; {game.name} is none: save a match as .jsonl")


def setup_text(position: Position) -> str:
    """Return a position in one line that `Position.parse` reads: the game's own, such as a FEN, or the diagram.

    >>> import treetop as tt
    >>> setup_text(tt.position("xiangqi"))
    'rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1'
    >>> setup_text(tt.position("connect_four", moves="4"))[:19]
    '. . . . . . ./. . .'
    """
    game = position.game
    if game.has("setup_text"):
        return position.setup_text()
    text = "/".join(" ".join(line.split()) for line in str(position).splitlines())
    if game.has("parse"):
        try:
            if Position.parse(game, text) == Position(game, position.record):
                return text
        except TreetopError:
            pass
    raise ConfigError(f"{game.name} cannot write a position as text that it reads again, so only whole games are saved")


class Replay:
    """The moves of a record, played by the rules. `where` names the game in errors."""

    def __init__(self, start: Position, where: str) -> None:
        self.position, self.where = start, where
        self.left_out = 0
        """The moves after the end of the game, which are not played."""

    def fork(self, position: Position) -> Replay:
        """Return a replay that goes on from another position of the game."""
        return Replay(position, self.where)

    def play(self, action: Any, name: str, line: int) -> bool:
        """Play a move, given as text or action; return whether it was played, or else left out after the end."""
        position = self.position
        if position.is_terminal:
            if not _may_go_on(position):
                raise SaveError(
                    f"{self.where}, line {line}: {name} comes after the end of the game "
                    f"({len(position.actions)} moves): remove what follows the end"
                )
            self.left_out += 1
            return False
        try:
            self.position = position.apply(position.parse_move(action) if isinstance(action, str) else action)
        except IllegalMoveError:
            raise SaveError(
                f"{self.where}, line {line}: {name} is not a legal move{_shown(position)}: correct the record, or "
                "skip the game"
            ) from None
        return True

    def notes(self, claimed: str) -> tuple[str, ...]:
        """Return what is odd about the end; raise SaveError if the claimed result contradicts the rules."""
        end, notes = self.position, []
        by_rules = result_of(end)
        if self.left_out:
            notes.append(
                f"by the rules the game is over after {counted(len(end.actions), 'move')} ({by_rules}); left out: "
                f"{counted(self.left_out, 'further move')}"
            )
        if claimed != UNKNOWN and by_rules not in (UNKNOWN, claimed):
            text = f"the record says {claimed}, by the rules the last position is {by_rules}"
            if not _may_go_on(end):
                raise SaveError(f"{self.where}: {text}: correct the result, or skip the game")
            if not self.left_out:
                notes.append(text)
        return tuple(notes)


def _may_go_on(position: Position) -> bool:
    """Return whether a game that is over by our rules may go on, or be scored otherwise, by those of others."""
    family = position.game.family
    if family in _ENDED_BY_CLAIM:
        out = np.zeros(position.game.facts.num_actions, np.int32)
        return int(position.state.legal_actions(out)) > 0
    return family in _SCORED_BY_AGREEMENT


def _shown(position: Position) -> str:
    try:
        return f" in {shorten(setup_text(position))}"
    except ConfigError:
        return f" after {counted(len(position.actions), 'move')}"


def collected(games: Iterator[RecordedGame | SaveError], skipped: list[SaveError] | None) -> Iterator[RecordedGame]:
    """Yield the games; raise the first error, or append errors to `skipped`."""
    for game in games:
        if isinstance(game, RecordedGame):
            yield game
        elif skipped is None:
            raise game
        else:
            skipped.append(game)


def recorded(game: RecordedGame | Position) -> RecordedGame:
    """Return a recorded game, made of a position if it is one."""
    return RecordedGame(game) if isinstance(game, Position) else game
