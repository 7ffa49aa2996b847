"""A network averaged over symmetries of its game: stronger at the same number of simulations, and slower."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from treetop.errors import ConfigError
from treetop.evaluators.networks.model import Model
from treetop.search.batch import Batch
from treetop.search.states import players_and_observations, transformed


class Symmetric:
    """An evaluator: the mean of a network's logits and values over a position and its reflections.

    `most` is how many of the game's symmetries are used, which makes it as many times as slow. Most of the gain comes
    from the second one.

    >>> import treetop as tt
    >>> game = tt.load_game("connect_four")
    >>> network = Symmetric(Model.untrained(game, "tiny"))
    >>> result = tt.search(game, tt.puct(), evaluator=network, simulations=20, seed=1)
    >>> bool(abs(result.priors[0] - result.priors[6]) < 1e-6)
    True
    """

    def __init__(self, model: Model, most: int = 2) -> None:
        count = model.game.facts.symmetries
        if not count:
            raise ConfigError(f"{model.game.name} has no symmetries to average over: its class has no `transform`")
        self.model = model
        self._others = range(count - 1, max(0, count - most), -1)

    def evaluate(self, batch: Batch) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]:
        """Return the logits of all actions, and values on the game's own scale."""
        model, used = self.model, 1 + len(self._others)
        own, value = model.evaluate(batch)
        logits, values = own.copy(), value.copy()
        for symmetry in self._others:
            states, places = transformed(model.game, batch.states, np.full(len(batch), symmetry))
            players, observed = players_and_observations(model.game, states, engine=batch.engine)
            other, worth = model.run(observed)
            logits += np.take_along_axis(other, places.astype(np.int64), axis=1)
            values += model.scaled(worth, players)
        return np.asarray(logits / used, np.float32), values / used
