"""The buffers of the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.compiler.packs import Pack
from treetop.game.definition import Game
from treetop.kernels.build import Build
from treetop.kernels.control import Work
from treetop.kernels.domain import UNKNOWN
from treetop.types import NONE

_SLACK = 1024  # actions that a wrong game may write beyond num_actions without damage
MOST_DRAWN = 2**16
"""The most continuous actions of one information set."""
_PROVEN = 256  # shared nodes that a thread may prove in one call and list
KEPT = ("history", "mask", "gumbel", "logits", "base", "schedule", "arms", "table")
"""The buffers that the next simulation reads."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of the buffers."""

    players: int
    length: int
    """The nodes of the longest path."""
    actions: int
    children: int
    """The most children of a node: actions or outcomes of chance."""
    outcomes: int = 0
    action_size: int = 0
    """The numbers of a continuous action; 0 with discrete actions."""
    table: int = 1
    sets: bool = False
    """Whether the nodes are information sets, where several players may choose at one step."""
    rows: int = 0
    """The nodes of a Python problem, for which the buffers have rows."""
    step_rewards: bool = False
    """Whether a Python problem has immediate rewards."""

    @classmethod
    def of(cls, game: Game, table: int, *, sets: bool = False) -> Sizes:
        """Return the sizes for a game."""
        facts = game.facts
        return cls(
            facts.players, facts.max_length + 2, facts.num_actions, facts.most_children, facts.num_outcomes or 0,
            facts.action_size or 0, table, sets,
        )  # fmt: skip


def buffers(build: Build, sizes: Sizes) -> dict[str, npt.NDArray[Any]]:
    """Return all buffers of a build by name; unused ones are empty."""
    players, length, actions = sizes.players, sizes.length, sizes.actions
    amaf, full, stochastic, sets = int(build.amaf), int(build.full), int(build.stochastic), int(sizes.sets)
    choices = length * (players if sets else 1)
    tied = max(actions, MOST_DRAWN if sizes.action_size else 0)
    return {
        "path": np.zeros(choices, np.int32),
        "movers": np.zeros(choices, np.int32),
        "actions": np.zeros(sizes.children + _SLACK, np.int32),
        "rewards": np.zeros(players),
        "tied": np.zeros(tied, np.int32),
        "answers": np.full(length, NONE, np.int32),
        "scores": np.zeros(tied + _SLACK),
        "trail": np.zeros((2, length * full), np.int32),
        "trial": np.zeros(players),
        "played": np.zeros((players, (actions + 63) // 64 * amaf), np.uint64),
        "lookup": np.zeros((players, actions * amaf), np.int32),
        "lookup_block": np.full((3, players), NONE, np.int32),
        "history": np.zeros((2, players, actions * full)),
        "mask": np.zeros(actions * full, np.int32),
        "gumbel": np.zeros(actions * full),
        "logits": np.zeros(actions * full),
        "base": np.zeros(actions * full, np.int32),
        "schedule": np.zeros(0, np.int32),
        "arms": np.zeros(actions * full, np.int32),
        "probabilities": np.zeros((sizes.outcomes + _SLACK) * stochastic),
        "steps": np.zeros((length * stochastic, players)),
        "gain": np.zeros((2 * stochastic, players)),
        "times": np.zeros(choices * sets, np.int32),
        "places": np.zeros(choices * sets, np.int32),
        "counts": np.zeros(choices * sets, np.int32),
        "starts": np.zeros(choices * sets, np.int32),
        "offered": np.zeros((actions + _SLACK) * sets, np.int32),
        "joint": np.zeros(players, np.int64),
        "vector": np.zeros(sizes.action_size),
        "returned": np.zeros(players),
        "burst_counts": np.zeros((players, actions * amaf * int(build.shared)), np.int32),
        "burst_sums": np.zeros((players, actions * amaf * int(build.shared))),
        "proven": np.zeros((_PROVEN * int(build.shared), 2), np.int32),
        "sets": np.zeros(players, np.int32),
        "table": np.zeros(sizes.table, np.uint64),
        "node_movers": np.full(sizes.rows, UNKNOWN, np.int32),
        "node_counts": np.zeros(sizes.rows, np.int32),
        "node_ends": np.zeros((sizes.rows, players)),
        "node_steps": np.zeros((sizes.rows if sizes.step_rewards else 0, players)),
    }


class Scratch:
    """The buffers of one search, as the tuple that the kernels take."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self._pack = Pack(work)

    @property
    def pack(self) -> Pack:
        """The buffers as an argument of kernels."""
        return self._pack.refresh(self.work)

    @classmethod
    def of(cls, build: Build, sizes: Sizes) -> Scratch:
        """Return the buffers of a search."""
        return cls(Work(**buffers(build, sizes)))

    def replace(self, **buffers: npt.NDArray[Any]) -> None:
        """Replace some buffers by other arrays."""
        self.work = self.work._replace(**buffers)

    def clear_kept(self) -> None:
        """Clear the buffers that the next simulation would read, for a new search."""
        for name in KEPT:
            getattr(self.work, name)[...] = 0
        self.clear_indices()

    def clear_indices(self) -> None:
        """Clear the buffers that hold indices of nodes, after the nodes have moved."""
        self.work.lookup_block[:] = NONE
        self.work.answers[:] = NONE
