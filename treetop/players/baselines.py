"""Fixed opponents to measure against: random moves, one-ply lookahead, alpha-beta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from treetop import checks
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.players.base import BasePlayer
from treetop.players.foresight import OTHER_KINDS, Foresight
from treetop.players.minimax import HEURISTIC, NOTHING, ROLLOUTS, Minimax, check_depth
from treetop.players.protocol import Choice

_TABLE = 2**16

T = TypeVar("T")


class RandomPlayer(BasePlayer):
    """Play legal actions uniformly at random; with continuous actions, one that the game samples.

    >>> import treetop as tt
    >>> start = tt.position("nim(stones=5)")
    >>> player = tt.players.RandomPlayer()
    >>> player.begin(start, seed=1)
    >>> start.move_text(player.choose(start)) in ('1', '2', '3')
    True
    """

    def __init__(self, name: str = "random") -> None:
        super().__init__(name)

    def choose(self, position: Position) -> Choice:
        """Return a random legal action."""
        seed = self.seed_at(position)
        if position.is_continuous:
            numbers: Choice = position.sample_action(Rng(seed))
            return numbers
        return _one_of(position.legal_actions(self.chooser(position)), seed)


class GreedyPlayer(BasePlayer):
    """Win at once if possible, prevent an immediate win of another player, else play the best action by the game's
    `heuristic`, or a random one.

    In games with chance, imperfect information, immediate rewards, simultaneous moves or continuous actions it looks
    one move ahead: at the mean immediate reward, and at the `heuristic` for the rest.

    >>> import treetop as tt
    >>> start = tt.position("nim(stones=5)")
    >>> player = tt.players.GreedyPlayer(tt.load_game('nim(stones=5)'))
    >>> player.begin(start, seed=1)
    >>> start.move_text(player.choose(start)) in ('1', '2', '3')
    True
    """

    def __init__(self, game: Game, name: str = "greedy") -> None:
        super().__init__(name)
        plain = not any(game.has(method) for method in OTHER_KINDS)
        self._outcomes = Minimax(game, 2, horizon=NOTHING) if plain else None
        self._estimates = Minimax(game, 1, horizon=HEURISTIC) if plain and game.has("heuristic") else None
        self._foresight = Foresight(game)

    def prepare(self, game: Game) -> None:  # noqa: ARG002 - it knows its game
        """Compile the lookahead, or load it from the cache."""
        for minimax in (self._outcomes, self._estimates):
            if minimax is not None:
                minimax.prepare()

    def choose(self, position: Position) -> Choice:
        """Rank each action by the best reply to it, then by the estimate."""
        if self._outcomes is None:
            seed = self.seed_at(position)
            return _one_of(self._foresight.best(position, self.chooser(position), seed), seed)
        scores = self._outcomes.score_moves(position)
        best = _highest(scores)
        if self._estimates is not None and len(best) > 1 and scores[best[0]] <= 0:
            estimates = self._estimates.score_moves(position)
            best = _highest({action: estimates[action] for action in best})
        return _one_of(best, self.seed_at(position))


class AlphaBetaPlayer(BasePlayer):
    """Search `depth` moves ahead exactly, and estimate the positions there. For two-player zero-sum games.

    >>> import treetop as tt
    >>> start = tt.position("nim(stones=5)")
    >>> player = tt.players.AlphaBetaPlayer(tt.load_game('nim(stones=5)'), depth=5)
    >>> player.begin(start, seed=1)
    >>> start.move_text(player.choose(start))
    '1'
    """

    def __init__(
        self, game: Game, depth: int = 4, *, table: int = _TABLE, rollouts: int = 0, name: str = "alphabeta"
    ) -> None:
        super().__init__(name)
        _refuse_other_games(game)
        _check_counts(table, rollouts)
        horizon = ROLLOUTS if rollouts else HEURISTIC if game.has("heuristic") else NOTHING
        self.last_value: float | None = None
        """The value of the last move for this player; None before the first move of a game."""
        self._minimax = Minimax(game, check_depth(depth), horizon=horizon, table=table, rollouts=rollouts)

    def prepare(self, game: Game) -> None:  # noqa: ARG002 - it knows its game
        """Compile the lookahead, or load it from the cache."""
        self._minimax.prepare()

    def begin(self, start: Position, seed: int) -> None:
        """Begin a new game."""
        super().begin(start, seed)
        self.last_value = None

    def choose(self, position: Position) -> int:
        """Return one of the best actions; the seed decides which."""
        seed = self.seed_at(position)
        best, score = self._minimax.best_moves(position, seed)
        self.last_value = self._minimax.value(score)
        return _one_of(best, seed)


def _one_of(actions: Sequence[T], seed: int) -> T:
    return actions[Rng(seed).below(len(actions))]


def _highest(scores: dict[int, int]) -> list[int]:
    best = max(scores.values())
    return [action for action, score in scores.items() if score == best]


def _refuse_other_games(game: Game) -> None:
    if game.facts.players != 2 or not game.facts.zero_sum:
        raise ConfigError(f"alphabeta plays two-player zero-sum games, and {game.name} is none; use greedy or a search")
    for method, what in (
        ("chance_outcomes", "chance"),
        ("determinize", "hidden information"),
        ("step_rewards", "immediate rewards"),
        ("apply_joint", "simultaneous moves"),
        ("apply_vector", "continuous actions"),
    ):
        if game.has(method):
            raise ConfigError(f"alphabeta cannot play {game.name}, a game with {what}; use a search")


def _check_counts(table: Any, rollouts: Any) -> None:
    checks.whole("rollouts", rollouts, 0)
    if checks.whole("table", table, 0) & (table - 1):
        raise ConfigError(f"table must be a power of two, or 0 for none, not {table}")
