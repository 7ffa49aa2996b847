"""Self-play: many games at once in a pool, with the network of the moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.evaluators.networks.model import Model
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.search.batch import Batch
from treetop.search.evaluator import CompiledEvaluator, Heuristic, Rollout
from treetop.search.pool import SearchPool
from treetop.train.endgames import Endgames, Solved
from treetop.train.openings import Openings
from treetop.train.options import TrainOptions
from treetop.train.policies import Policies
from treetop.train.resignation import Resignation
from treetop.train.samples import Samples
from treetop.types import NONE


class Current:
    """An evaluator whose network can be exchanged between two batches."""

    def __init__(self, model: Model) -> None:
        self.model = model.for_self_play()

    def evaluate(self, batch: Batch) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]:
        """Evaluate a batch by the network of the moment."""
        return self.model.evaluate(batch)


@dataclass(frozen=True)
class Played:
    """A finished game of self-play."""

    samples: Samples
    returns: tuple[float, ...]
    """The total reward of each player."""
    moves: int
    entropy: float
    """The mean entropy of its policies, in nats."""
    resigned: bool = False
    false_rate: float | None = None
    """The measured share of wrong resignations at that time."""


@dataclass(frozen=True)
class _Step:
    """A position of a game in progress."""

    state: Any
    moves: int
    actions: npt.NDArray[np.int32]
    """Those with a share in the improved policy."""
    shares: npt.NDArray[np.float32]
    surprise: float
    """The Kullback-Leibler divergence of the policy from the network's, in nats."""
    values: npt.NDArray[np.float64]
    player: int
    trained: bool
    """Whether the position is trained on; its value counts for earlier ones in any case."""


@dataclass
class _Progress:
    """What is kept of the game in a slot."""

    checked: bool
    """Whether the game is played on, whatever its values."""
    lowest: list[float]
    """The lowest value that each player saw before a move, from -1 to 1."""
    steps: list[_Step] = field(default_factory=list)


def bootstrap_evaluator(game: Game) -> CompiledEvaluator:
    """Return the evaluator of games without a network: the heuristic of the game, else its rollouts.

    >>> import treetop as tt
    >>> bootstrap_evaluator(tt.load_game("chess")), bootstrap_evaluator(tt.load_game("tic_tac_toe"))
    (heuristic(prior_temperature=0.2), rollout())
    """
    if game.has("heuristic"):
        return Heuristic(prior_temperature=0.2)
    return Rollout(policy="game") if game.has("rollout_action") else Rollout()


