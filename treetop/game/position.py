"""A position: a state with its game and its history, for people. Immutable; everything here is plain Python."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

import numpy as np

from treetop import checks
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, GameError, IllegalMoveError
from treetop.game.boards import Picture
from treetop.game.contract import call, call_whole, state_text
from treetop.game.definition import Game
from treetop.game.lines import users_line
from treetop.game.moves import action_of, choices, split_moves, text_of, turn_text
from treetop.game.pictures import picture_of
from treetop.game.start import first_record, frozen, start_record
from treetop.text import html_board, html_lines
from treetop.types import CHANCE, SIMULTANEOUS

_SHOWN = 20  # the number of actions that an error lists


class _Start:
    """`Position.start(game, rng)` is a new game; `position.start` is the first record of a position's history."""

    @overload
    def __get__(self, position: None, owner: type[Position]) -> Callable[..., Position]: ...
    @overload
    def __get__(self, position: Position, owner: type[Position]) -> np.ndarray[Any, Any]: ...

    def __get__(self, position: Position | None, owner: type[Position]) -> Any:
        return begin if position is None else position._start


class Position:
    """A state with its game and its history. `play` and `apply` return the next position; positions never change.

    If `player` is `CHANCE`, the actions are outcomes of chance. If it is `SIMULTANEOUS`, an action is a tuple with one
    action for each player. A continuous action is a tuple of numbers.

    >>> import treetop
    >>> start = treetop.position("nim(stones=5)")
    >>> start.play("2").legal_moves()
    ['1', '2', '3']
    """

    __slots__ = ("_is_terminal", "_legal", "_player", "_start", "actions", "game", "record")

    start = _Start()
    """Of a position: the record from which the actions were played: the initial state, a deal, or a set-up.
    Of the class: `Position.start(game, rng)` returns the initial position, dealt by `rng` if the game has `deal`."""

    def __init__(
        self,
        game: Game,
        record: np.ndarray[Any, Any] | None = None,
        actions: tuple[Any, ...] = (),
        start: np.ndarray[Any, Any] | None = None,
    ) -> None:
        self.game = game
        self.record = frozen(first_record(game) if record is None else record)
        """The state as an array of one record; read-only."""
        self.actions = actions
        """The actions since `start`: whole numbers, and tuples for simultaneous moves and continuous actions."""
        self._start = (self.record if not actions else frozen(start_record(game))) if start is None else frozen(start)
        # What the game says of this state, once it was asked.
        self._is_terminal: bool | None = None
        self._player: int | None = None
        self._legal: tuple[int, ...] | None = None

    @classmethod
    def parse(cls, game: Game, text: str) -> Position:
        """Return the position of a diagram, in games with a method `parse`."""
        if not game.has("parse"):
            raise ConfigError(f"{game.name} cannot read a diagram: its class has no method `parse`")
        state = game()
        try:
            state.parse(text)
        except (ValueError, IndexError, KeyError) as error:
            raise ConfigError(f"this is not a position of {game.name}: {error}") from error
        except Exception as error:
            why = f"{type(error).__name__}: {error}\n  {users_line(error)}"
            raise GameError(f"{game.name}.parse fails: {why}") from error
        return cls(game, state._states)

    # Properties of the position.

    @property
    def state(self) -> Any:
        """A copy of the state, as an object of the game's class."""
        return self.game.view(self.record.copy(), 0)

    @property
    def player(self) -> int:
        """The player to move, or `CHANCE` or `SIMULTANEOUS`."""
        if self._player is None:
            state = self.state
            player, facts = call_whole(self.game, state, "current_player"), self.game.facts
            kinds = {CHANCE: facts.num_outcomes is not None, SIMULTANEOUS: self.game.has("apply_joint")}
            if not (0 <= player < facts.players or kinds.get(player, False)):
                raise GameError(
                    f"{self.game.name}.current_player gave {player}; players are 0 to {facts.players - 1}\n"
                    f"in {state_text(state)}"
                )
            self._player = player
        return self._player

    @property
    def is_terminal(self) -> bool:
        """Whether the game is over."""
        if self._is_terminal is None:
            self._is_terminal = bool(call_whole(self.game, self.state, "is_terminal"))
        return self._is_terminal

    @property
    def is_continuous(self) -> bool:
        """Whether the actions here are continuous."""
        return self.game.facts.action_size is not None and self.player not in (CHANCE, SIMULTANEOUS)

    @property
    def rewards(self) -> list[float]:
        """The final reward of each player; the game must be over. `returns` includes the immediate rewards."""
        if not self.is_terminal:
            raise GameError(f"there are no final rewards yet: the game is not over\n{self}")
        return self._call_vector("rewards")

    @property
    def step_rewards(self) -> list[float]:
        """The immediate rewards of the last action; zeros at the start and in games without immediate rewards."""
        if not self.actions or not self.game.has("step_rewards"):
            return [0.0] * self.game.facts.players
        return self._call_vector("step_rewards")

    @property
    def returns(self) -> list[float]:
        """The total reward of each player since `start`: immediate rewards, and the final ones if the game is over."""
        total = np.zeros(self.game.facts.players)
        if self.game.has("step_rewards"):
            for position in self.positions():
                total += position.step_rewards
        if self.is_terminal:
            total += self.rewards
        return [float(reward) for reward in total]

    def _call_vector(self, method: str) -> list[float]:
        out = np.zeros(self.game.facts.players)
        call(self.game, self.state, method, out)
        return [float(reward) for reward in out]

    def information(self, player: int) -> int:
        """Return the key of a player's information set: equal for positions that the player cannot distinguish."""
        if not self.game.has("information"):
            raise GameError(f"{self.game.name} has perfect information: its class has no method `information`")
        return call_whole(self.game, self.state, "information", self._seat(player)) & (2**64 - 1)

    def determinize(self, player: int, rng: Rng | int) -> Position:
        """Return a determinization: a position of the same information set, with hidden information drawn at random.

        Its history is empty, because the history may reveal hidden information. If the game's `determinize` changes
        the player's information set, a `GameError` is raised.
        """
        seat, state = self._seat(player), self.state
        if self.game.has("determinize"):
            call(self.game, state, "determinize", seat, _generator(rng))
        drawn = Position(self.game, state._states)
        if drawn._known_to(seat) != self._known_to(seat):
            raise GameError(
                f"{self.game.name}: determinize({seat}, rng) changed the information, the turn or the legal actions of "
                f"player {seat}; treetop.check finds a short game that shows it\n{self.shown_to(seat)}"
            )
        return drawn

    def _known_to(self, seat: int) -> tuple[Any, ...]:
        """Return what must be equal in all positions of a player's information set."""
        information = self.information(seat) if self.game.has("information") else None
        if self.game.facts.action_size or self.is_terminal:
            return information, self.player
        return information, self.player, self.legal_actions(seat)

    def _seat(self, player: int) -> int:
        if (
            isinstance(player, bool)
            or not isinstance(player, (int, np.integer))
            or not 0 <= player < self.game.facts.players
        ):
            raise ConfigError(f"the players of {self.game.name} are 0 to {self.game.facts.players - 1}, not {player!r}")
        return int(player)

    # Actions.

    @overload
    def legal_actions(self, player: None = None) -> list[Any]: ...
    @overload
    def legal_actions(self, player: int) -> list[int]: ...

    def legal_actions(self, player: int | None = None) -> list[Any]:
        """Return all legal actions: those of the player to move, outcomes of chance, or all tuples of joint actions.

        With `player`, return only that player's legal actions. The list is empty if it is not the player's turn or if
        the game is over.
        """
        seat = None if player is None else self._seat(player)
        if self.is_terminal:
            return []
        mover = self.player
        if mover == SIMULTANEOUS:
            if seat is not None:
                return self._listed("legal_actions_of", seat)
            return list(itertools.product(*(self.legal_actions(seat) for seat in range(self.game.facts.players))))
        if seat is not None and seat != mover:
            return []
        if mover == CHANCE and self.game.facts.num_outcomes is not None:
            return [outcome for outcome, _ in self.outcomes()]
        if self.game.facts.action_size is not None:
            raise GameError(
                f"{self.game.name} has continuous actions, which cannot be listed: draw one by `sample_action`"
            )
        if self._legal is None:
            self._legal = tuple(self._listed("legal_actions"))
        return list(self._legal)

    def _listed(self, method: str, *arguments: Any) -> list[int]:
        state, size = self.state, self.game.facts.num_actions
        out = np.zeros(size, np.int32)
        count = call_whole(self.game, state, method, *arguments, out)
        found = [int(action) for action in out[: max(count, 0)]]
        if not 1 <= count <= size or not all(0 <= action < size for action in found) or len(set(found)) < count:
            raise GameError(
                f"{self.game.name}.{method} gave {count} actions, {found[:_SHOWN]}; there must be 1 to {size} "
                f"different ones from 0 to {size - 1}\nin {state_text(state)}"
            )
        return found

    def legal_moves(self, player: int | None = None) -> list[str]:
        """Return the legal actions as text."""
        return [self.move_text(action) for action in self.legal_actions(player)]

    def outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of chance with their probabilities; an empty list if this is not a chance node."""
        size = self.game.facts.num_outcomes
        if size is None or self.is_terminal or self.player != CHANCE:
            return []
        actions, probabilities = np.zeros(size, np.int32), np.zeros(size)
        count = call_whole(self.game, self.state, "chance_outcomes", actions, probabilities)
        if not 1 <= count <= size:
            raise GameError(
                f"{self.game.name}.chance_outcomes gave {count} outcomes; there must be 1 to {size}\n"
                f"in {state_text(self.state)}"
            )
        return [
            (int(action), float(probability))
            for action, probability in zip(actions[:count], probabilities, strict=False)
        ]

    def draw_outcome(self, rng: Rng | int) -> int:
        """Return an outcome of chance, drawn from the game's probabilities by a generator or a seed."""
        rng = _generator(rng)
        outcomes = self.outcomes()
        if not outcomes:
            raise GameError(f"this position is not a chance node, so there is no outcome to draw\n{self}")
        if self.game.has("random_outcome"):
            return call_whole(self.game, self.state, "random_outcome", rng)
        left = rng.random() * math.fsum(probability for _, probability in outcomes)
        for outcome, probability in outcomes:
            left -= probability
            if left < 0:
                return outcome
        return outcomes[-1][0]

    def sample_action(self, rng: Rng | int) -> Any:
        """Return a random action: a continuous one by the game's `sample_action`, any other one uniformly.

        At a chance node the outcome is drawn from the game's probabilities.
        """
        rng = _generator(rng)
        if self.is_terminal:
            raise IllegalMoveError(f"there is no action to draw{choices(self)}\n{self}")
        if not self.is_continuous:
            legal = self.legal_actions()
            return self.draw_outcome(rng) if self.player == CHANCE else legal[rng.below(len(legal))]
        out = np.zeros(self.game.facts.action_size or 1)
        call(self.game, self.state, "sample_action", rng, out)
        return tuple(float(value) for value in out)

    def resolve_chance(self, rng: Rng | int) -> Position:
        """Return the position after random outcomes of chance, up to a player's turn or the end of the game.

        `rng` is a generator or a seed.
        """
        rng = _generator(rng)
        position: Position = self
        for _ in range(self.game.facts.max_length + 1):
            if position.is_terminal or position.player != CHANCE:
                return position
            position = position.apply(position.draw_outcome(rng))
        name, most = self.game.name, self.game.facts.max_length
        raise GameError(f"{name} has more outcomes of chance in a row than max_length = {most}\n{position}")

    def apply(self, action: Any) -> Position:
        """Return the position after an action, an outcome of chance, simultaneous moves or a continuous action."""
        if self.is_terminal:
            self._refuse(action)
        state, mover = self.state, self.player
        if mover == SIMULTANEOUS:
            made: Any = self._joint_action(action)
            call(self.game, state, "apply_joint", np.array(made, np.int64))
        elif self.game.facts.action_size is not None and mover != CHANCE:
            made = self._vector(action)
            call(self.game, state, "apply_vector", np.array(made, np.float64))
        else:
            made = int(action) if _is_whole(action) and action in self.legal_actions() else self._refuse(action)
            call(self.game, state, "apply", made)
        return Position(self.game, state._states, (*self.actions, made), self._start)

    def followed_by(
        self, action: int, record: np.ndarray[Any, Any], over: bool, player: int, legal: Sequence[int] | None
    ) -> Position:
        """Return the position after an action, with what compiled code of the game has found there.

        What does not meet the requirements of games is left out, so that the interpreted game is asked, which raises
        the error.
        """
        record.flags.writeable = False
        following = Position(self.game, record, (*self.actions, action), self._start)
        facts = self.game.facts
        following._is_terminal = over
        if not over and 0 <= player < facts.players and legal is not None:
            following._player = player
            if len(legal) == len(set(legal)) and min(legal) >= 0 and max(legal) < facts.num_actions:
                following._legal = tuple(legal)
        return following

    def _joint_action(self, action: Any) -> tuple[int, ...]:
        parts = list(action) if isinstance(action, (Sequence, np.ndarray)) and not isinstance(action, str) else []
        seats = range(self.game.facts.players)
        if len(parts) != len(seats) or not all(
            _is_whole(parts[seat]) and parts[seat] in self.legal_actions(seat) for seat in seats
        ):
            self._refuse(action)
        return tuple(int(part) for part in parts)

    def _vector(self, action: Any) -> tuple[float, ...]:
        parts = list(action) if isinstance(action, (Sequence, np.ndarray)) and not isinstance(action, str) else []
        numbers = [
            float(part) for part in parts if isinstance(part, (int, float, np.number)) and not isinstance(part, bool)
        ]
        if (
            len(numbers) != len(parts)
            or len(parts) != self.game.facts.action_size
            or not all(map(math.isfinite, numbers))
        ):
            self._refuse(action)
        return tuple(numbers)

    def _refuse(self, action: Any) -> Any:
        raise IllegalMoveError(f"{action!r} is not a legal action here{choices(self)}\n{self}")

    def play(self, moves: str | int | Iterable[Any]) -> Position:
        """Return the position after one or more moves, given as text ("4 4 5"), actions, or a list of either."""
        position = self
        for move in split_moves(moves):
            position = position.apply(position.parse_move(move) if isinstance(move, str) else move)
        return position

    # Text.

    def move_text(self, action: Any) -> str:
        """Return an action as text; at a chance node an outcome, by the game's `outcome_text`.

        >>> import treetop
        >>> start = treetop.position("backgammon")
        >>> [start.move_text(outcome) for outcome, _ in start.outcomes()]
        ['X', 'O']
        """
        return text_of(self, action)

    def parse_move(self, text: str, player: int | None = None) -> Any:
        """Return the legal action that a text describes. With simultaneous moves, `player` is the one who makes it."""
        return action_of(self, text, player)

    def moves(self) -> list[str]:
        """Return the history as text. That of a position that was set up starts at the set-up."""
        return [one.move_text(action) for one, action in zip(self.positions(), self.actions, strict=False)]

    def positions(self) -> list[Position]:
        """Return the positions of the history, from the start to this one. Legality is not checked again.

        >>> import treetop
        >>> [str(one.player) for one in treetop.position("nim", moves="2 1").positions()]
        ['0', '1', '0']
        """
        positions, state = [Position(self.game, self._start)], self.game.view(self._start.copy())
        for number, action in enumerate(self.actions, start=1):
            make(state, action)
            positions.append(Position(self.game, state._states, self.actions[:number], self._start))
        return positions

    @property
    def was_set_up(self) -> bool:
        """Whether the history starts at a deal or a set-up instead of the game's initial state."""
        return bool(self._start != start_record(self.game))

    def setup_text(self) -> str:
        """Return the position as one line that engines and `parse` read: FEN, or SFEN in shogi. Its history is lost.

        >>> import treetop
        >>> treetop.position("chess", moves="e4 c5").setup_text()
        'rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2'
        """
        if not self.game.has("setup_text"):
            raise ConfigError(f"{self.game.name} cannot write a position as text: its class has no method `setup_text`")
        return str(call(self.game, self.state, "setup_text"))

    def picture(self, player: int | None = None) -> Picture:
        """Return what the position looks like, as data; with `player`, without what is hidden from that player."""
        return picture_of(self, None if player is None else self._seat(player))

    def board(self) -> list[list[str]] | None:
        """Return the board as rows of cells, or None if the game has no board, or none of cells."""
        return self.picture().rows() if self.game.has("board") else None

    def summary(self) -> dict[str, Any]:
        """Return statistics of the position by name, such as the largest tile; empty if the game has no `summary`."""
        return dict(call(self.game, self.state, "summary")) if self.game.has("summary") else {}

    def shown_to(self, player: int) -> str:
        """Return the position as text, without what is hidden from a player; complete if there is no `render_for`."""
        seat = self._seat(player)
        return str(call(self.game, self.state, "render_for", seat)) if self.game.has("render_for") else str(self)

    def __str__(self) -> str:
        if self.game.has("render"):
            return str(call(self.game, self.state, "render"))
        rows = self.board()
        if rows is not None:
            return "\n".join(" ".join(cell or "." for cell in row) for row in rows)
        return repr(self.state)

    def _repr_html_(self) -> str:
        return html_board(str(self)) + html_lines([turn_text(self)])

    def __repr__(self) -> str:
        return f"<position of {self.game.name} after {len(self.actions)} moves>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self.game is other.game and bool(self.record == other.record)

    def __hash__(self) -> int:
        return hash(self.record.tobytes())


def make(state: Any, action: Any) -> Any:
    """Apply an action of any kind to a state, in place, and return what its method returns. Nothing is checked."""
    if not isinstance(action, tuple):
        return state.apply(action)
    if state.current_player() == SIMULTANEOUS:
        return state.apply_joint(np.array(action, np.int64))
    return state.apply_vector(np.array(action, np.float64))


def begin(game: Game, rng: Rng | None = None) -> Position:
    """Return the initial position of a game, dealt by `rng` if the game has `deal`."""
    state = game.view(first_record(game))
    if rng is not None and game.has("deal"):
        call(game, state, "deal", rng)
    return Position(game, state._states)


def _generator(rng: Rng | int) -> Rng:
    """Return a generator as it is, or a new one from a seed."""
    return rng if isinstance(rng, Rng) else Rng(checks.whole("rng", rng))


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
