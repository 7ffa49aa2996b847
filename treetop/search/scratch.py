"""The buffers that the kernels work in."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.game.definition import Game
from treetop.types import NONE

_SLACK = 1024  # actions that a careless game may write past its promise before memory is harmed


class Scratch:
    """Buffers that the kernels work in, made once a search."""

    def __init__(self, game: Game) -> None:
        facts = game.facts
        self._game = game
        self._length = facts.max_length + 2
        self.path = np.zeros(self._length, np.int32)
        self.path_movers = np.zeros(self._length, np.int32)
        self.actions = np.zeros(facts.num_actions + _SLACK, np.int32)
        self.rewards = np.zeros(facts.players)
        self.tied = np.zeros(facts.num_actions, np.int32)
        self.answers = np.full(self._length, NONE, np.int32)
        self._size = 0
        self._allocate_batch(0)

    def prepare_batch(self, size: int) -> None:
        """Room for a batch of leaves."""
        if len(self.depths) < size:
            self._allocate_batch(size)
        self._size = size

    def _allocate_batch(self, size: int) -> None:
        self.paths = np.zeros((size, self._length), np.int32)
        self.movers = np.zeros((size, self._length), np.int32)
        self.depths = np.zeros(size, np.int32)
        self.leaves = np.zeros(size, self._game.dtype)

    def for_run(self) -> tuple[npt.NDArray[Any], ...]:
        """The buffers of the loop that evaluates by itself, in the order of its arguments."""
        return (self.path, self.path_movers, self.actions, self.rewards, self.tied, self.answers)

    def for_gather(self) -> tuple[npt.NDArray[Any], ...]:
        """The buffers of the loop that gathers leaves, in the order of its arguments."""
        size = self._size
        return (self.paths[:size], self.movers[:size], self.depths[:size], self.leaves[:size],
                self.actions, self.rewards, self.tied, self.answers)
