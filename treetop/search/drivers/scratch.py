"""The buffers that the kernels work in."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.game.definition import Game
from treetop.kernels.build import Build
from treetop.kernels.control import Work
from treetop.types import NONE

_SLACK = 1024  # actions that a careless game may write past its promise before memory is harmed
MOST_DRAWN = 2**16
"""Actions of real numbers that one view can hold."""
KEPT = ("history", "mask", "gumbel", "base", "schedule", "arms", "table")
"""Buffers whose content the next simulation reads."""


class Scratch:
    """Buffers that the kernels work in, made once a search. What its build does not use takes no room."""

    def __init__(self, game: Game, build: Build, table_size: int, *, views: bool = False) -> None:
        facts = game.facts
        players, actions, outcomes = facts.players, facts.num_actions, facts.num_outcomes or 0
        self._game = game
        self._length = facts.max_length + 2
        amaf, full, stochastic = int(build.amaf), int(build.full), int(build.stochastic)
        choices = self._length * (players if views else 1)  # where players choose at once, a step has several
        most_tied = max(actions, MOST_DRAWN if facts.action_size else 0)
        self.work = Work(
            path=np.zeros(choices, np.int32),
            movers=np.zeros(choices, np.int32),
            actions=np.zeros(facts.most_children + _SLACK, np.int32),
            rewards=np.zeros(players),
            tied=np.zeros(most_tied, np.int32),
            answers=np.full(self._length, NONE, np.int32),
            scores=np.zeros(most_tied + _SLACK),
            trail=np.zeros((2, self._length * full), np.int32),
            trial=np.zeros(players),
            played=np.zeros((players, (actions + 63) // 64 * amaf), np.uint64),
            lookup=np.zeros((players, actions * amaf), np.int32),
            lookup_block=np.full((3, players), NONE, np.int32),
            history=np.zeros((2, players, actions * full)),
            mask=np.zeros(actions * full, np.int32),
            gumbel=np.zeros(actions * full),
            base=np.zeros(actions * full, np.int32),
            schedule=np.zeros(0, np.int32),
            arms=np.zeros(actions * full, np.int32),
            probabilities=np.zeros((outcomes + _SLACK) * stochastic),
            steps=np.zeros((self._length * stochastic, players)),
            gain=np.zeros((2 * stochastic, players)),
            times=np.zeros(choices * views, np.int32),
            places=np.zeros(choices * views, np.int32),
            counts=np.zeros(choices * views, np.int32),
            starts=np.zeros(choices * views, np.int32),
            offered=np.zeros((actions + _SLACK) * views, np.int32),
            joint=np.zeros(players, np.int64),
            vector=np.zeros(facts.action_size or 0),
            views=np.zeros(players, np.int32),
            table=np.zeros(table_size, np.uint64),
        )
        self._size = 0
        self._allocate_batch(0)

    def replace(self, **buffers: npt.NDArray[Any]) -> None:
        """Put other arrays in the place of some buffers."""
        self.work = self.work._replace(**buffers)

    def forget_places(self) -> None:
        """Nodes have moved: what pointed to them is void."""
        self.work.lookup_block[:] = NONE
        self.work.answers[:] = NONE

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

    def for_gather(self) -> tuple[npt.NDArray[Any], ...]:
        """The buffers of the loop that gathers leaves, in the order of its arguments."""
        size = self._size
        return (self.paths[:size], self.movers[:size], self.depths[:size], self.leaves[:size])
