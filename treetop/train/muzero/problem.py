"""A learned model as a problem that any search of Treetop can walk: a game whose states are keys.

A state of the game holds no latent vector. It holds a key, the key of the state before it and the action between them;
the evaluator keeps the latent vector, the discounted reward and the depth of every key. It receives the leaves of many
trees as one batch, looks up the states before them and computes all of the new ones with one call of the network.

Values are returns from the root: R + g * v, with R the discounted reward on the path and g the discount to the power of
the depth. At one node R and g are the same for all actions, so these values are Q = r + discount * v up to shift and
scale, which completed values remove: they are rescaled by their own minimum and maximum.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from treetop.game import Game, checks, family, field, game, mix_bits
from treetop.search.batch import Batch
from treetop.search.config import SearchConfig
from treetop.search.pool import SearchPool
from treetop.search.pool_results import PoolResult

Floats = npt.NDArray[np.float32]
DEEPEST = 1_000
"""The greatest number of simulations of a search, and so the greatest depth of its tree."""
_LARGEST = 1e9  # the greatest return from a root


@family
def latent_problem(actions: int) -> Game:
    """Choose among the same actions again and again; what they lead to is known by the evaluator only."""
    checks.whole("actions", actions, 1, 100_000)

    @game(players=1, num_actions=actions, max_length=DEEPEST, rewards=(-_LARGEST, _LARGEST))
    class LatentProblem:
        """A sequence of actions, known by its key. The first key is drawn at random."""

        key_here: np.uint64 = field("u8")
        key_before: np.uint64 = field("u8")
        action: int = field("i4")  # -1 at the root
        depth: int = field("i4")

        def reset(self) -> None:
            self.key_here = np.uint64(0)
            self.key_before = np.uint64(0)
            self.action = -1
            self.depth = 0

        def deal(self, rng: Any) -> None:
            self.key_here = rng.bits()

        def legal_actions(self, out: Any) -> int:
            for action in range(actions):
                out[action] = action
            return actions

        def apply(self, action: int) -> None:
            self.key_before = self.key_here
            self.key_here = mix_bits(self.key_here ^ mix_bits(np.uint64(action + 1)))
            self.action = action
            self.depth += 1

        def is_terminal(self) -> bool:
            return self.depth >= DEEPEST

        def rewards(self, out: Any) -> None:
            pass

        def key(self) -> np.uint64:
            return self.key_here

    return LatentProblem  # type: ignore[return-value]  # mypy does not see what a class decorator returns


class LearnedModel(Protocol):
    """What a search needs to know of a problem: three functions of batches, each with a row for each state."""

    @property
    def actions(self) -> int:
        """The number of actions."""
        ...

    @property
    def discount(self) -> float:
        """The discount of each step."""
        ...

    def represent(self, observations: Floats) -> Floats:
        """Return the latent vectors of observations."""
        ...

    def step(self, latents: Floats, actions: npt.NDArray[np.int64]) -> tuple[Floats, npt.NDArray[Any]]:
        """Return the latent vectors after actions, and the rewards."""
        ...

    def predict(self, latents: Floats) -> tuple[Floats, npt.NDArray[Any]]:
        """Return the logits of the actions, and the values."""
        ...


class LatentEvaluator:
    """The evaluator of the latent problem: a table of what the model has computed since `begin`."""

    def __init__(self, model: LearnedModel) -> None:
        self.model = model
        self.begin(np.zeros(0, np.uint64), np.zeros((0, 1), np.float32))

    def begin(self, keys: npt.NDArray[np.uint64], latents: Floats) -> None:
        """Forget everything but the roots of the next searches."""
        self._rows = {key: row for row, key in enumerate(keys.tolist())}
        self._used = len(keys)
        self._latents = np.array(latents)  # [rows, latent]; it grows
        self._gains = np.zeros(len(keys))  # [rows]: the discounted reward since the root
        self._factors = np.ones(len(keys))  # [rows]: the discount to the power of the depth

    def evaluate(self, batch: Batch) -> tuple[Floats, npt.NDArray[np.float64]]:
        """Return the logits of the actions, and the returns from the root."""
        states = batch.states
        found = np.empty(len(states), np.int64)
        new = np.flatnonzero(states["action"] >= 0)
        old = np.flatnonzero(states["action"] < 0)
        found[old] = [self._rows[key] for key in states["key_here"][old].tolist()]
        if len(new):
            found[new] = self._step(states[new])
        logits, values = self.model.predict(self._latents[found])
        return logits, self._gains[found] + self._factors[found] * values

    def _step(self, states: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Compute new states from those before them; return their rows."""
        before = np.array([self._rows[key] for key in states["key_before"].tolist()])
        latents, rewards = self.model.step(self._latents[before], states["action"].astype(np.int64))
        rows = np.arange(self._used, self._used + len(states))
        self._used += len(states)
        if self._used > len(self._latents):
            self._grow(2 * self._used)
        self._latents[rows] = latents
        self._gains[rows] = self._gains[before] + self._factors[before] * rewards
        self._factors[rows] = self._factors[before] * self.model.discount
        self._rows.update(zip(states["key_here"].tolist(), rows.tolist(), strict=True))
        return rows

    def _grow(self, size: int) -> None:
        self._latents = np.resize(self._latents, (size, self._latents.shape[1]))
        self._gains, self._factors = np.resize(self._gains, size), np.resize(self._factors, size)


class LatentSearches:
    """Searches over a learned model, one for each of some observations, in one pool."""

    def __init__(self, model: LearnedModel, config: SearchConfig, *, slots: int, simulations: int, seed: int) -> None:
        self.simulations = checks.whole("simulations", simulations, 2, DEEPEST - 1)
        self._evaluator = LatentEvaluator(model)
        self._pool = SearchPool(
            latent_problem(model.actions), config, slots=slots, evaluator=self._evaluator, seed=seed, overlap=False,
            tier="indirect",
        )  # fmt: skip

    def use(self, model: LearnedModel) -> None:
        """Search over another model of the same problem from now on."""
        self._evaluator.model = model

    def run(self, observations: Floats) -> PoolResult:
        """Search from observations, one for each slot; return what was found."""
        pool = self._pool
        pool.replace(range(len(pool)))  # new roots, with new keys and new random numbers
        self._evaluator.begin(pool.batch().states["key_here"], self._evaluator.model.represent(observations))
        pool.run(simulations=self.simulations)
        return pool.results()
