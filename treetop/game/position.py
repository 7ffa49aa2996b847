"""A position: a state with its game and its history, for people. Immutable; everything here is plain Python."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

import numpy as np

from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, GameError, IllegalMoveError
from treetop.game.broken import asked, asked_whole, shown
from treetop.game.definition import Game
from treetop.game.lines import users_line
from treetop.game.moves import action_of, choices, split_moves, text_of
from treetop.types import CHANCE, SIMULTANEOUS

_SHOWN = 20  # actions that an error lists
_TRIES = 100  # deals that are looked at for one that leaves something to choose


class _Start:
    """`Position.start(game, rng)` begins a game; `position.start` is the record with which a position's history began."""

    @overload
    def __get__(self, position: None, owner: type[Position]) -> Callable[..., Position]: ...
    @overload
    def __get__(self, position: Position, owner: type[Position]) -> np.ndarray[Any, Any]: ...

    def __get__(self, position: Position | None, owner: type[Position]) -> Any:
        return begin if position is None else position._start


class Position:
    """A point in a game. `play` and `apply` return the next one and leave this one as it is.

    `player` says what kind of point it is: where it is `CHANCE` the actions are outcomes, where it is `SIMULTANEOUS` an action is a tuple with
    one for each player, and in a game of real numbers it is a tuple of those.

    >>> import treetop
    >>> start = treetop.position("nim(stones=5)")
    >>> start.play("2").legal_moves()
    ['1', '2', '3']
    """

    __slots__ = ("_start", "actions", "game", "record")

    start = _Start()
    """Of a position: the record from which the actions were played, that of the game's start, of a deal, or of a set-up.
    Of the class: `Position.start(game, rng)` is a game's first position, dealt where the game deals."""

    def __init__(
        self,
        game: Game,
        record: np.ndarray[Any, Any] | None = None,
        actions: tuple[Any, ...] = (),
        start: np.ndarray[Any, Any] | None = None,
    ) -> None:
        self.game = game
        self.record = _frozen(_first_record(game) if record is None else record)
        """The state as an array of one record; read-only."""
        self.actions = actions
        """What was played since `start`: whole numbers, and tuples where all players chose at once or actions are real numbers."""
        self._start = (self.record if not actions else _frozen(start_record(game))) if start is None else _frozen(start)

    @classmethod
    def parse(cls, game: Game, text: str) -> Position:
        """Set up a position from a diagram, for games that can read one."""
        if not game.has("parse"):
            raise ConfigError(f"{game.name} cannot read a diagram: its class has no method `parse`")
        state = game()
        try:
            state.parse(text)
        except (ValueError, IndexError, KeyError) as error:
            raise ConfigError(f"this is no position of {game.name}: {error}") from error
        except Exception as error:
            raise GameError(
                f"{game.name}.parse fails: {type(error).__name__}: {error}\n  {users_line(error)}"
            ) from error
        return cls(game, state._states)

    # What there is to see.

    @property
    def state(self) -> Any:
        """A copy of the state, as an object of the game's own class."""
        return self.game.view(self.record.copy(), 0)

    @property
    def player(self) -> int:
        """Whose turn it is; `CHANCE` or `SIMULTANEOUS` where no single player chooses."""
        return self._mover(self.state)

    def _mover(self, state: Any) -> int:
        player, facts = asked_whole(self.game, state, "current_player"), self.game.facts
        kinds = {CHANCE: facts.num_outcomes is not None, SIMULTANEOUS: self.game.has("apply_joint")}
        if not (0 <= player < facts.players or kinds.get(player, False)):
            raise GameError(
                f"{self.game.name}.current_player gave {player}; players are 0 to {facts.players - 1}\nin {shown(state)}"
            )
        return player

    @property
    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return bool(asked_whole(self.game, self.state, "is_terminal"))

    @property
    def is_continuous(self) -> bool:
        """Whether an action here is made of real numbers."""
        return self.game.facts.action_size is not None and self.player not in (CHANCE, SIMULTANEOUS)

    @property
    def rewards(self) -> list[float]:
        """What the end gives each player; the game must be over. What came on the way is not in it: that is in `returns`."""
        if not self.is_terminal:
            raise GameError(f"the game is not over, so there are no rewards yet\n{self}")
        return self._asked("rewards")

    @property
    def step_rewards(self) -> list[float]:
        """What each player received by the last action; nothing at the start, and in games that pay at the end alone."""
        if not self.actions or not self.game.has("step_rewards"):
            return [0.0] * self.game.facts.players
        return self._asked("step_rewards")

    @property
    def returns(self) -> list[float]:
        """What each player has received in all since `start`: the rewards on the way, and those of the end once it is reached."""
        total = np.zeros(self.game.facts.players)
        if self.game.has("step_rewards"):
            for position in self._history():
                total += position.step_rewards
        if self.is_terminal:
            total += self.rewards
        return [float(reward) for reward in total]

    def _asked(self, method: str) -> list[float]:
        out = np.zeros(self.game.facts.players)
        asked(self.game, self.state, method, out)
        return [float(reward) for reward in out]

    def information(self, player: int) -> int:
        """The key of all that a player has seen so far: equal for positions that they cannot tell apart."""
        if not self.game.has("information"):
            raise GameError(f"in {self.game.name} nothing is hidden: its class has no method `information`")
        return asked_whole(self.game, self.state, "information", self._seat(player)) & (2**64 - 1)

    def seen_by(self, player: int, rng: Rng) -> Position:
        """The position as it may be for all that a player knows: what is hidden from them is drawn anew.

        The history is left behind, because it may tell what is hidden. A `determinize` that changes what the player has seen is an error.
        """
        seat, state = self._seat(player), self.state
        if self.game.has("determinize"):
            asked(self.game, state, "determinize", seat, rng)
        drawn = Position(self.game, state._states)
        if drawn._known_to(seat) != self._known_to(seat):
            raise GameError(
                f"{self.game.name}: determinize({seat}, rng) has changed what player {seat} has seen, or what it can do; "
                f"treetop.check finds the shortest case of it\n{self.shown_to(seat)}"
            )
        return drawn

    def _known_to(self, seat: int) -> tuple[Any, ...]:
        """What must be the same in every position that a player may be in."""
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

    # What can be done.

    @overload
    def legal_actions(self, player: None = None) -> list[Any]: ...
    @overload
    def legal_actions(self, player: int) -> list[int]: ...

    def legal_actions(self, player: int | None = None) -> list[Any]:
        """All that `apply` takes here: the actions of the player to move, outcomes of chance, or what all players can choose at once.

        With `player` only what that one may choose, which is nothing while it is not their turn. None at all when the game is over.
        """
        state = self.state
        seat = None if player is None else self._seat(player)
        if asked_whole(self.game, state, "is_terminal"):
            return []
        mover = self._mover(state)
        if mover == SIMULTANEOUS:
            if seat is not None:
                return self._listed(state, "legal_actions_of", seat)
            return list(itertools.product(*(self.legal_actions(seat) for seat in range(self.game.facts.players))))
        if seat is not None and seat != mover:
            return []
        if mover == CHANCE and self.game.facts.num_outcomes is not None:
            return [outcome for outcome, _ in self.outcomes()]
        if self.game.facts.action_size is not None:
            raise GameError(
                f"the actions of {self.game.name} are real numbers and cannot be listed: `sample_action` draws one"
            )
        return self._listed(state, "legal_actions")

    def _listed(self, state: Any, method: str, *arguments: Any) -> list[int]:
        size = self.game.facts.num_actions
        out = np.zeros(size, np.int32)
        count = asked_whole(self.game, state, method, *arguments, out)
        found = [int(action) for action in out[: max(count, 0)]]
        if not 1 <= count <= size or not all(0 <= action < size for action in found) or len(set(found)) < count:
            raise GameError(
                f"{self.game.name}.{method} gave {count} actions, {found[:_SHOWN]}; there must be 1 to {size}, each of them from 0 to "
                f"{size - 1} and only once\nin {shown(state)}"
            )
        return found

    def legal_moves(self, player: int | None = None) -> list[str]:
        """The legal actions, as people write them."""
        return [self.move_text(action) for action in self.legal_actions(player)]

    def outcomes(self) -> list[tuple[int, float]]:
        """What chance can do here, and how likely each outcome is; nothing where it is not chance that decides."""
        size = self.game.facts.num_outcomes
        if size is None or self.is_terminal or self.player != CHANCE:
            return []
        actions, probabilities = np.zeros(size, np.int32), np.zeros(size)
        count = asked_whole(self.game, self.state, "chance_outcomes", actions, probabilities)
        if not 1 <= count <= size:
            raise GameError(
                f"{self.game.name}.chance_outcomes gave {count} outcomes; there must be 1 to {size}\nin {shown(self.state)}"
            )
        return [
            (int(action), float(probability))
            for action, probability in zip(actions[:count], probabilities, strict=False)
        ]

    def draw_outcome(self, rng: Rng) -> int:
        """What chance decides here, drawn by the game's probabilities."""
        outcomes = self.outcomes()
        if not outcomes:
            raise GameError(f"it is not chance that decides here\n{self}")
        if self.game.has("random_outcome"):
            return asked_whole(self.game, self.state, "random_outcome", rng)
        left = rng.random() * math.fsum(probability for _, probability in outcomes)
        for outcome, probability in outcomes:
            left -= probability
            if left < 0:
                return outcome
        return outcomes[-1][0]

    def sample_action(self, rng: Rng) -> Any:
        """An action drawn by the game's own `sample_action`; without one, any legal action, each as likely."""
        if self.is_terminal:
            raise IllegalMoveError(f"there is no action to draw{choices(self)}\n{self}")
        if not self.is_continuous:
            legal = self.legal_actions()
            return self.draw_outcome(rng) if self.player == CHANCE else legal[rng.below(len(legal))]
        out = np.zeros(self.game.facts.action_size or 1)
        asked(self.game, self.state, "sample_action", rng, out)
        return tuple(float(value) for value in out)

    def resolve_chance(self, rng: Rng) -> Position:
        """Play random outcomes of chance until a player has to choose or the game is over."""
        position: Position = self
        for _ in range(self.game.facts.max_length + 1):
            if position.is_terminal or position.player != CHANCE:
                return position
            position = position.apply(position.draw_outcome(rng))
        raise GameError(
            f"chance decides in {self.game.name} more often than its max_length of {self.game.facts.max_length} moves\n{position}"
        )

    def apply(self, action: Any) -> Position:
        """The position after an action, an outcome of chance, or a tuple: one action a player, or real numbers."""
        if self.is_terminal:
            self._refuse(action)
        state = self.state
        mover = self._mover(state)
        if mover == SIMULTANEOUS:
            made: Any = self._together(action)
            asked(self.game, state, "apply_joint", np.array(made, np.int64))
        elif self.game.facts.action_size is not None and mover != CHANCE:
            made = self._vector(action)
            asked(self.game, state, "apply_vector", np.array(made, np.float64))
        else:
            made = int(action) if _is_whole(action) and action in self.legal_actions() else self._refuse(action)
            asked(self.game, state, "apply", made)
        return Position(self.game, state._states, (*self.actions, made), self._start)

    def _together(self, action: Any) -> tuple[int, ...]:
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
        """The position after one or more moves, given as text ("4 4 5"), actions, or a list of either."""
        position = self
        for move in split_moves(moves):
            position = position.apply(position.parse_move(move) if isinstance(move, str) else move)
        return position

    # How it is written.

    def move_text(self, action: Any) -> str:
        """How people write an action here."""
        return text_of(self, action)

    def parse_move(self, text: str, player: int | None = None) -> Any:
        """The legal action that a text names. Where all choose at once, `player` says whose part of it the text is."""
        return action_of(self, text, player)

    def moves(self) -> list[str]:
        """The history, as people write it. A position that was set up has only what was played since."""
        before = [Position(self.game, self._start), *self._history()]
        return [position.move_text(action) for position, action in zip(before, self.actions, strict=False)]

    def _history(self) -> list[Position]:
        """The positions after each of the actions, played again without asking whether they were legal."""
        positions: list[Position] = []
        state = self.game.view(self._start.copy())
        for number, action in enumerate(self.actions, start=1):
            make(state, action)
            positions.append(Position(self.game, state._states, self.actions[:number], self._start))
        return positions

    @property
    def was_set_up(self) -> bool:
        """Whether the history begins at a deal or a set-up instead of the game's start."""
        return bool(self._start != start_record(self.game))

    def board(self) -> list[list[str]] | None:
        """The board as rows of cells, for games that have one."""
        return asked(self.game, self.state, "board") if self.game.has("board") else None

    def summary(self) -> dict[str, Any]:
        """What the game has to say of the position beside its rewards, such as a largest tile, by name; nothing where it has no `summary`."""
        return dict(asked(self.game, self.state, "summary")) if self.game.has("summary") else {}

    def shown_to(self, player: int) -> str:
        """The position as a player may see it; all of it where the game does not say what is hidden."""
        seat = self._seat(player)
        return str(asked(self.game, self.state, "render_for", seat)) if self.game.has("render_for") else str(self)

    def __str__(self) -> str:
        if self.game.has("render"):
            return str(asked(self.game, self.state, "render"))
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