class SelfPlay:
    """Games of a pool, and the positions that their searches have improved.

    With `bootstrap` the searches use no network until `use` says otherwise.
    """

    def __init__(self, model: Model, options: TrainOptions, seed: int, *, bootstrap: bool = False) -> None:
        self.current, self._game, self._options = Current(model), model.game, options
        self._seed, self._bootstrap = seed, bootstrap
        self._pool = self._make_pool()
        self._rng = np.random.default_rng(seed)
        self.resignation = Resignation(options.resign) if options.resign else None
        self._endgames = Endgames(self._game, options.endgame) if options.endgame else None
        assert options.opening_moves is not None
        self._openings = Openings(self._game, options.opening_moves, self._rng)
        self._games, self._begins = dict[int, _Progress](), True
        for slot in range(len(self._pool)):
            self._begin(slot)
        self.positions = 0
        """Positions that were searched."""

    def _make_pool(self) -> SearchPool:
        """Return a pool for the evaluator of the moment."""
        options = self._options
        evaluator = bootstrap_evaluator(self._game) if self._bootstrap else self.current
        simulations = options.bootstrap_simulations if self._bootstrap else options.simulations
        assert options.slots is not None
        assert simulations is not None
        self._full, self._fast = simulations, options.fast_simulations or max(2, simulations // 4)
        # It has one core, so nothing is gained by searching one half of the games while the network sees the other.
        return SearchPool(
            self._game, options.search(), slots=options.slots, evaluator=evaluator, seed=self._seed, overlap=False
        )

    def _begin(self, slot: int) -> None:
        """Begin a game in a slot. Some games begin with random moves, to show what play avoids."""
        opening = self._openings.draw() if self._rng.random() < self._options.openings else None
        self._pool.replace(slot, opening)
        checked = self.resignation is None or self.resignation.is_checked(self._rng)
        self._games[slot] = _Progress(checked, [1.0] * self._game.facts.players)

    def ends(self) -> bool:
        """Begin no more games; return whether some are still played."""
        self._begins = False
        return bool(self._games)

    def use(self, model: Model, *, bootstrap: bool = False) -> None:
        """Let the searches use another network from now on. The games in progress go on."""
        self.current.model = model.for_self_play()
        if bootstrap != self._bootstrap:
            before, self._bootstrap = self._pool, bootstrap
            self._pool = self._make_pool()
            for slot in self._games:
                self._pool.replace(slot, before.position(slot))

    def close(self) -> None:
        """Do nothing: the games in progress are dropped."""

    def step(self) -> list[Played]:
        """Play a move in every slot; return the games that have ended."""
        pool, game = self._pool, self._game
        full = self._rng.random(len(pool)) >= self._options.fast_share
        pool.run(simulations=np.where(full, self._full, self._fast))
        results, states, moves = pool.results(), pool.batch().states, pool.moves_played
        targets, values = results.target.astype(np.float32), results.target_values(zero_sum=bool(game.facts.zero_sum))
        surprises, policies = _surprises(targets, results.priors).tolist(), Policies.of(targets)
        starts, played, movers, trained = (array.tolist() for array in (policies.starts, moves, results.players, full))
        for slot, kept in self._games.items():
            among = slice(starts[slot], starts[slot + 1])
            kept.steps.append(
                _Step(
                    states[slot], played[slot], policies.actions[among], policies.shares[among], surprises[slot],
                    values[slot], movers[slot], trained[slot],
                )
            )  # fmt: skip
        self.positions += len(self._games)
        actions, resigned = results.actions.copy(), self._resigned(values, results.players)
        actions[list(resigned)] = NONE
        ended = resigned | {
            finished.slot: self._finish(finished.slot, finished.position)
            for finished in pool.advance(actions, restart=False)
        }
        for slot in ended:
            del self._games[slot]
            if self._begins:
                self._begin(slot)
        return [played for played in ended.values() if len(played.samples)]

    def _resigned(self, values: npt.NDArray[np.float64], players: npt.NDArray[np.int64]) -> dict[int, Played]:
        """Return the games that a player resigns, by slot."""
        found, rule = dict[int, Played](), self.resignation
        if rule is None:
            return found
        low, high = self._game.facts.value_range(step_rewards=False)
        for slot, game in self._games.items():
            player = int(players[slot])
            value = (values[slot, player] - low) / (high - low) * 2.0 - 1.0
            lowest, game.lowest[player] = game.lowest[player], min(game.lowest[player], value)
            if not game.checked and max(value, lowest) < rule.threshold:  # twice in this game
                returns = np.where(np.arange(2) == player, low, high)
                found[slot] = self._finish(slot, self._pool.position(slot), returns)
        return found

    def _finish(self, slot: int, final: Position, resigned: npt.NDArray[np.float64] | None = None) -> Played:
        """Return the game that has ended in a slot; `resigned` are the returns if it was so."""
        game, returns = self._games[slot], np.array(final.returns) if resigned is None else resigned
        if self.resignation is not None and game.checked:
            self.resignation.add(game.lowest, returns.tolist())
        samples, entropy = self._samples(final, returns, game.steps)
        false_rate = None if self.resignation is None else self.resignation.false_rate
        return Played(samples, tuple(returns.tolist()), len(final.actions), entropy, resigned is not None, false_rate)

    def _samples(self, final: Position, returns: npt.NDArray[Any], steps: list[_Step]) -> tuple[Samples, float]:
        """Return the positions of a game with their targets, and the mean entropy of the policies."""
        game, options, seats = self._game, self._options, np.arange(self.current.model.architecture.values)
        received = _received(final) if game.has("step_rewards") else np.zeros((len(final.actions) + 1, len(returns)))
        solved = self._endgames.solve([step.state for step in steps]) if self._endgames else []
        before = received[[step.moves for step in steps]]  # [steps, players]; totals from the start of the game
        found = before + np.array([step.values for step in steps])
        totals, total = list[list[float]](), returns.tolist()
        for place, row in enumerate(found[::-1].tolist()):
            total = [options.trace * one + (1.0 - options.trace) * other for one, other in zip(total, row, strict=True)]
            if place < len(solved):
                total = [solved[place].value, -solved[place].value]
            totals.append(total)
        order = (np.array([[step.player] for step in steps]) + seats) % len(returns)
        values = np.take_along_axis(np.array(totals[::-1]) - before, order, axis=1)
        chosen = [row for row, step in enumerate(steps) if step.trained]
        kept, policies = [steps[row] for row in chosen], _policies(steps, chosen, solved)
        weights = _mixed(np.array([step.surprise for step in kept]), options.surprise)
        if options.priority:
            weights *= _mixed(np.abs(returns - found).mean(axis=1)[chosen] ** options.priority, 1.0)
        targets = values[chosen].astype(np.float32)
        states = np.array([step.state for step in kept], game.dtype)
        entropy = -float((policies.shares * np.log(np.maximum(policies.shares, 1e-12))).sum()) / max(len(kept), 1)
        return Samples(states, policies, targets, weights.astype(np.float32)), entropy


def _policies(steps: list[_Step], chosen: list[int], solved: list[Solved]) -> Policies:
    """Return the policies of some steps of a game, without actions that are known to lose value."""
    actions, shares = list[npt.NDArray[np.int32]](), list[npt.NDArray[np.float32]]()
    for number in chosen:
        step, place = steps[number], len(steps) - 1 - number
        best = solved[place].best if place < len(solved) else None
        found = (step.actions, step.shares) if best is None else _best_only(step.actions, step.shares, best)
        actions.append(found[0])
        shares.append(found[1])
    if not chosen:
        return Policies.from_lengths([], [], [])
    return Policies.from_lengths([len(one) for one in shares], np.concatenate(actions), np.concatenate(shares))


def _best_only(
    actions: npt.NDArray[np.int32], shares: npt.NDArray[np.float32], best: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Return a policy without the actions that lose value; uniform if it has no others."""
    kept = best[actions]
    total = float(shares[kept].sum())
    if total > 0:
        return actions[kept], shares[kept] / np.float32(total)
    found = np.flatnonzero(best).astype(np.int32)
    return found, np.full(len(found), 1.0 / len(found), np.float32)


def _surprises(target: npt.NDArray[np.float32], priors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the Kullback-Leibler divergence of each target from the priors."""
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(target > 0, target * np.log(target / np.maximum(priors, 1e-9)), 0.0)
    return np.asarray(np.maximum(parts.sum(axis=1), 0.0))


def _mixed(numbers: npt.NDArray[np.float64], share: float) -> npt.NDArray[np.float64]:
    """Return weights of mean 1 of which `share` is proportional to the numbers."""
    mean = float(numbers.mean()) if len(numbers) else 0.0
    return 1.0 - share + share * (numbers / mean if mean > 0 else np.ones_like(numbers))


def _received(final: Position) -> npt.NDArray[np.float64]:
    """Return what each player had received before each move of a game: (moves + 1, players)."""
    position = Position(final.game, final.start.copy())
    total = np.zeros(final.game.facts.players)
    found = [total.copy()]
    for action in final.actions:
        position = position.apply(action)
        total += np.array(position.step_rewards)
        found.append(total.copy())
    return np.array(found)
