"""The statistics of the actions of a result, as arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from treetop.search.root_block import GivenRoot, Root
from treetop.types import FloatArray, IntArray


class ActionColumns:
    """What a result says of each action: arrays in the game's order, read from the root when they are asked for."""

    _root: Root | GivenRoot

    @property
    def numbers(self) -> IntArray:
        """The numbers of the legal actions, in the game's order, which all arrays follow.

        In a Python problem they are nodes.
        """
        return self._root.numbers

    @property
    def counts(self) -> IntArray:
        """Visits of each action."""
        return self._root.counts

    @property
    def means(self) -> FloatArray:
        """Mean value of each action for the player to move; NaN without visits."""
        return self._root.means

    @property
    def priors(self) -> FloatArray:
        """The prior of each action."""
        return self._root.priors

    @property
    def deviations(self) -> FloatArray:
        """Standard deviation of each action's returns; NaN where the search keeps no squares."""
        return self._root.deviations

    @property
    def lower(self) -> FloatArray | None:
        """With a solver: the proven least value of each action."""
        return self._root.lower

    @property
    def upper(self) -> FloatArray | None:
        """With a solver: the proven greatest value of each action."""
        return self._root.upper

    @property
    def distances(self) -> IntArray | None:
        """Moves to the end after each action that is proven."""
        return self._root.distances

    @property
    def base(self) -> IntArray:
        """Visits of each action at the start of the current schedule."""
        return self.counts - self.counts_since

    @property
    def gumbel(self) -> FloatArray | None:
        """The Gumbel number of each action, where the root has a Gumbel schedule."""
        return self._root.gumbel

    @property
    def strategies(self) -> FloatArray | None:
        """With regret matching: the summed share of each action."""
        return self._root.strategies

    @property
    def vectors(self) -> FloatArray | None:
        """With continuous actions: the vector of each."""
        return self._root.vectors

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        """Whether each action has failed, in a Python problem: its value is unknown, and it is not played."""
        return self._root.failed

    @property
    def unopened(self) -> npt.NDArray[np.bool_]:
        """Whether progressive widening has not opened each action yet."""
        return self._root.unopened

    @property
    def counts_since(self) -> IntArray:
        """Visits since the start of the root's current schedule; all visits without a schedule."""
        return self._root.counts_since
