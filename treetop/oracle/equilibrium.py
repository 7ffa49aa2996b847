"""Equilibria of small two-player zero-sum games: of matrices, and of games of imperfect information, by linear programs
and by CFR.

`equilibrium` is exact; `cfr` approximates it in another way, so that each can be checked by the other. Both use the
tree of information.py.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treetop import checks
from treetop.errors import ConfigError, GameError, MissingExtraError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.oracle.information import (
    DRAWN,
    OVER,
    InformationSet,
    InformationTree,
    Strategy,
    TreeNode,
    exploitability,
    information_key,
)
from treetop.types import FloatArray

__all__ = [
    "Equilibrium",
    "InformationSet",
    "InformationTree",
    "MatrixGame",
    "Strategy",
    "cfr",
    "equilibrium",
    "exploitability",
    "information_key",
    "matrix_game",
]


@dataclass(frozen=True)
class MatrixGame:
    """The equilibrium of a matrix game."""

    value: float
    """The mean payoff of the row player."""
    rows: tuple[float, ...]
    """The probability of each row."""
    columns: tuple[float, ...]
    """The probability of each column."""


@dataclass(frozen=True)
class Equilibrium:
    """An equilibrium of a whole game, exact or approximate."""

    value: float
    """The mean return of player 0."""
    strategy: dict[Hashable, dict[Any, float]]
    """For both players: the probability of each action in each information set."""
    exploitability: float
    """The distance from an equilibrium: half of what both players could gain by their best responses (NashConv / 2)."""


def matrix_game(payoffs: Sequence[Sequence[float]] | FloatArray) -> MatrixGame:
    """Return the equilibrium of a matrix game: one player chooses a row, the other simultaneously a column, and the
    first receives the entry.

    >>> round(matrix_game([[3, -1], [-1, 1]]).value, 6)
    0.333333
    """
    matrix = np.array(payoffs, np.float64)
    if matrix.ndim != 2 or matrix.size == 0 or not np.isfinite(matrix).all():
        raise ConfigError("a matrix game must be a table of finite numbers, with at least one row and one column")
    rows = _maximin(matrix)
    columns = _maximin(-matrix.T)
    return MatrixGame(float(rows @ matrix @ columns), tuple(rows.tolist()), tuple(columns.tolist()))


def _maximin(matrix: FloatArray) -> FloatArray:
    """Return the mixture of rows whose worst column is best."""
    rows, columns = matrix.shape
    # The variables are the probabilities and the value v: the highest v that no column goes below.
    above = np.hstack([-matrix.T, np.ones((columns, 1))])
    total = np.append(np.ones(rows), 0.0)[None]
    found = _solve(
        np.append(np.zeros(rows), -1.0),
        above,
        np.zeros(columns),
        total,
        np.ones(1),
        [(0.0, None)] * rows + [(None, None)],
    )
    chances = np.maximum(found[:rows], 0.0)
    return np.asarray(chances / chances.sum())


def _solve(
    goal: FloatArray, above: Any, bounds_above: FloatArray, equal: Any, values: FloatArray, ranges: list[Any]
) -> FloatArray:
    """Return the minimum of a linear program."""
    try:
        from scipy.optimize import linprog
    except ImportError:
        raise MissingExtraError("equilibria need SciPy", extra="oracle") from None
    found = linprog(goal, A_ub=above, b_ub=bounds_above, A_eq=equal, b_eq=values, bounds=ranges, method="highs")
    if not found.success:
        raise GameError(f"the linear program of an equilibrium has no solution: {found.message}")
    return np.asarray(found.x, np.float64)


# Whole games, exactly: a linear program over the sequences of each player's own actions (sequence form).


def equilibrium(game: str | Game | Position) -> Equilibrium:
    """Return an exact equilibrium of a small game, with imperfect information or simultaneous moves; players must have
    perfect recall.

    >>> round(18 * equilibrium("kuhn_poker").value, 6)
    -1.0
    """
    tree = InformationTree(game)
    sequences = _Sequences(tree)
    strategy = {**sequences.strategy(0), **sequences.strategy(1)}
    return Equilibrium(tree.value(strategy), strategy, tree.exploitability(strategy))


class _Sequences:
    """Each player's sequences of own actions, and what player 0 receives where two of them meet.

    A strategy is then a realization plan: the probability of each sequence as far as the player controls it. In plans
    everything is linear.
    """

    def __init__(self, tree: InformationTree) -> None:
        self._tree = tree
        # Sequence 0 is empty; any other is an information set and the last action in it.
        self._numbers: list[dict[Any, int]] = [{None: 0}, {None: 0}]
        self._before: list[dict[Hashable, int]] = [{}, {}]  # the sequence that leads to each information set
        self._payoffs: dict[tuple[int, int], float] = {}
        self._walk(tree.root, (0, 0), 1.0)

    def _walk(self, node: TreeNode, done: tuple[int, int], chance: float) -> None:
        if node.kind == OVER:
            self._payoffs[done] = self._payoffs.get(done, 0.0) + chance * node.payoff
            return
        if (
            node.kind != DRAWN
            and self._before[node.player].setdefault(node.key, done[node.player]) != done[node.player]
        ):
            raise GameError(f"{self._tree.name}: player {node.player} forgets their own actions: see `treetop check`")
        for action, share, child in node.ways:
            if node.kind == DRAWN:
                self._walk(child, done, chance * share)
            else:
                numbers = self._numbers[node.player]
                number = numbers.setdefault((node.key, action), len(numbers))
                self._walk(child, (number, done[1]) if node.player == 0 else (done[0], number), chance)

    def strategy(self, player: int) -> dict[Hashable, dict[Any, float]]:
        """Return an equilibrium strategy of one player: the plan whose worst response is best."""
        from scipy.sparse import coo_matrix, hstack

        other = 1 - player
        sign = 1.0 if player == 0 else -1.0
        mine, theirs = len(self._numbers[player]), len(self._numbers[other])
        pairs = np.array(list(self._payoffs), np.int64).reshape(-1, 2)
        payoffs = coo_matrix(
            (sign * np.array(list(self._payoffs.values())), (pairs[:, other], pairs[:, player])), shape=(theirs, mine)
        )
        my_plans, their_plans = self._plans(player), self._plans(other)
        # The variables: the own plan, and for each of the other's information sets (and the start) the value that is
        # still guaranteed.
        above = hstack([-payoffs, their_plans.T]).tocsr()
        equal = hstack([my_plans, coo_matrix((my_plans.shape[0], their_plans.shape[0]))]).tocsr()
        goal = np.zeros(mine + their_plans.shape[0])
        goal[mine] = -1.0
        ones = np.zeros(my_plans.shape[0])
        ones[0] = 1.0
        ranges = [(0.0, None)] * mine + [(None, None)] * their_plans.shape[0]
        plan = np.maximum(_solve(goal, above, np.zeros(theirs), equal, ones, ranges)[:mine], 0.0)
        return {key: self._chances(player, key, plan) for key in self._before[player]}

    def _plans(self, player: int) -> Any:
        """Return the constraints of a plan: the empty sequence has probability 1, and the sequences that extend one sum
        to it, in each information set.
        """
        from scipy.sparse import coo_matrix

        entries = [(0, 0, 1.0)]
        for row, (key, before) in enumerate(self._before[player].items(), start=1):
            entries.append((row, before, -1.0))
            entries += [(row, self._numbers[player][key, action], 1.0) for action in self._tree.sets[key].actions]
        rows, columns, values = zip(*entries, strict=True)
        return coo_matrix((values, (rows, columns)), shape=(len(self._before[player]) + 1, len(self._numbers[player])))

    def _chances(self, player: int, key: Hashable, plan: FloatArray) -> dict[Any, float]:
        actions = self._tree.sets[key].actions
        shares = np.array([plan[self._numbers[player][key, action]] for action in actions])
        total = shares.sum()
        # Where the plan never leads, any action is as good.
        chances = shares / total if total > 1e-12 else np.full(len(actions), 1.0 / len(actions))
        return dict(zip(actions, chances.tolist(), strict=True))


# Whole games, by regret matching.


@dataclass(slots=True)
class _Regrets:
    actions: tuple[Any, ...]
    regrets: FloatArray
    shares: FloatArray
    """The sum of the strategies so far, weighted by the player's own reach probability."""
    now: FloatArray = field(default_factory=lambda: np.zeros(0))

    def match(self) -> None:
        """Set the next strategy: actions in proportion to their positive regret."""
        missed = np.maximum(self.regrets, 0.0)
        total = missed.sum()
        self.now = missed / total if total > 0.0 else np.full(len(self.actions), 1.0 / len(self.actions))


