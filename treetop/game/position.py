"""A position: a state with its game and its history, for people. Immutable; everything here is plain Python."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from treetop.errors import ConfigError, GameError, IllegalMoveError
from treetop.game.definition import Game


class Position:
    """A point in a game. `play` and `apply` return the next one and leave this one as it is.

    >>> import treetop
    >>> start = treetop.position("nim(stones=5)")
    >>> start.play("2").legal_moves()
    ['1', '2', '3']
    """

    __slots__ = ("actions", "game", "record", "start")

    def __init__(
        self, game: Game, record: np.ndarray[Any, Any] | None = None, actions: tuple[int, ...] = (), start: np.ndarray[Any, Any] | None = None
    ) -> None:
        self.game = game
        self.record = _frozen(start_record(game) if record is None else record)
        """The state as an array of one record; read-only."""
        self.actions = actions
        """What was played since `start`."""
        self.start = (self.record if not actions else _frozen(start_record(game))) if start is None else _frozen(start)
        """The record from which the actions were played: the game's start, or a set-up."""

    @classmethod
    def parse(cls, game: Game, text: str) -> Position:
        """Set up a position from a diagram, for games that can read one."""
        if not game.has("parse"):
            raise ConfigError(f"{game.name} cannot read a diagram: its class has no method `parse`")
        state = game()
        try:
            state.parse(text)
        except ValueError as error:
            raise ConfigError(f"this is no position of {game.name}: {error}") from error
        return cls(game, state._states)

    @property
    def state(self) -> Any:
        """A copy of the state, as an object of the game's own class."""
        return self.game.view(self.record.copy(), 0)

    @property
    def player(self) -> int:
        """Whose turn it is."""
        return int(self.state.current_player())

    @property
    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return bool(self.state.is_terminal())

    @property
    def rewards(self) -> list[float]:
        """What each player receives; the game must be over."""
        if not self.is_terminal:
            raise GameError(f"the game is not over, so there are no rewards yet\n{self}")
        out = np.zeros(self.game.facts.players)
        self.state.rewards(out)
        return [float(reward) for reward in out]

    def legal_actions(self) -> list[int]:
        """The actions that the player to move may choose; none when the game is over."""
        if self.is_terminal:
            return []
        out = np.zeros(self.game.facts.num_actions, np.int32)
        count = int(self.state.legal_actions(out))
        return [int(action) for action in out[:count]]

    def legal_moves(self) -> list[str]:
        """The legal actions, as people write them."""
        return [self.move_text(action) for action in self.legal_actions()]

    def apply(self, action: int) -> Position:
        """The position after an action."""
        if isinstance(action, bool) or not isinstance(action, (int, np.integer)) or action not in self.legal_actions():
            raise IllegalMoveError(f"{action!r} is not a legal action here{self._choices()}\n{self}")
        state = self.state
        state.apply(int(action))
        return Position(self.game, state._states, (*self.actions, int(action)), self.start)

    def play(self, moves: str | int | Iterable[str | int]) -> Position:
        """The position after one or more moves, given as text ("4 4 5"), actions, or a list of either."""
        position = self
        for move in _split(moves):
            position = position.apply(position.parse_move(move) if isinstance(move, str) else move)
        return position

    def move_text(self, action: int) -> str:
        """How people write an action here."""
        if self.game.has("move_text"):
            return str(self.state.move_text(int(action)))
        return str(int(action))

    def parse_move(self, text: str) -> int:
        """The legal action that a text names."""
        wanted = text.strip()
        legal = self.legal_actions()
        if self.game.has("parse_move"):
            try:
                action = int(self.state.parse_move(wanted))
            except (ValueError, IndexError, KeyError):
                action = -1
            if action in legal:
                return action
        for action in legal:
            if self.move_text(action).lower() == wanted.lower():
                return action
        raise IllegalMoveError(f"{text!r} is not a legal move here{self._choices()}\n{self}")

    def moves(self) -> list[str]:
        """The history, as people write it. A position that was set up has only what was played since."""
        names: list[str] = []
        state = self.game.view(self.start.copy())
        for action in self.actions:
            names.append(Position(self.game, state._states).move_text(action))
            state.apply(action)
        return names

    @property
    def was_set_up(self) -> bool:
        """Whether the history begins at a set-up instead of the game's start."""
        return bool(self.start != start_record(self.game))

    def _choices(self) -> str:
        moves = self.legal_moves()
        if not moves:
            return ": the game is over"
        shown = ", ".join(moves[:30]) + (f" and {len(moves) - 30} more" if len(moves) > 30 else "")
        return f"; the legal moves are {shown}"

    def board(self) -> list[list[str]] | None:
        """The board as rows of cells, for games that have one."""
        return self.state.board() if self.game.has("board") else None

    def __str__(self) -> str:
        if self.game.has("render"):
            return str(self.state.render())
        rows = self.board()
        if rows is not None:
            return "\n".join(" ".join(cell or "." for cell in row) for row in rows)
        return repr(self.state)

    def __repr__(self) -> str:
        return f"<position of {self.game.name} after {len(self.actions)} moves>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self.game is other.game and bool(self.record == other.record)

    def __hash__(self) -> int:
        return hash(self.record.tobytes())


def _frozen(record: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if record.flags.writeable:
        record = record.copy()
        record.flags.writeable = False
    return record


def start_record(game: Game) -> np.ndarray[Any, Any]:
    """The record of a game's start. Nothing is left to chance in it: `deal` is for games that deal."""
    states = np.zeros(1, game.dtype)
    game.view(states).reset()
    return states


def _split(moves: str | int | Iterable[str | int]) -> list[str | int]:
    if isinstance(moves, str):
        return [move for move in re.split(r"[\s,;]+", moves) if move]
    return [moves] if isinstance(moves, (int, np.integer)) else list(moves)
