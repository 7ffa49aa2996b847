"""Self-play: many games at once in a pool, with the network of the moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.evaluators.networks.model import Model
from treetop.game.position import Position
from treetop.search.batch import Batch
from treetop.search.config import SearchConfig
from treetop.search.pool import SearchPool
from treetop.search.states import legal_mask
from treetop.train.samples import Samples


class Current:
    """An evaluator whose network can be exchanged between two batches."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def evaluate(self, batch: Batch) -> tuple[Any, Any]:
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


class SelfPlay:
    """Games of a pool, and the positions that their searches have improved."""

    def __init__(
        self, model: Model, config: SearchConfig, *, slots: int, simulations: int, openings: float, seed: int
    ) -> None:
        self.current, self._game = Current(model), model.game
        self._simulations, self._openings = simulations, openings
        self._pool = SearchPool(self._game, config, slots=slots, evaluator=self.current, seed=seed)
        self._rng = np.random.default_rng(seed)
        self._steps: list[list[tuple[Any, ...]]] = [[] for _ in range(slots)]
        self._random = np.array([self._plies() for _ in range(slots)])
        self.positions = 0
        """Positions that were searched."""

    def _plies(self) -> int:
        """Return how many random moves begin a game: most have none, so that the others show what play avoids."""
        return int(self._rng.integers(1, 5)) if self._rng.random() < self._openings else 0

    def step(self) -> list[Played]:
        """Play a move in every slot; return the games that have ended."""
        pool = self._pool
        pool.run(simulations=self._simulations)
        results, states = pool.results(), pool.batch().states
        actions = results.actions.copy()
        moves, wild = pool.moves_played, self._random
        chosen = np.flatnonzero(moves < wild)
        if len(chosen):
            masks = legal_mask(self._game, states[chosen])
            for slot, mask in zip(chosen.tolist(), masks, strict=True):
                actions[slot] = self._rng.choice(np.flatnonzero(mask))
        for slot in np.flatnonzero(moves >= wild).tolist():
            row = results.target[slot].astype(np.float32), results.values[slot], int(results.players[slot])
            self._steps[slot].append((states[slot], int(moves[slot]), *row))
        self.positions += len(actions)
        ended = []
        for finished in pool.advance(actions):
            ended.append(self._played(finished.position, self._steps[finished.slot]))
            self._steps[finished.slot] = []
            self._random[finished.slot] = self._plies()
        return [played for played in ended if len(played.samples)]

    def _played(self, final: Position, steps: list[tuple[Any, ...]]) -> Played:
        game, returns = self._game, np.array(final.returns)
        values = self.current.model.architecture.values
        count = len(steps)
        policies = np.array([step[2] for step in steps], np.float32).reshape(count, game.facts.num_actions)
        received = _received(final) if game.has("step_rewards") else None
        outcomes, estimates = np.zeros((count, values)), np.zeros((count, values))
        for row, (_, move, _, worth, player) in enumerate(steps):
            ahead = returns if received is None else returns - received[move]
            seats = (player + np.arange(values)) % len(returns)
            outcomes[row], estimates[row] = ahead[seats], worth[seats]
        scale = self._to_unit
        entropy = -(policies * np.log(np.maximum(policies, 1e-12))).sum(axis=1)
        samples = Samples(
            np.array([step[0] for step in steps], game.dtype), policies, scale(outcomes), scale(estimates)
        )
        return Played(samples, tuple(returns.tolist()), len(final.actions), float(entropy.mean()) if count else 0.0)

    def _to_unit(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
        """Return values of the game on the network's scale, -1 to 1."""
        low, high = self._game.facts.value_range(step_rewards=self._game.has("step_rewards"))
        return np.clip((values - low) / (high - low) * 2.0 - 1.0, -1.0, 1.0).astype(np.float32)


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
