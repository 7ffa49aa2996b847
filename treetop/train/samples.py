"""Positions of self-play with their targets."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.game.definition import Game
from treetop.search.states import legal_mask, observations, transformed
from treetop.train.policies import Policies

Floats = npt.NDArray[np.float32]
_COUNT, _SHARE = 4, 8  # bytes of the number of a position's actions, and of each of them with its share


@dataclass(frozen=True)
class Samples:
    """Positions of finished games, in the order in which they were played: arrays with a row for each.

    >>> import numpy as np, treetop as tt
    >>> policies, values = Policies.of(np.ones((1, 9)) / 9), np.zeros((1, 1), np.float32)
    >>> len(Samples(tt.position("tic_tac_toe").record, policies, values, np.ones(1, np.float32)))
    1
    """

    states: npt.NDArray[Any]
    """Records of the game."""
    policies: Policies
    """The improved policies of the searches."""
    values: Floats
    """What the players receive from here on, the player to move first: (positions, values)."""
    weights: Floats
    """How often each position is drawn, relative to others; 1 on average: (positions,)."""

    def __len__(self) -> int:
        return len(self.states)

    def rows(self, chosen: Any) -> Samples:
        """Return some of the positions."""
        return Samples(self.states[chosen], self.policies.rows(chosen), self.values[chosen], self.weights[chosen])

    def digest(self) -> str:
        """Return a digest of all numbers."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @staticmethod
    def joined(parts: Sequence[Samples]) -> Samples:
        """Return the positions of several sets, one after the other."""
        states, values, weights = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("states", "values", "weights")
        )
        return Samples(states, Policies.joined([part.policies for part in parts]), values, weights)

    def to_bytes(self) -> bytes:
        """Return all numbers, column by column."""
        policies = self.policies
        columns = (
            self.states, self.values, self.weights, policies.lengths.astype(np.int32), policies.actions, policies.shares
        )  # fmt: skip
        return b"".join(np.ascontiguousarray(column).tobytes() for column in columns)

    @staticmethod
    def from_bytes(content: bytes, count: int, game: Game, values: int) -> Samples:
        """Return `count` positions of a game; raise ValueError where the bytes hold something else."""
        least = count * _least_row(game, values)
        if len(content) < least:
            raise ValueError(f"{count} positions have at least {least:,} bytes, not {len(content):,}")
        read = _Reader(content)
        states, worth = read.column(game.dtype, count), read.column(np.float32, count, values)
        weights, lengths = read.column(np.float32, count), read.column(np.int32, count)
        total = int(lengths.sum(dtype=np.int64))
        if (lengths < 0).any() or len(content) != least + _SHARE * total:
            raise ValueError(f"{count} positions with these policies have other than {len(content):,} bytes")
        policies = Policies.from_lengths(lengths, read.column(np.int32, total), read.column(np.float32, total))
        policies.refuse_wrong(game.facts.num_actions)
        for name, column in (("values", worth), ("weights", weights)):
            if not np.isfinite(column).all():
                raise ValueError(f"the {name} are not finite")
        if (weights < 0).any():
            raise ValueError("some weights are negative")
        return Samples(states, policies, worth, weights)


class _Reader:
    """Columns of numbers, one after the other."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def column(self, kind: Any, *shape: int) -> npt.NDArray[Any]:
        count = int(np.prod(shape, dtype=np.int64))
        found = np.frombuffer(self._content, kind, count, self._at).reshape(shape).copy()
        self._at += found.nbytes
        return found


def _least_row(game: Game, values: int) -> int:
    return game.dtype.itemsize + 4 * (values + 1) + _COUNT


def most_row(game: Game, values: int) -> int:
    """Return the most bytes that a position with its targets takes."""
    return _least_row(game, values) + _SHARE * game.facts.num_actions


def examples(
    game: Game, samples: Samples, symmetries: npt.NDArray[np.int64]
) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Return the observations, policies and legal actions of positions, each by one of the game's symmetries."""
    states, places = samples.states, None
    if symmetries.any():
        states, places = transformed(game, states, symmetries)
    policies = samples.policies.dense(game.facts.num_actions, places)
    return observations(game, states), policies, legal_mask(game, states)