def make(state: Any, action: Any) -> None:
    """Make an action of any kind in a state, in place. Nothing is checked."""
    if not isinstance(action, tuple):
        state.apply(action)
    elif state.current_player() == SIMULTANEOUS:
        state.apply_joint(np.array(action, np.int64))
    else:
        state.apply_vector(np.array(action, np.float64))


def begin(game: Game, rng: Rng | None = None) -> Position:
    """The first position of a game; where it deals, dealt by `rng`."""
    state = game.view(_first_record(game))
    if rng is not None and game.has("deal"):
        asked(game, state, "deal", rng)
    return Position(game, state._states)


def first_choice(game: Game, seed: int = 0) -> Position:
    """Some position near a game's start where somebody has to choose: dealt, and with chance settled."""
    for attempt in range(_TRIES):
        rng = Rng(seed + attempt)
        position = begin(game, rng).resolve_chance(rng)
        if not position.is_terminal:
            return position
    raise GameError(f"{game.name} is over before anybody has to choose, in each of {_TRIES} deals")


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _frozen(record: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if record.flags.writeable:
        record = record.copy()
        record.flags.writeable = False
    return record


def _first_record(game: Game) -> np.ndarray[Any, Any]:
    """Return the record of a game's start, once its rules have passed a trial."""
    from treetop.game.trial import require_trial  # a trial plays the game, so it knows more than this module

    require_trial(game)
    return start_record(game)


def start_record(game: Game) -> np.ndarray[Any, Any]:
    """The record of a game's start. Nothing is left to chance in it: `deal` is for games that deal."""
    states = np.zeros(1, game.dtype)
    asked(game, game.view(states), "reset")
    return states
