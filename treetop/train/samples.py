"""Positions of self-play with their targets."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.game.definition import Game
from treetop.search.states import legal_mask, observations, transformed

Floats = npt.NDArray[np.float32]
_MOST_SHARE = 1.001  # rounding


@dataclass(frozen=True)
class Samples:
    """Positions of finished games, in the order in which they were played: arrays with a row for each.

    >>> import numpy as np, treetop as tt
    >>> policies, values = np.ones((1, 9), np.float32) / 9, np.zeros((1, 1), np.float32)
    >>> len(Samples(tt.position("tic_tac_toe").record, policies, values, np.ones(1, np.float32)))
    1
    """

    states: npt.NDArray[Any]
    """Records of the game."""
    policies: Floats
    """The improved policy of the search: (positions, actions)."""
    values: Floats
    """What the players receive from here on, the player to move first: (positions, values)."""
    weights: Floats
    """How often each position is drawn, relative to others; 1 on average: (positions,)."""

    def __len__(self) -> int:
        return len(self.states)

    def rows(self, chosen: Any) -> Samples:
        """Return some of the positions."""
        return Samples(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def digest(self) -> str:
        """Return a digest of all numbers."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @staticmethod
    def joined(parts: Sequence[Samples]) -> Samples:
        """Return the positions of several sets, one after the other."""
        names = [field.name for field in fields(Samples)]
        return Samples(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def to_bytes(self) -> bytes:
        """Return all numbers, column by column."""
        return b"".join(np.ascontiguousarray(getattr(self, field.name)).tobytes() for field in fields(self))

    @staticmethod
    def from_bytes(content: bytes, count: int, game: Game, values: int) -> Samples:
        """Return `count` positions of a game; raise ValueError where the bytes hold something else."""
        shapes = {"policies": (game.facts.num_actions,), "values": (values,), "weights": ()}
        if len(content) != count * row_size(game, values):
            raise ValueError(f"{count} positions have {count * row_size(game, values):,} bytes, not {len(content):,}")
        end = count * game.dtype.itemsize
        arrays = {"states": np.frombuffer(content[:end], game.dtype).copy()}
        for name, shape in shapes.items():
            start, end = end, end + 4 * count * int(np.prod(shape, dtype=np.int64))
            arrays[name] = np.frombuffer(content[start:end], np.float32).reshape(count, *shape).copy()
            if not np.isfinite(arrays[name]).all():
                raise ValueError(f"the {name} are not finite")
        if (arrays["weights"] < 0).any():
            raise ValueError("some weights are negative")
        if ((arrays["policies"] < 0) | (arrays["policies"] > _MOST_SHARE)).any():
            raise ValueError("some policies are no shares")
        return Samples(**arrays)


def row_size(game: Game, values: int) -> int:
    """Return the bytes of a position with its targets."""
    return game.dtype.itemsize + 4 * (game.facts.num_actions + values + 1)


def examples(
    game: Game, samples: Samples, symmetries: npt.NDArray[np.int64]
) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Return the observations, policies and legal actions of positions, each by one of the game's symmetries."""
    states, policies = samples.states, samples.policies
    if symmetries.any():
        states, places = transformed(game, states, symmetries)
        policies = np.empty_like(policies)
        np.put_along_axis(policies, places.astype(np.int64), samples.policies, axis=1)
    return observations(game, states), policies, legal_mask(game, states)