def cfr(game: str | Game | Position, iterations: int = 1000) -> Equilibrium:
    """Approximate an equilibrium by counterfactual regret minimisation (CFR), with both players updated in turn.

    The exploitability falls at least with the square root of the iterations.
    """
    checks.whole("iterations", iterations, 1)
    tree = InformationTree(game)
    sets = {
        key: _Regrets(known.actions, np.zeros(len(known.actions)), np.zeros(len(known.actions)))
        for key, known in tree.sets.items()
    }
    for _ in range(iterations):
        for player in (0, 1):
            for known in sets.values():
                known.match()
            _regret(tree.root, sets, player, 1.0, 1.0)
    strategy = {key: dict(zip(known.actions, _average(known.shares), strict=True)) for key, known in sets.items()}
    return Equilibrium(tree.value(strategy), strategy, tree.exploitability(strategy))


def _average(shares: FloatArray) -> list[float]:
    total = shares.sum()
    chances = shares / total if total > 0.0 else np.full(len(shares), 1.0 / len(shares))
    return [float(chance) for chance in chances]


def _regret(node: TreeNode, sets: dict[Hashable, _Regrets], player: int, own: float, others: float) -> float:
    """Return what the player receives below a node, and add up the regrets on the way back.

    `own` is the player's own reach probability of the node, `others` that of the other player and chance.
    """
    if node.kind == OVER:
        return node.payoff if player == 0 else -node.payoff
    if node.kind == DRAWN:
        return sum(chance * _regret(child, sets, player, own, others * chance) for _, chance, child in node.ways)
    known = sets[node.key]
    if node.player != player:
        return sum(
            float(share) * _regret(child, sets, player, own, others * float(share))
            for share, (_, _, child) in zip(known.now, node.ways, strict=True)
            if share > 0.0
        )
    values = np.array(
        [
            _regret(child, sets, player, own * float(share), others)
            for share, (_, _, child) in zip(known.now, node.ways, strict=True)
        ]
    )
    value = float(known.now @ values)
    known.regrets += others * (values - value)
    known.shares += own * known.now
    return value
