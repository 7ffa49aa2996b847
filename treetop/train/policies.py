"""Policies of many positions, stored as the actions that have a share: a game may have thousands of actions, of which a
position has some dozens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_MOST_SHARE = 1.001  # rounding


@dataclass(frozen=True)
class Policies:
    """Policies of some positions, one after the other: a ragged array.

    >>> policies = Policies.of(np.array([[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]))
    >>> policies.actions.tolist(), policies.dense(3).tolist()
    ([1, 2, 0], [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]])
    """

    starts: npt.NDArray[np.int64]
    """Where each position's actions begin in the other arrays, and where the last ones end: (positions + 1,)."""
    actions: npt.NDArray[np.int32]
    shares: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of actions of each position: (positions,)."""
        return np.diff(self.starts)

    @classmethod
    def of(cls, dense: npt.ArrayLike) -> Policies:
        """Return the policies in an array of shares: (positions, actions)."""
        shares = np.array(dense, np.float32)
        rows, actions = np.nonzero(shares)
        return cls.from_lengths(np.bincount(rows, minlength=len(shares)), actions, shares[rows, actions])

    @classmethod
    def from_lengths(cls, lengths: npt.ArrayLike, actions: npt.ArrayLike, shares: npt.ArrayLike) -> Policies:
        """Return policies whose positions have so many actions each."""
        starts = np.concatenate([[0], np.cumsum(np.array(lengths, np.int64))]).astype(np.int64)
        return cls(starts, np.array(actions, np.int32), np.array(shares, np.float32))

    @classmethod
    def joined(cls, parts: Sequence[Policies]) -> Policies:
        """Return the policies of several sets, one after the other."""
        lengths = np.concatenate([part.lengths for part in parts])
        actions, shares = (np.concatenate([getattr(part, name) for part in parts]) for name in ("actions", "shares"))
        return cls.from_lengths(lengths, actions, shares)

    def rows(self, chosen: Any) -> Policies:
        """Return the policies of some positions."""
        begins, lengths = self.starts[:-1][chosen], self.lengths[chosen]
        ends = np.cumsum(lengths)
        places = np.repeat(begins - ends + lengths, lengths) + np.arange(ends[-1] if len(ends) else 0)
        return Policies.from_lengths(lengths, self.actions[places], self.shares[places])

    def row_numbers(self) -> npt.NDArray[np.int64]:
        """Return the position that each action belongs to: (actions of all positions,)."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def dense(self, num_actions: int, places: npt.NDArray[Any] | None = None) -> npt.NDArray[np.float32]:
        """Return the share of each action: (positions, actions). `places` says where each action goes, by position."""
        found, rows = np.zeros((len(self), num_actions), np.float32), self.row_numbers()
        found[rows, self.actions if places is None else places[rows, self.actions]] = self.shares
        return found

    def refuse_wrong(self, num_actions: int) -> None:
        """Raise ValueError where actions are out of range, or shares are no shares."""
        if ((self.actions < 0) | (self.actions >= num_actions)).any():
            raise ValueError("some actions of the policies are out of range")
        if not np.isfinite(self.shares).all():
            raise ValueError("the policies are not finite")
        if ((self.shares < 0) | (self.shares > _MOST_SHARE)).any():
            raise ValueError("some policies are no shares")
